"""What is told to who opens a session later: the same as to who was there."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from sidecar.core.errors import ModelFailed
from sidecar.core.parts import PartId, SessionId
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import (
    ContentChunk,
    EpochChanged,
    Event,
    Notice,
    PlanChanged,
    TextChunk,
    ToolChanged,
    TurnEnded,
)
from tests.fakes.scripted_model import Hold, call, says, started, stop, text
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World, prompt_of

BESIDE = EpochChanged | Notice | TurnEnded


async def replayed(desk: Desk, session: Session, after: str | None = None) -> list[Event]:
    shown: list[Event] = []

    async def emit(event: Event) -> None:
        shown.append(event)

    await desk.sessions.load(
        SessionId(session.id),
        desk.editor,  # type: ignore[arg-type]
        shown.append,
        replay=True,
        after=None if after is None else PartId(after),
        emit=emit,
    )
    return shown


def beside(events: list[Event]) -> list[Event]:
    return [replace(event, seq=0) for event in events if isinstance(event, BESIDE)]


def order(events: list[Event]) -> list[object]:
    """Name what is shown, each once, where it came first."""

    def names() -> Iterator[object]:
        for event in events:
            match event:
                case TextChunk(origin=o) | ContentChunk(origin=o) | ToolChanged(origin=o):
                    yield o.part_id
                case EpochChanged() | Notice() | TurnEnded():
                    yield str(replace(event, seq=0))
                case _:
                    pass

    return list(dict.fromkeys(names()))


async def test_what_came_beside_the_messages_is_told_again(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        worker = await desk.worker(policy="manual")
        session = worker.session
        await worker.turns(2, 3)
        done = await session.rewriting.compact("economic", None, dry_run=False)
        inside.notice(session, "warning", "Mind the gap.")
        await worker.turns(1, 2)
        await session.rewriting.undo(done["compactionId"])
        await session.set_option("model", "other")
        desk.script([started(), ModelFailed("no", kind="bad_request", retryable=False)])
        failed = await desk.ask(session, "break")
        assert failed.stop_reason == "error"
        told, at, seq = beside(desk.events), order(desk.events), desk.of(TurnEnded)[-1].seq
    async with world.daemon() as again:
        shown = await replayed(again, await again.sessions.get(session.id))
    kinds = [type(event) for event in told]
    assert kinds.count(TurnEnded) == 4
    assert kinds.count(EpochChanged) == 3
    assert Notice in kinds
    assert beside(shown) == told
    assert order(shown) == at
    results = [*worker.results, failed]
    for event, result in zip((e for e in told if isinstance(e, TurnEnded)), results, strict=True):
        assert (event.turn_id, event.message_id) == (result.turn_id, result.message_id)
        assert (event.usage, event.cost) == (result.usage, result.cost)
        assert event.error == result.error
    seqs = [getattr(event, "seq", None) or event.origin.seq for event in shown]  # type: ignore[union-attr]
    assert seqs == sorted(set(seqs))
    assert seqs[0] > seq


async def test_only_what_follows_a_part_is_told(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 1)
    ends = [n for n, event in enumerate(desk.events) if isinstance(event, TurnEnded)]
    words = [(n, e) for n, e in enumerate(desk.events) if isinstance(e, TextChunk)]
    last = [event.origin.part_id for n, event in words if n < ends[0]][-1]
    shown = await replayed(desk, worker.session, last)
    assert beside(shown) == beside(desk.events)
    after = [event.origin.part_id for n, event in words if n > ends[0]][-1]
    assert beside(await replayed(desk, worker.session, after)) == beside(desk.events)[1:]


async def test_what_went_with_messages_that_were_left_is_not_told(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 3)
    kept = beside(desk.events)
    await worker.turns(1, 2)
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    gone = worker.results[-1].message_id
    await worker.session.rollback.restore(Wish("conversation", before_message_id=gone))
    shown = beside(await replayed(desk, worker.session))
    assert shown[:2] == kept
    [restored] = shown[2:]
    assert isinstance(restored, EpochChanged)
    assert restored.cause == "restore"


async def test_what_goes_on_while_a_history_is_shown_is_told_once(desk: Desk) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([started(), *text("first"), hold, stop()])
    turn = asyncio.ensure_future(session.prompt(prompt_of("go")))
    async with asyncio.timeout(LIMIT):
        await hold.reached.wait()
    shown: list[Event] = []

    async def emit(event: Event) -> None:
        shown.append(event)
        if not turn.done():
            hold.released.set()
            await turn
            inside.notice(session, "info", "Over.")

    await desk.sessions.load(
        session.id,
        desk.editor,  # type: ignore[arg-type]
        shown.append,
        replay=True,
        after=None,
        emit=emit,
    )
    assert [type(event) for event in beside(shown)] == [TurnEnded, Notice]


async def test_a_notice_outlives_its_daemon_and_is_no_revision_for_a_plan(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        revision = session.opened().revision
        inside.notice(session, "info", "Read me.")
        assert session.opened().revision == revision
    async with world.daemon() as again:
        shown = beside(await replayed(again, await again.sessions.get(session.id)))
    assert shown == [Notice(session.id, 0, "info", "Read me.")]


async def test_the_plan_and_failed_calls_are_told_as_they_were(desk: Desk) -> None:
    session = await desk.open()
    items = [{"content": "Look", "status": "completed"}, {"content": "Act", "status": "pending"}]
    bad = call("c2", "todo", {"items": 3}, 1)
    desk.script(
        [started(), *call("c1", "todo", {"items": items}, 0), *bad, stop("tool_use")], says("ok")
    )
    await desk.ask(session)
    shown = await replayed(desk, session)
    [plan] = [event for event in shown if isinstance(event, PlanChanged)]
    assert plan.entries == (("Look", "completed"), ("Act", "pending"))
    assert [event.entries for event in desk.of(PlanChanged)] == [plan.entries]
    ends = {e.call_id: e.status for e in desk.of(ToolChanged)}
    assert {e.call_id: e.status for e in shown if isinstance(e, ToolChanged)} == ends
