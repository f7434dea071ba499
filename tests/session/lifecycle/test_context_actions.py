"""Rewriting the view: by policies and by hand, taken back, through restarts and failures."""

import json
from itertools import permutations
from typing import Any

import pytest

from sidecar.core.errors import (
    ModelFailed,
    NothingToDo,
    RevisionConflict,
    SessionOwned,
    StorageFailed,
)
from sidecar.core.parts import ToolPart
from sidecar.core.policies import policies
from sidecar.session.log.events import EpochChanged, MeterChanged, Retrying, SessionChanged
from tests.fakes.scripted_model import Hold, says, started, text
from tests.session.conftest import Desk, World, _refused
from tests.session.work import Worker

pytestmark = pytest.mark.long

SMALL = {"window": 48_000, "max_tokens": 4_000}
AUTOMATIC = sorted(policies().keys() - {"manual"})
TOO_LONG = ModelFailed("too long", kind="context_overflow", status=400)


async def body(worker: Worker, words: str = "") -> Any:
    """The next request as it would be sent."""
    blocks = ({"type": "text", "text": words},) if words else ()
    return (await worker.session.rewriting.preview(blocks)).body


def unmarked(request: Any) -> str:
    """A request without its cache markers."""
    return json.dumps(request).replace(', "cache_control": {"type": "ephemeral"}', "")


async def compact(worker: Worker, strategy: str | None = None, **given: Any) -> Any:
    given = {"expected_revision": None, "dry_run": False, **given}
    return await worker.session.rewriting.compact(strategy, **given)


async def undo(worker: Worker, done: Any) -> Any:
    return await worker.session.rewriting.undo(done["compactionId"])


async def test_a_policy_rewrites_before_a_request_and_says_so_once(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", **SMALL)
    await worker.turns(4, 12)
    changes = desk.of(EpochChanged)
    assert changes
    assert len({change.compaction_id for change in changes}) == len(changes)
    for change in changes:
        assert (change.status, change.cause) == ("completed", "budget")
        assert change.tokens_after < change.tokens_before
        at = desk.events.index(change)
        assert [type(e) for e in desk.events[at + 1 : at + 3]] == [SessionChanged, MeterChanged]
    used = [result.meter.used for result in worker.results]
    assert all(tokens < 44_000 for tokens in used), used
    assert all(sum(r.meter.regions.values()) == r.meter.used for r in worker.results)


@pytest.mark.parametrize("policy", AUTOMATIC)
async def test_undoing_gives_the_same_bytes(desk: Desk, policy: str) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    before = await body(worker)
    revision = worker.session.opened().revision
    planned = await compact(worker, policy, dry_run=True)
    if not planned["plan"]:
        assert "nothing worth leaving out" in planned["reason"]
        pytest.skip("this policy has nothing to do here")
    assert worker.session.opened().revision == revision
    assert await body(worker) == before
    done = await compact(worker, policy, expected_revision=revision)
    assert done["plan"] == planned["plan"]
    if not desk.model.summaries:
        assert {**done, "compactionId": ""} == {**planned, "compactionId": ""}
    meter = worker.session.meter()
    assert meter.used == sum(meter.regions.values()) == done["tokensAfter"] < done["tokensBefore"]
    assert await body(worker) != before
    undone = await undo(worker, done)
    assert undone.used == worker.session.meter().used
    assert unmarked(await body(worker)) == unmarked(before)
    assert [e.status for e in desk.of(EpochChanged)] == ["completed", "undone"]
    with pytest.raises(NothingToDo):
        await undo(worker, done)
    again = await compact(worker, policy)
    await worker.turns(1, 4)
    await undo(worker, again)
    assert unmarked(await body(worker)).startswith(unmarked(before)[:-400])
    await worker.turns(1, 4)


async def test_what_was_undone_is_not_done_again_at_once(desk: Desk) -> None:
    worker = await desk.worker(policy="economic")
    await worker.turns(3, 12)
    done = await compact(worker)
    await undo(worker, done)
    told = len(desk.of(EpochChanged))
    await worker.turns(1, 3)
    assert len(desk.of(EpochChanged)) == told


async def test_rewrites_can_be_undone_in_any_order(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    first = await compact(worker, "evict-fifo")
    await worker.turns(3)
    second = await compact(worker, "economic")
    await worker.turns(1, 3)
    await undo(worker, first)
    await worker.turns(1, 3)
    await undo(worker, second)
    await worker.turns(1, 3)
    await compact(worker, "economic")
    await worker.turns(1, 3)
    await compact(worker, "picoclaw")
    await worker.turns(1, 3)


async def test_whatever_the_order_of_undoing_the_whole_conversation_is_there_again(
    desk: Desk,
) -> None:
    found = set()
    for order in permutations(range(3)):
        worker = await desk.worker(policy="manual")
        await worker.turns(3, 7)
        before = unmarked(await body(worker))
        done = []
        for strategy in ("picoclaw", "opencode", "economic"):
            done.append(await compact(worker, strategy))
            await worker.turns(2, 6)
        for which in order:
            shown = await undo(worker, done[which])
        after = unmarked(await body(worker))
        history = before[before.index('"messages"') :].rpartition("<context>")[0]
        assert history in after
        assert all(f"file_{n}.py defines marker" in after for n in range(1, worker.done + 1))
        found.add((after, shown.used))
    assert len(found) == 1


async def test_a_restart_changes_nothing(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(4)
        done = await compact(worker, "economic")
        await worker.turns(1, 5)
        cache = desk.model.cache
        meter, request = worker.session.meter(), await body(worker)
    async with world.daemon() as desk:
        desk.model.cache = cache
        worker = Worker(desk, await desk.sessions.get(worker.session.id), worker.done)
        worker.session.audience.attach(desk.watch, desk.editor)
        assert await body(worker) == request
        again = worker.session.meter()
        assert (again.used, again.regions, again.cache) == (meter.used, meter.regions, meter.cache)
        await undo(worker, done)
        await worker.turns(1, 3)
        assert "file_1.py defines" in unmarked(await body(worker))


@pytest.mark.parametrize("off", ["autoCompact", "policy"])
async def test_nothing_happens_by_itself_when_it_is_switched_off(desk: Desk, off: str) -> None:
    worker = await desk.worker(policy="economic", **SMALL)
    await worker.session.set_option(off, "off" if off == "autoCompact" else "manual")
    result = None
    while result is None or result.error is None:
        result = await worker.turn(6)
    assert result.error["kind"] == "context_overflow"
    assert "not sent" in result.error["message"]
    assert not desk.of(EpochChanged)


@pytest.mark.parametrize("policy", ["economic", "temporal"])
async def test_a_prompt_that_is_too_long_is_rewritten_once(desk: Desk, policy: str) -> None:
    worker = await desk.worker(policy=policy)
    await worker.turns(2, 7)
    desk.script([TOO_LONG], says("fits"))
    assert (await desk.ask(worker.session, "more")).stop_reason == "end_turn"
    assert [change.cause for change in desk.of(EpochChanged)] == ["overflow"]
    assert [retry.kind for retry in desk.of(Retrying)] == ["context_overflow"]
    await worker.turns(1, 7)
    desk.script([TOO_LONG], [TOO_LONG])
    assert (await desk.ask(worker.session, "more")).error["kind"] == "context_overflow"
    assert len(desk.of(EpochChanged)) == 2


async def test_an_answer_that_began_is_not_asked_for_again(desk: Desk) -> None:
    worker = await desk.worker(policy="economic")
    await worker.turns(2, 7)
    desk.script([started(), *text("half an answer"), TOO_LONG])
    assert (await desk.ask(worker.session, "more")).stop_reason == "error"
    assert not desk.of(EpochChanged)


async def test_a_compaction_waits_for_the_answer_that_streams(desk: Desk) -> None:
    import asyncio

    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    hold = Hold()
    desk.script(worker.step(hold=hold), says("done"))
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        asked = group.create_task(desk.ask(worker.session, "go on"))
        await hold.reached.wait()
        done = group.create_task(compact(worker, "economic"))
        dry = await compact(worker, "economic", dry_run=True)
        assert not done.done()
        hold.released.set()
        await asked
    assert dry["tokensAfter"] < dry["tokensBefore"]
    assert done.result()["tokensAfter"] < done.result()["tokensBefore"]
    await worker.turns(1, 2)


async def test_a_preview_is_what_the_next_prompt_sends(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", **SMALL)
    rewritten = 0
    for number in range(14):
        words = f"Part {number}: look at the next files."
        told = len(desk.of(EpochChanged))
        expected = await body(worker, words)
        at = len(desk.model.requests)
        await worker.turn(3, words)
        assert json.dumps(desk.model.body(desk.model.requests[at])) == json.dumps(expected)
        rewritten += len(desk.of(EpochChanged)) > told
    assert rewritten


async def test_what_is_pinned_stays(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    calls = [p for m in desk.messages(worker.session) for p in m.parts if isinstance(p, ToolPart)]
    revision = worker.session.opened().revision
    assert await worker.session.rewriting.pin(calls[3].id, pinned=True) > revision
    again = await worker.session.rewriting.pin(calls[3].id, pinned=True)
    assert again == worker.session.opened().revision
    await compact(worker, "picoclaw")
    await compact(worker, "economic")
    shown = unmarked(await body(worker))
    assert "file_4.py defines marker" in shown
    assert "file_3.py defines marker_file_3\\ndef" not in shown


async def test_a_plan_fits_one_revision(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    with pytest.raises(RevisionConflict):
        await compact(worker, expected_revision=1)
    assert not desk.of(EpochChanged)


async def test_a_failed_rewrite_leaves_everything_as_it_was(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    before, meter = await body(worker), worker.session.meter()
    write = desk.store.write
    desk.store.write = _refused  # type: ignore[method-assign]
    with pytest.raises(StorageFailed):
        await compact(worker, "economic")
    desk.store.write = write  # type: ignore[method-assign]
    assert await body(worker) == before
    assert worker.session.meter().used == meter.used
    assert [e.status for e in desk.of(EpochChanged)] == ["failed"]
    await worker.turns(1, 2)
    done = await compact(worker, "economic")
    assert done["tokensAfter"] < done["tokensBefore"]
    await worker.turns(1, 2)


async def test_another_window_may_look_but_not_touch(world: World) -> None:
    async with world.daemon(name="one") as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(4)
        done = await compact(worker, "economic")
        await worker.turns(3)
        async with world.daemon(name="two") as other:
            reader = Worker(other, await other.sessions.get(worker.session.id))
            assert await body(reader) == await body(worker)
            dry = await compact(reader, "picoclaw", dry_run=True)
            assert dry["tokensAfter"] < dry["tokensBefore"]
            for refused in (
                compact(reader, "picoclaw"),
                undo(reader, done),
                reader.session.rewriting.pin("part", pinned=True),
            ):
                with pytest.raises(SessionOwned):
                    await refused
        assert await body(worker) == await body(worker)


async def test_the_meter_equals_what_was_sent(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", **SMALL)
    for _ in range(8):
        result = await worker.turn(5)
        usage = [r for m in desk.messages(worker.session) for r in m.parts if hasattr(r, "usage")]
        last = usage[-1].usage
        assert result.meter.used == last.prompt + last.output
        assert result.meter.accuracy == "exact"
