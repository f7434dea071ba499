"""Making room with a summary: how it is asked for, and what becomes of it when things go wrong."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sidecar.core.conversation.wishes import Preserve
from sidecar.core.errors import Cancelled, ModelFailed, SidecarError
from sidecar.core.parts import StepFinishPart
from sidecar.core.prompt.prompt import ModelRequest, flat
from sidecar.session.log.events import EpochChanged, Notice, Progressed
from sidecar.store.format.values import Record
from tests.core.prompts import last_text
from tests.fakes.scripted_model import SUMMARY, Hold, says, started, stop, text
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World
from tests.session.work import Worker, shown

SMALL = {"window": 48_000, "max_tokens": 4_000}
DOWN = ModelFailed("the server is down", kind="overloaded", status=529, retryable=True)


async def grown(desk: Desk, turns: int = 4, **given: Any) -> Worker:
    """A session that has something to leave out, with nothing done by itself."""
    worker = await desk.worker(policy="manual", **given)
    await worker.turns(turns)
    return worker


async def compact(worker: Worker, strategy: str | None = "opencode", **given: Any) -> Any:
    given = {"dry_run": False, **given}
    async with asyncio.timeout(LIMIT):
        return await worker.session.rewriting.compact(strategy, None, **given)


def rewrites(worker: Worker) -> list[Record]:
    return inside.records(worker.session, "rewrite")


async def test_a_summary_extends_the_warm_prefix(desk: Desk) -> None:
    worker = await grown(desk)
    last = desk.model.requests[-1].prompt
    done = await compact(worker, instructions="Mind the tests.")
    [asked] = desk.model.summaries
    assert (asked.purpose, asked.model) == ("summary", "scripted")
    blocks, before = flat(asked.prompt), flat(last)
    assert asked.prompt.tools == last.tools
    assert blocks[: len(before)] == before
    assert "Mind the tests." in blocks[-1].content.text  # type: ignore[union-attr]
    # Nobody reads again what would be written behind the last request.
    assert set(asked.prompt.breakpoints) <= set(last.breakpoints)
    assert "the server drops the fourth" in done["summary"]
    assert "the server drops the fourth" in await shown(worker)
    assert len(desk.model.requests) == len(last.messages) or desk.model.requests[-1].prompt is last


async def test_it_is_billed_and_logged(desk: Desk) -> None:
    worker = await grown(desk)
    before = worker.session.meter().cost.session
    done = await compact(worker)
    [record] = rewrites(worker)
    summary: Any = record.body["summary"]
    assert (summary["by"], summary["calls"], summary["problem"]) == ("model", 1, "")
    assert summary["ways"]["asked"] == "extension scripted"
    after = worker.session.meter().cost.session
    assert before is not None
    assert after is not None
    assert Decimal(after) - Decimal(before) == Decimal(summary["cost"]) > 0
    assert Decimal(done["price"]) >= Decimal(summary["cost"])


async def test_a_summary_in_a_turn_counts_for_the_turn(desk: Desk) -> None:
    worker = await desk.worker(policy="opencode", **SMALL)
    while not desk.model.summaries:
        await worker.turns(1, 5)
    result = worker.results[-1]
    assert result.usage.requests == 6 + len(desk.model.summaries)
    assert result.meter.cost.last_turn == result.cost


@pytest.mark.parametrize("answer", ["down", "nothing", "refusal"])
async def test_without_an_answer_the_logs_own_words_do(desk: Desk, answer: str) -> None:
    answers: dict[str, Any] = {"down": [DOWN], "nothing": says(""), "refusal": [started(), stop()]}
    desk.model.written.append(answers[answer])
    worker = await grown(desk)
    done = await compact(worker)
    [record] = rewrites(worker)
    summary: Any = record.body["summary"]
    assert (summary["by"], summary["calls"]) == ("extract", 1)
    assert summary["problem"]
    assert done["tokensAfter"] < done["tokensBefore"]
    assert done["compactionId"] in await shown(worker)
    await worker.turns(1, 2)


async def test_a_cheaper_model_is_asked_where_that_costs_less(world: World) -> None:
    world.config = replace(world.config, summary_model="claude-haiku-4-5")
    async with world.daemon() as desk:
        worker = await grown(desk)
        world.time += 4_000_000
        await compact(worker)
        [asked] = desk.model.summaries
        assert asked.model == "claude-haiku-4-5"
        assert not asked.prompt.tools
        [record] = rewrites(worker)
        prices: Any = record.body["summary"]["ways"]  # type: ignore[index, call-overload]
        fresh = Decimal(prices["fresh claude-haiku-4-5"])
        assert fresh < Decimal(prices["extension scripted"])


async def test_a_dry_run_asks_only_when_told_to(desk: Desk) -> None:
    worker = await grown(desk)
    revision, before = worker.session.opened().revision, await shown(worker)
    planned = await compact(worker, dry_run=True)
    assert not desk.model.summaries
    assert "fourth" not in planned["summary"]
    full = await compact(worker, dry_run=True, summary=True)
    assert "the server drops the fourth" in full["summary"]
    assert "compactionId" not in full
    assert worker.session.opened().revision == revision
    assert await shown(worker) == before
    assert not rewrites(worker)


async def held(desk: Desk, worker: Worker, then: Callable[[], Any]) -> Any:
    """Compact, do something while the model writes, and give what came of both."""
    hold = Hold()
    desk.model.written.append([started(), hold, *text(SUMMARY), stop()])
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        compacting = group.create_task(_caught(compact(worker)))
        await hold.reached.wait()
        other = group.create_task(_caught(then()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        hold.released.set()
        return await compacting, await other


async def _caught(doing: Any) -> Any:
    try:
        return await doing
    except (SidecarError, AssertionError) as error:
        return error


async def test_a_prompt_that_comes_meanwhile_is_not_lost(desk: Desk) -> None:
    worker = await grown(desk)
    desk.script(worker.step(), says("Fine."))
    done, result = await held(desk, worker, lambda: desk.ask(worker.session, "And this one?"))
    assert result.stop_reason == "end_turn"
    assert done["compactionId"] == "cmp_1"
    sent = json.dumps(desk.model.body(desk.model.requests[-1]))
    assert "And this one?" in sent
    assert "the server drops the fourth" in sent


async def test_a_pin_that_comes_meanwhile_holds(desk: Desk) -> None:
    worker = await grown(desk)
    call = next(
        p for m in desk.messages(worker.session) for p in m.parts if p.id and hasattr(p, "call_id")
    )
    pinned = worker.session.rewriting.pin
    done, _ = await held(desk, worker, lambda: pinned(call.id, pinned=True))
    assert done["compactionId"]
    assert "defines marker_file_1\\n" in json.dumps(
        (await worker.session.rewriting.preview(())).body
    )


async def test_what_is_cancelled_changes_nothing(desk: Desk) -> None:
    worker = await grown(desk)
    before, revision = await shown(worker), worker.session.opened().revision

    async def cancel() -> None:
        [begun] = [e for e in desk.of(Progressed) if e.kind == "begin"]
        assert worker.session.rewriting.works.cancel(begun.token)

    failed, _ = await held(desk, worker, cancel)
    assert isinstance(failed, Cancelled)
    assert await shown(worker) == before
    assert worker.session.opened().revision == revision
    assert [e.kind for e in desk.of(Progressed)] == ["begin", "report", "end"]
    assert not desk.of(EpochChanged)
    await worker.turns(1, 2)


async def test_a_turn_goes_on_when_its_compaction_is_cancelled(desk: Desk) -> None:
    worker = await desk.worker(policy="opencode", **SMALL)
    hold = Hold()
    desk.model.written.append([started(), hold, *text(SUMMARY), stop()])

    steps: list[int] = []

    async def cancel() -> None:
        await hold.reached.wait()
        steps.append(len(desk.model.requests))
        token = desk.of(Progressed)[-1].token
        assert worker.session.rewriting.works.cancel(token)

    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        cancelling = group.create_task(cancel())
        while not cancelling.done():
            await worker.turns(1, 5)
    assert worker.results[-1].stop_reason == "end_turn"
    assert all(record.body["steps"] > steps[0] for record in rewrites(worker))  # type: ignore[operator]


async def test_what_cannot_be_made_smaller_is_said_once(desk: Desk) -> None:
    worker = await desk.worker(policy="opencode", **SMALL)
    await worker.turns(2, 5)
    for message in desk.messages(worker.session):
        for part in message.parts:
            if hasattr(part, "call_id"):
                await worker.session.rewriting.pin(part.id, pinned=True)
    ended = "end_turn"
    while ended == "end_turn":
        result = await worker.turn(2)
        ended = result.stop_reason
        for part in (p for m in desk.messages(worker.session) for p in m.parts):
            if hasattr(part, "call_id"):
                await worker.session.rewriting.pin(part.id, pinned=True)
    told = [e for e in desk.of(Notice) if "cannot be made smaller" in e.text]
    assert len(told) == 1
    assert len(desk.model.summaries) <= len(rewrites(worker))
    assert "not sent" in result.error["message"]
    assert "unpin" in result.error["message"]
    refused = [r.body for r in inside.records(worker.session, "refused")]
    assert refused
    for body in refused:
        assert body["reasons"]
        assert 0 < body["used"] <= body["window"]


async def test_close_to_the_limit_nothing_is_in_vain_before_it_is_tried(desk: Desk) -> None:
    """The default policy rewrites at the limit here; steps that end just before it are no rung."""
    worker = await desk.worker(policy="economic", system="Work. " * 8_000, **SMALL)
    limit = 44_000
    while not rewrites(worker):
        await worker.turns(1, 16)
    parts = (part for message in desk.messages(worker.session) for part in message.parts)
    sizes = [part.usage.prompt for part in parts if isinstance(part, StepFinishPart)]
    assert [size for size in sizes if 0.95 * limit <= size <= limit]
    assert max(sizes) <= limit
    assert not [e for e in desk.of(Notice) if "cannot be made smaller" in e.text]


async def test_close_to_the_limit_what_may_wait_is_no_failure(world: World) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="economic", system="Work. " * 8_000, **SMALL)
        while worker.session.meter().used < 0.95 * 44_000:
            await worker.turns(1, 1)
            for part in (p for m in desk.messages(worker.session) for p in m.parts):
                if hasattr(part, "call_id"):
                    await worker.session.rewriting.pin(part.id, pinned=True)
        # The cache is cold, so that a rewrite would be free, and nothing may go.
        await world.let_pass(360_000)
        await worker.turns(1, 0)
        assert worker.session.meter().used < 44_000
        assert not rewrites(worker)
        assert not [e for e in desk.of(Notice) if "cannot be made smaller" in e.text]


async def test_a_turn_stops_after_a_rewrite_where_that_is_wanted(desk: Desk) -> None:
    worker = await desk.worker(policy="opencode", **SMALL)
    await worker.session.set_option("autoContinue", "off")
    while not desk.of(EpochChanged):
        await worker.turns(1, 5)
    assert any("Say how to go on" in e.text for e in desk.of(Notice))
    desk.model.responses.clear()
    await worker.turns(1, 1)


async def test_nobody_waits_for_what_is_done_while_the_user_is_away(world: World) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="opencode", window=60_000, max_tokens=4_000)
        while worker.session.meter().turns_until_compaction != 1 or len(worker.results) < 3:
            await worker.turns(1, 3)
        assert not desk.model.summaries
        await world.let_pass(6_000)
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        [change] = desk.of(EpochChanged)
        assert (change.cause, change.status) == ("idle", "completed")
        asked = len(desk.model.summaries)
        await worker.turns(1, 3)
        assert len(desk.model.summaries) == asked


async def test_a_summary_that_is_longer_than_was_asked_for_is_not_paid_for_in_vain(
    desk: Desk,
) -> None:
    code = "".join(f"def function_{n}(a): return other_{n}(a)\n" for n in range(20))
    desk.editor.tools["look"] = lambda given: f"# {given['path']}\n{code}"
    line = "- The limit of server number {} stays at three, because the fourth is dropped.\n"
    long = "## Decisions\n" + "".join(line.format(n) for n in range(100))
    desk.model.written.extend(says(long) for _ in range(20))
    given = {"window": 16_000, "max_tokens": 4_000, "system": "Work hard. " * 200}
    worker = await desk.worker(policy="claude-code", **given)
    await worker.turns(12, 2)
    asked: list[Any] = [record.body["summary"] for record in rewrites(worker)]
    assert len(desk.model.summaries) == sum(one["calls"] for one in asked) >= 3


async def test_a_turn_goes_on_when_something_was_pinned_before_its_compaction_was_cancelled(
    desk: Desk,
) -> None:
    worker = await desk.worker(policy="opencode", **SMALL)
    await worker.turns(2, 4)
    hold = Hold()
    desk.model.written.append([started(), hold, *text(SUMMARY), stop()])

    async def pin_and_cancel() -> None:
        await hold.reached.wait()
        first = desk.messages(worker.session)[1].parts[-1]
        await worker.session.rewriting.pin(first.id, pinned=True)
        assert worker.session.rewriting.works.cancel(desk.of(Progressed)[-1].token)

    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        cancelling = group.create_task(pin_and_cancel())
        # So much is pasted that something must go, whether anybody waits for a summary or not.
        result = await worker.turn(1, "Mind this. " * 9_000)
        await cancelling
    assert result.stop_reason == "end_turn", result.error
    assert "summary" not in rewrites(worker)[0].body


async def test_how_often_a_model_was_asked_is_counted(desk: Desk) -> None:
    worker = await grown(desk)
    counts = inside.environment(worker.session).counts
    assert counts.as_json() == {"rewrites": 0, "summaryCalls": 0}
    await compact(worker, dry_run=True, summary=True)
    assert counts.as_json() == {"rewrites": 0, "summaryCalls": 1}
    await compact(worker)
    assert counts.as_json() == {"rewrites": 1, "summaryCalls": 2}
    await worker.turns(2)
    desk.model.written.append([DOWN])
    await compact(worker)
    assert counts.as_json() == {"rewrites": 2, "summaryCalls": 3}


async def test_a_summary_is_the_last_one_brought_up_to_date_for_its_agent(world: World) -> None:
    kept = {"reviewer": Preserve(focus="what was found wrong", texts=("marker_file_2",))}
    world.config = replace(world.config, preserve=kept)
    async with world.daemon() as desk:
        for agent in ("reviewer", "builder"):
            desk.model.summaries.clear()
            worker = await grown(desk, agent=agent)
            await compact(worker)
            await worker.turns(3)
            await compact(worker)
            first, second = (asked_for(request) for request in desk.model.summaries)
            assert "<previous-summary>" not in first
            _, _, previous = second.partition("<previous-summary>")
            assert previous.index("the server drops the fourth") < previous.index("</previous")
            mine = agent == "reviewer"
            assert ("Dwell on this: what was found wrong" in first) is mine
            assert ("- marker_file_2" in second) is mine
            assert ("file_2.py defines marker_file_2" in await shown(worker)) is mine


def asked_for(request: ModelRequest) -> str:
    return last_text(request.prompt)


async def test_no_model_is_asked_where_that_is_off(world: World) -> None:
    world.config = replace(world.config, summaries=False)
    async with world.daemon() as desk:
        worker = await grown(desk)
        done = await compact(worker)
        assert desk.model.summaries == []
        [record] = rewrites(worker)
        summary: Any = record.body["summary"]
        assert (summary["by"], summary["calls"], summary["cost"]) == ("extract", 0, "0")
        assert "put together from its own sentences" in done["summary"]
        await worker.turns(1, 2)
