"""What sessions let be seen of themselves: numbers of what is durable, never what was said."""

import asyncio
from typing import Any

import pytest

from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.errors import ModelFailed, StorageFailed
from sidecar.core.parts import MessageId
from sidecar.core.prompt.observation import (
    ModelAsked,
    PlanMade,
    RestoreDone,
    Retried,
    SessionClosed,
    SnapshotTaken,
    ToolDone,
    TurnBegun,
    TurnDone,
    ViewRewritten,
)
from sidecar.session.interface import Wish
from sidecar.session.meter import observations
from sidecar.store.format.log_records import StepRecord
from tests.fakes.scripted_model import Hold, calls, says, shell, started, text, write
from tests.session.conftest import LIMIT, Desk, World


def seen(world: World, kind: type) -> list[Any]:
    return [one for one in world.observed if isinstance(one, kind)]


async def test_a_turn_its_requests_and_its_calls_are_seen(desk: Desk, world: World) -> None:
    session = await desk.open()
    desk.script(calls(shell("printf secret_words")), says("done"))
    await desk.ask(session)
    [begun], [ended] = seen(world, TurnBegun), seen(world, TurnDone)
    assert (begun.turn_id, ended.stop) == (ended.turn_id, "end_turn")
    assert ended.meter.used > 0
    first, second = seen(world, ModelAsked)
    assert [one.stop for one in (first, second)] == ["tool_use", "end_turn"]
    assert first.purpose == "turn"
    assert first.model == "scripted"
    assert first.usage.prompt == 100
    assert first.at >= first.started
    assert first.cost == first.uncached == pytest.approx((100 * 3 + 10 * 15) / 1e6)
    [tool] = seen(world, ToolDone)
    assert (tool.tool, tool.failure, tool.left_out) == ("shell", "", 0)
    assert tool.turn_id == begun.turn_id
    assert "secret_words" not in repr(world.observed)


async def test_what_a_tool_printed_too_much_is_counted(desk: Desk, world: World) -> None:
    session = await desk.open()
    desk.script(calls(shell("head -c 300000 /dev/zero | tr '\\0' x")), says("done"))
    await desk.ask(session)
    [tool] = seen(world, ToolDone)
    assert 200_000 < tool.left_out < 300_000


async def test_a_denied_call_says_so(desk: Desk, world: World) -> None:
    session = await desk.open()
    desk.editor.permission = "reject_once"
    desk.script(calls(shell("true")))
    await desk.ask(session)
    assert [one.failure for one in seen(world, ToolDone)] == ["denied"]


async def test_what_broke_and_was_tried_again_is_a_retry(desk: Desk, world: World) -> None:
    session = await desk.open()
    again = AttemptFailed(1, 3, 0, "busy", "overloaded", 529)
    desk.script([started(), *text("I beg"), again, *says("done")])
    await desk.ask(session)
    assert [one.error for one in seen(world, Retried)] == ["overloaded"]
    assert len(seen(world, ModelAsked)) == 1


async def test_a_failed_request_is_seen_with_its_kind(desk: Desk, world: World) -> None:
    session = await desk.open()
    desk.script([ModelFailed("too long", kind="context_overflow", status=400)])
    await desk.ask(session)
    assert [one.error for one in seen(world, ModelAsked)] == ["context_overflow"]
    assert seen(world, TurnDone)[0].stop == "error"


@pytest.mark.moves_prefix("a compaction is what is looked at")
async def test_a_compaction_is_seen_with_its_figures(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    async with asyncio.timeout(LIMIT):
        await worker.session.rewriting.compact("opencode", None, dry_run=False)
    [rewrite] = seen(world, ViewRewritten)
    assert (rewrite.cause, rewrite.opens) == ("user", True)
    assert rewrite.before > rewrite.after
    assert rewrite.took > 0
    assert rewrite.price is not None
    assert sum(count for _, count in rewrite.shown) > 10
    assert rewrite.compression > 2
    assert 0 <= rewrite.fidelity < 1
    [asked] = [one for one in seen(world, ModelAsked) if one.purpose == "summary"]
    assert asked.cost > 0
    assert asked.at >= asked.started > 1_600_000_000_000


async def test_reads_of_the_cache_and_what_they_saved_are_seen(desk: Desk, world: World) -> None:
    worker = await desk.worker()
    await worker.turns(1)
    later = seen(world, ModelAsked)[3:]
    assert all(one.foreseen > 0 and one.break_ is None for one in later)
    assert all(one.cost < one.uncached for one in later)


async def test_a_broken_prefix_names_its_segment(desk: Desk, world: World) -> None:
    worker = await desk.worker()
    await worker.turns(1)
    world.time += 6 * 60_000
    await worker.turns(1, 1)
    breaks = [one.break_ for one in seen(world, ModelAsked) if one.break_ is not None]
    assert breaks
    assert breaks[0][0] == "expired"


@pytest.mark.parametrize(
    ("segment", "kind"),
    [
        ("tools", "tools"),
        ("system block 0", "system block"),
        ("message 12, block 3 (result of bash)", "result of bash"),
        ("message 0, block 36 (ledger text)", "ledger text"),
        ("", ""),
    ],
)
def test_a_break_names_a_kind_and_no_place(segment: str, kind: str) -> None:
    step = StepRecord(message_id=MessageId("m"), miss="changed", segment=segment)
    assert observations.break_of(step) == ("changed", kind)


async def test_plans_are_timed(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="gemini", window=60_000, max_tokens=4_000)
    await worker.turns(6, 4)
    plans, rewrites = seen(world, PlanMade), seen(world, ViewRewritten)
    assert len(plans) >= len(rewrites) > 0
    assert all(one.policy == "gemini" and one.seconds > 0 for one in plans)


async def test_snapshots_and_restores_are_timed(world: World) -> None:
    world.follows = True
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(calls(write("made.txt", "x\n")), says("done"))
        result = await desk.ask(session)
        taken = seen(world, SnapshotTaken)
        assert taken
        assert all(one.seconds > 0 for one in taken)
        await session.rollback.restore(Wish("both", before_message_id=result.message_id))
        [done] = seen(world, RestoreDone)
        assert done.seconds > 0


async def test_what_could_not_be_written_is_not_seen(desk: Desk, world: World) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([started(), hold, *text("done"), *says("done")[-1:]])
    asking = asyncio.ensure_future(desk.ask(session))
    await hold.reached.wait()

    def refuse(*_: object, **__: object) -> "asyncio.Future[None]":
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        failed.set_exception(StorageFailed("no space", kind="io"))
        return failed

    desk.store.write = refuse  # type: ignore[method-assign]
    hold.released.set()
    assert (await asking).stop_reason == "error"
    del desk.store.write
    assert seen(world, ModelAsked) == []


async def test_a_session_that_is_closed_is_told(desk: Desk, world: World) -> None:
    session = await desk.open()
    await desk.sessions.close(session.id)
    assert seen(world, SessionClosed) == [SessionClosed(session.id)]
