"""A history that is told in slices is the one that the whole log tells.

Sessions of all kinds are opened by a window and told from slices of a few rows; then all of their
log is read and told at once. `SIDECAR_SEEDS=40 pytest tests/session/log/test_log_slices.py` goes
on more walks.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from msgspec import structs

from sidecar.config import Config
from sidecar.core.errors import UnknownSession
from sidecar.core.parts import Message, MessageId, PartId, SessionId, TurnId
from sidecar.session.history.log_updates import BREATH
from sidecar.session.interface import Wish
from sidecar.session.lifecycle import log_window
from sidecar.session.lifecycle.assembly import replay_of
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.channel import give_notice
from sidecar.session.log.events import Event, Notice, TurnEnded
from sidecar.session.log.log_slices import InMemory, InSlices, source_of
from sidecar.session.state import State
from sidecar.session.transfer.bundle_import import ImportSource, import_session
from sidecar.store.content import slices
from sidecar.store.format.log_records import StepRecord, TurnEndedRecord, TurnStartedRecord
from sidecar.store.format.values import Record
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.scripted_model import Hold, says, started, stop, text
from tests.session import inside, whole
from tests.session.conftest import LIMIT, Desk, World, prompt_of
from tests.session.lifecycle.test_log_window import SEEDS, Walk, copied, long_work
from tests.session.work import Worker
from tests.store.on_disk import opened_beside

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold sessions that are as small as those of tests, and read them by a few rows."""
    monkeypatch.setattr(log_window, "LEAST", 3)
    monkeypatch.setattr(log_window, "SPACING", 6)
    monkeypatch.setattr(slices, "MESSAGES", 3)
    monkeypatch.setattr(slices, "RECORDS", 5)


async def replay(
    state: State, after: PartId | None, emit: Callable[[Event], Awaitable[None]]
) -> Callable[[], Iterator[Event]]:
    return await replay_of(state).tell(after, emit)


async def told(
    how: Any,
    state: State,
    after: PartId | None = None,
    act: Callable[[int], Awaitable[None]] | None = None,
) -> list[Event]:
    """Have a history told; gives the updates but for the numbers that rise each time.

    `act` is called after each update but the last ones, with how many there were.
    """
    shown: list[Event] = []

    async def emit(event: Event) -> None:
        shown.append(event)
        if act is not None:
            await act(len(shown))

    rest = await how(state, after, emit)
    return [_without_number(event) for event in (*shown, *rest())]


def _without_number(event: Any) -> Any:
    if hasattr(event, "origin"):
        return replace(event, origin=replace(event.origin, seq=0))
    return replace(event, seq=0)


async def compare(world: World, session_id: str, dice: random.Random | None = None) -> bool:
    """Tell a session both ways; says whether there were slices to be read."""
    async with copied(world, "copy", folds=True).daemon() as desk:
        state = inside.state(await desk.sessions.get(SessionId(session_id)))
        windowed = not state.log.is_whole
        sliced = await told(replay, state)
        parts = [e.origin.part_id for e in sliced if hasattr(e, "origin")]
        chosen = (dice or random.Random(0)).sample(parts, min(4, len(parts)))
        asked = [PartId("part_unknown"), *chosen, *parts[-9::4]]
        after = [await told(replay, state, part) for part in asked]
        assert state.log.is_whole != windowed
        await state.log.whole()
        for how in (whole.replay, replay):
            assert sliced == await told(how, state)
            assert after == [await told(how, state, part) for part in asked]
    return windowed


class Wanderer(Walk):
    """Walks as others do, and also steers, stops and meets errors."""

    @property
    def acts(self) -> Any:
        return [*super().acts, self.meanwhile, self.overflow]


@pytest.mark.moves_prefix("what a fork begins with was sent by another session")
@pytest.mark.parametrize("seed", SEEDS[1:])
async def test_slices_tell_what_the_whole_log_tells(world: World, seed: int) -> None:
    walk = Wanderer(world, random.Random(seed))
    await walk.go(lambda kept: compare(world, kept.session.id, walk.dice))


async def moved_about(desk: Desk) -> Worker:
    """A session that went back and forth, had a rewrite undone, and whose clock was set back."""
    worker = await long_work(desk)
    session = worker.session
    typed = [m.id for m in inside.conversation(session) if m.role == "user"]
    await session.rollback.restore(Wish("conversation", None, typed[-2]))
    await session.rollback.redo(Wish("conversation", None))
    await session.rollback.restore(Wish("conversation", None, typed[-3]))
    await worker.turns(2, steps=1)
    await session.rewriting.undo(None)
    desk.world.time -= 3_600_000
    await worker.turns(2, steps=1)
    inside.notice(session, "info", "Mind the gap.")
    desk.world.time += 900_000
    await worker.turns(2, steps=1)
    await session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(9, steps=1)
    return worker


@pytest.mark.moves_prefix("a clock that is set back makes a cache of it")
async def test_what_was_left_behind_and_undone_is_told_as_it_stands(world: World) -> None:
    async with world.daemon() as desk:
        worker = await moved_about(desk)
        assert inside.log(worker.session).left
        assert await compare(world, worker.session.id)


async def test_what_others_recorded_is_told(world: World) -> None:
    lines = [line for number in range(20) for line in _recorded(number)]
    async with world.daemon() as desk:
        desk.model.cache = CacheSimulator(lambda: world.time / 1000)
        source = ImportSource(content="".join(json.dumps(line) + "\n" for line in lines))
        environment = await desk.sessions.shared.ready()
        made = await import_session(environment, source, str(desk.workspace), None)
        session = await desk.sessions.get(made.session_id)
        session.audience.attach(desk.watch, desk.editor)
        for number in range(20):
            if number == 6:
                await session.rewriting.compact("economic", None, dry_run=False)
            desk.script(says(f"Answer {number}."))
            await desk.ask(session, f"Question {number}?")
        assert await compare(world, session.id)


def _recorded(number: int) -> Iterator[dict[str, Any]]:
    called = {"type": "tool_call", "id": f"c{number}", "name": "look", "input": {"n": number}}
    result = {"type": "tool_result", "id": f"c{number}", "output": f"line {number}\n" * 1000}
    yield {"role": "user", "origin": "human", "parts": [_text(f"Look {number}.")]}
    yield {"role": "assistant", "origin": "model", "parts": [called]}
    yield {"role": "tool", "origin": "model", "parts": [result]}
    yield {"role": "assistant", "origin": "model", "parts": [_text(f"Seen {number}.")]}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@dataclass(frozen=True)
class Long:
    """A long session that was left, and its world."""

    world: World
    session_id: SessionId
    messages: tuple[Message, ...]
    records: tuple[Record, ...]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Long:
    folder = tmp_path_factory.mktemp("long")
    (workspace := folder / "workspace").mkdir()
    config = Config(model="scripted", workspace_trusted=True, data_dir=folder / "data")
    world = World(folder / "data", workspace, config=config)

    async def work() -> Long:
        async with world.daemon() as desk:
            session = (await long_work(desk)).session
            log = inside.log(session)
        return Long(world, session.id, log.messages, tuple(log.records))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_window, "LEAST", 3)
        patch.setattr(log_window, "SPACING", 6)
        return asyncio.run(work())


@asynccontextmanager
async def reopened(long: Long) -> AsyncIterator[tuple[Desk, Session]]:
    """The long session, opened again by a window."""
    async with copied(long.world, "again", folds=True).daemon() as desk:
        session = await desk.sessions.get(long.session_id)
        assert not inside.log(session).is_whole
        session.audience.attach(desk.watch, desk.editor)
        yield desk, session


async def test_what_goes_on_meanwhile_is_told_behind_it(long: Long) -> None:
    async with reopened(long) as (desk, session):
        state, hold = inside.state(session), Hold()
        desk.script([started(), *text("first"), hold, *text(" and last", 1), stop()])
        turn = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(LIMIT):
            await hold.reached.wait()

        async def end(_: int) -> None:
            if not turn.done():
                hold.released.set()
                await turn
                give_notice(state.log, state.channel, "info", "Over.")

        sliced = await told(replay, state, act=end)
        assert [type(event) for event in sliced[-2:]] == [TurnEnded, Notice]
        assert not state.log.is_whole
        await state.log.whole()
        assert sliced == await told(whole.replay, state)


async def test_all_may_be_read_meanwhile(long: Long) -> None:
    async with reopened(long) as (_, session):

        async def read(number: int) -> None:
            if number == 20:
                await inside.log(session).whole()

        sliced = await told(replay, inside.state(session), act=read)
        assert sliced == await told(whole.replay, inside.state(session))


async def test_what_comes_back_meanwhile_is_told_behind_it(world: World) -> None:
    async with world.daemon() as desk:
        session = (await long_work(desk)).session
        last = [m.id for m in inside.conversation(session) if m.role == "user"][-1]
        await session.rollback.restore(Wish("conversation", None, last))

        async def back(number: int) -> None:
            if number == 2:
                await session.rollback.redo(Wish("conversation", None))

        sliced = await told(replay, inside.state(session), act=back)
        shown = {event.origin.message_id for event in sliced if hasattr(event, "origin")}
        assert last in shown


async def test_who_catches_up_has_nothing_read_that_is_in_memory(long: Long) -> None:
    async with reopened(long) as (desk, session):
        log = inside.log(session)
        newest, oldest = log.messages[-1].parts[0].id, long.messages[3].parts[0].id
        assert isinstance(source_of(desk.store.logs, log, newest), InMemory)
        assert isinstance(source_of(desk.store.logs, log, oldest), InSlices)
        assert isinstance(source_of(desk.store.logs, log, None), InSlices)


async def test_a_session_that_is_deleted_meanwhile_is_unknown(long: Long) -> None:
    async with reopened(long) as (desk, session):

        async def delete(number: int) -> None:
            if number == 20:
                await desk.sessions.delete(session.id)

        with pytest.raises(UnknownSession):
            await told(replay, inside.state(session), act=delete)


async def test_a_replay_that_is_cancelled_ends_and_keeps_nothing(long: Long) -> None:
    async with reopened(long) as (desk, session):
        shown: list[Event] = []
        full = asyncio.Event()

        async def emit(event: Event) -> None:
            shown.append(event)
            if len(shown) == 20:
                full.set()
                await asyncio.Event().wait()

        loading = asyncio.ensure_future(
            desk.sessions.load(
                session.id, desk.editor, shown.append, replay=True, after=None, emit=emit
            )
        )
        async with asyncio.timeout(LIMIT):
            await full.wait()
            loading.cancel()
            await asyncio.wait({loading})
        assert loading.cancelled()
        inside.notice(session, "info", "Who is there?")
        assert len(shown) == 20
        assert not inside.log(session).is_whole
        assert len(await told(replay, inside.state(session))) > 40


@pytest.mark.moves_prefix("what was sent is lost")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE part SET body = x'00' WHERE message_id = :hidden",
        "UPDATE message SET body = x'00' WHERE id = :hidden",
        "UPDATE record SET body = x'00' WHERE revision = :record",
        "DELETE FROM record WHERE revision = :record",
        "DELETE FROM part WHERE message_id = :first",
    ],
)
async def test_what_is_damaged_is_told_as_of_the_whole(long: Long, damage: str) -> None:
    about = {
        "hidden": long.messages[9].id,
        "first": long.messages[0].id,
        "record": long.records[25].revision,
    }
    other = copied(long.world, "other", folds=True)
    with opened_beside(other.folder) as con:
        con.execute("PRAGMA foreign_keys = OFF")
        assert con.execute(damage, about).rowcount
    async with other.daemon() as desk:
        state = inside.state(await desk.sessions.get(long.session_id))
        assert not state.log.is_whole
        sliced = await told(replay, state)
        assert state.log.is_whole
        assert sliced == await told(whole.replay, state)


async def test_others_have_their_turn(long: Long) -> None:
    """Also where all of a log is in memory, so that nothing need be waited for."""
    async with reopened(long) as (_, session):
        await inside.log(session).whole()
        alone = most = 0

        async def count(_: int) -> None:
            nonlocal alone, most
            alone += 1
            most = max(most, alone)

        async def others() -> None:
            nonlocal alone
            while True:
                alone = 0
                await asyncio.sleep(0)

        other = asyncio.ensure_future(others())
        assert len(await told(replay, inside.state(session), act=count)) > 2 * BREATH
        other.cancel()
        assert most <= 2 * BREATH


async def test_nothing_is_read_for_a_rewrite_that_is_not_due(long: Long) -> None:
    async with reopened(long) as (_, session):
        await session.set_option("policy", "economic")
        assert not await session.rewriting.idle(hurried=False)
        assert not inside.log(session).is_whole


def test_turns_that_are_told_before_their_steps_are_not_told_in_slices() -> None:
    asked, answered, later, other = (
        Message(MessageId(f"m{n}"), TurnId(turn), role, (), n * 10)
        for n, (turn, role) in enumerate(
            [("a", "user"), ("a", "assistant"), ("b", "user"), ("a", "assistant")]
        )
    )
    begun = TurnStartedRecord(at=1, turn_id=TurnId("a"), message_id=MessageId("m0"))
    ended = TurnEndedRecord(at=12, turn_id=TurnId("a"), stop_reason="end_turn")
    step = StepRecord(at=9, message_id=MessageId("m3"))
    early = structs.replace(ended, at=9)

    def told(messages: tuple[Message, ...], *records: object, left: str = "") -> bool:
        return log_window.in_turns(messages, records, {left})

    assert told((asked, answered, later), begun, ended)
    assert not told((asked, answered, later, other), begun, ended)
    assert told((asked, other), begun, step, early)
    assert not told((asked, other), begun, early, step)
    assert not told((asked, answered), begun, early)
    assert not told((asked, answered), begun, ended, ended)
    assert not told((later,), begun, ended)
    # All of a turn may be left behind.
    assert told((later,), begun, ended, left="m0")
