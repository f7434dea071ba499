"""A session that is opened by a window of its log asks for just what it would ask for otherwise.

Each state of a walk is opened twice from copies of the store, with its fold and without any; both
daemons have the same clock and mint the same ids, and must send the same bytes.
`SIDECAR_SEEDS=40 pytest tests/session/lifecycle/test_log_window.py` goes on more walks.
"""

import os
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import zstandard

from sidecar.core.errors import NothingToDo
from sidecar.core.parts import MessageId, PartId, SessionId
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.visibility import Note, Rewrite
from sidecar.core.text.digest import digest
from sidecar.model.messages.encode import encode
from sidecar.session.interface import Wish
from sidecar.session.lifecycle import log_window
from sidecar.session.lifecycle.session import Session
from sidecar.session.log import log_fold
from sidecar.session.log.events import MeterChanged, Notice
from sidecar.session.log.losses import LOST
from sidecar.session.log.whole_log import message_count
from sidecar.session.transfer.revival import reviving
from sidecar.store.format.log_records import PingRecord, StepRecord
from sidecar.store.repair.rebuilt_store import repair
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.lifecycle.test_anything import Chaos
from tests.session.logged import as_stored, logged, rewrite_of
from tests.session.work import Worker
from tests.store.on_disk import opened_beside, store_file

pytestmark = pytest.mark.long

SEEDS = range(int(os.environ.get("SIDECAR_SEEDS", "2")))
STATES = 3
"""States of a walk that are opened twice."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold sessions that are as small as those of tests."""
    monkeypatch.setattr(log_window, "LEAST", 3)
    monkeypatch.setattr(log_window, "SPACING", 6)


@dataclass
class Opened:
    """What came of opening a copy; `windowed` says that a window was enough to open it."""

    windowed: bool = False
    told: list[Any] = field(default_factory=list)


class Still(World):
    """A world whose time stands still, however often somebody looks at the clock."""

    def now(self) -> int:
        return self.time


def copied(world: World, name: str, *, folds: bool) -> World:
    """Copy a world as it is, its store without the leases of those who live."""
    folder = Path(mkdtemp(prefix=name, dir=world.folder.parent))
    with opened_beside(world.folder) as source, opened_beside(folder) as target:
        source.backup(target)
        target.execute("DELETE FROM lease")
        if not folds:
            target.execute("DELETE FROM fold")
    store_file(folder).chmod(0o600)
    config = replace(world.config, data_dir=folder / "data")
    net = deepcopy(world.net)
    return Still(folder, world.workspace, world.time, world.minted, True, config, net)


async def open_copy(world: World, kept: Worker) -> Opened:
    """Open a copy of a session, go on in it, then ask for all that needs more than a window."""
    found = Opened()
    async with world.daemon() as desk:
        desk.model.cache = deepcopy(kept.desk.model.cache)
        session = await desk.sessions.get(kept.session.id)
        session.audience.attach(desk.watch, desk.editor)
        found.windowed = not inside.log(session).is_whole
        await go_on(desk, session, kept, found)
        await look_at_all(desk, session, found)
    return found


async def go_on(desk: Desk, session: Session, kept: Worker, found: Opened) -> None:
    """Run two turns, with calls whose ids were used before."""
    found.told.append(meter_of(session.meter()))
    worker = Worker(desk, session, kept.done)
    # A step each: what runs together is logged in an order that threads decide.
    desk.script(
        calls(("call1", "look", {"path": "src/again.py"})),
        calls(("call2", "look", {"path": "src/x.py"})),
        says("Seen again."),
    )
    result = await desk.ask(session, "Look at two of them again.")
    found.told += [replace(result, meter=meter_of(result.meter)), desk.editor.called]
    await worker.turn(2, "And go on.")
    found.told += [encode(request) for request in desk.model.requests]
    found.told += [encode(request) for request in desk.model.summaries]
    found.told += [meter_of(event.meter) for event in desk.of(MeterChanged) if event.urgent]


async def look_at_all(desk: Desk, session: Session, found: Opened) -> None:
    """Do what needs the whole log, in the session that was opened by a window of it."""
    await inside.log(session).whole()
    log = inside.log(session)
    row = replace(log.row, seq=0)
    found.told += [log.messages, tuple(logged(log)), row, inside.rewrites(session)]
    found.told += [await session.rewriting.breakdown(), (await session.rewriting.preview(())).body]
    found.told.append(session.rewriting.checkpoints.ledger())
    try:
        found.told.append(await session.rewriting.compact(None, None, dry_run=False))
    except NothingToDo as nothing:
        found.told.append(str(nothing))
    for recorded in inside.rewrites(session)[:1]:
        if recorded.rewrite.cause not in ("undo", "restore"):
            found.told.append(await session.recall(recorded.rewrite.id, 0, None, None))
            await session.rewriting.undo(recorded.rewrite.id)
    found.told.append((await session.rewriting.preview(())).body)
    stored = await desk.store.logs.load(SessionId(session.id))
    found.told += [stored.messages, stored.records, (await desk.store.verify()).problems]


def meter_of(meter: Meter) -> Meter:
    """A meter but for what a compaction would cost, which takes more than a window to know."""
    return replace(meter, cost=replace(meter.cost, compact_now=None))


async def compare(world: World, kept: Worker) -> bool:
    """Open it with and without its fold; says whether a window was enough."""
    # Both before either is opened: the clock goes on meanwhile.
    copies = [copied(world, "copy", folds=folds) for folds in (True, False)]
    one, other = [await open_copy(copy, kept) for copy in copies]
    assert not other.windowed
    assert len(one.told) == len(other.told)
    for number, (with_fold, without) in enumerate(zip(one.told, other.told, strict=True)):
        assert with_fold == without, number
    return one.windowed


class Walk(Chaos):
    """Acts at random, also going back and forth, with turns short enough for many of them."""

    @property
    def acts(self) -> Any:
        often = [self.short, self.short, self.short, self.compact]
        return [*often, self.undo, self.pin, self.wait, self.option, self.back, self.fork]

    async def go(self, compare: Callable[[Worker], Awaitable[bool]]) -> None:
        """Act on a long session, and compare now and then; its end prints what was done."""
        windowed = 0
        try:
            async with self.world.daemon() as desk:
                self.worker = await long_work(desk, self.dice.choice(["economic", "manual"]))
                for _ in range(STATES):
                    for _ in range(3):
                        act = self.dice.choice(self.acts)
                        self.done.append(act.__name__)
                        await act()
                    windowed += await compare(self.worker)
        finally:
            print(self.done, windowed)

    async def short(self) -> None:
        """A few turns."""
        assert self.worker is not None
        for _ in range(3):
            result = await self.worker.turn(self.dice.randrange(1, 4), "Go on.")
            assert result.stop_reason == "end_turn", result.error

    async def undo(self) -> None:
        """Take the newest compaction back."""
        with suppress(NothingToDo):
            await self.rewriting.undo(None)

    async def back(self) -> None:
        """Leave some of the newest messages behind, and perhaps come back."""
        assert self.worker is not None
        session = self.worker.session
        typed = [m.id for m in inside.conversation(session) if m.role == "user"]
        if len(typed) > 6:
            wish = Wish("conversation", None, self.dice.choice(typed[-3:]))
            await session.rollback.restore(wish)
            if self.dice.random() < 0.5:
                await session.rollback.redo(Wish("conversation", None))

    async def fork(self) -> None:
        """Go on in a fork."""
        assert self.worker is not None
        desk = self.worker.desk
        made = await desk.sessions.fork(self.worker.session.id, None, desk.editor, desk.watch)
        session = await desk.sessions.get(made.session_id)
        self.worker = Worker(desk, session, self.worker.done)
        self.made, self.undone = [], set()


@pytest.mark.moves_prefix("what a fork begins with was sent by another session")
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_window_asks_for_the_same_bytes_as_the_whole(world: World, seed: int) -> None:
    await Walk(world, random.Random(seed)).go(partial(compare, world))


async def long_work(desk: Desk, policy: str = "manual") -> Worker:
    """Work until most of the history was left out, and some more."""
    worker = await desk.worker(policy=policy, window=90_000, max_tokens=4_000)
    await worker.turns(6, steps=3)
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(10, steps=2)
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(9, steps=1)
    return worker


async def test_what_is_hidden_is_not_read(world: World) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
        there = len(inside.messages(worker.session))
        assert await compare(world, worker)
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        log = inside.log(session)
        assert not log.is_whole
        assert message_count(log) == there
        assert len(log.messages) < there


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE fold SET body = x'00'",
        "UPDATE fold SET chain = 'b2:other'",
        "UPDATE fold SET version = 'b2:older'",
        "UPDATE fold SET revision = revision + 1",
    ],
)
async def test_a_fold_that_does_not_hold_is_as_if_there_were_none(
    world: World, damage: str
) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
        preview = (await worker.session.rewriting.preview(())).body
    with opened_beside(world.folder) as con:
        assert con.execute(damage).rowcount == 1
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        assert inside.log(session).is_whole
        assert (await session.rewriting.preview(())).body == preview


@pytest.mark.moves_prefix("what a lost rewrite left out is there again")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE record SET body = x'00' WHERE revision = :rewrite",
        "UPDATE part SET body = x'00' WHERE message_id = :hidden",
    ],
)
async def test_damage_outside_of_the_window_is_told_when_it_is_read(
    world: World, damage: str
) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
        log, view = inside.log(worker.session), inside.model_view(worker.session)
        rewrite = next(r.revision for r in logged(log) if r.kind == "rewrite")
        hidden = next(one.message.id for one in view.rendering.seen(log) if not one.rendered)
    with opened_beside(world.folder) as con:
        assert con.execute(damage, {"rewrite": rewrite, "hidden": hidden}).rowcount
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        session.audience.attach(desk.watch, desk.editor)
        assert not inside.log(session).is_whole
        assert await inside.log(session).whole()
        assert any("cannot be read" in notice.text for notice in desk.of(Notice))
        desk.script(says("I am still here."))
        assert (await desk.ask(session, "Are you there?")).stop_reason == "end_turn"


async def test_a_log_whose_beginning_is_made_up_is_not_folded(world: World) -> None:
    """What stands there instead is in no store, so that a window of it would be another prompt."""
    async with world.daemon() as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(1, steps=1)
    first = "SELECT id FROM message ORDER BY number LIMIT 1"
    with opened_beside(world.folder) as con:
        con.execute(f"UPDATE part SET body = x'00' WHERE message_id = ({first})")
    repair(world.folder, world.time, reviving(world.config))
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        assert not (await desk.store.logs.load(session.id)).problems
        assert LOST in str(inside.messages(session)[0])
        assert inside.log(session).damaged


async def test_a_note_before_what_is_hidden_is_sent_still(world: World) -> None:
    """A message of which nothing is sent may have a note before it since the fold."""
    async with world.daemon() as desk:
        worker = await long_work(desk)
        state = inside.state(worker.session)
        shown = state.view.rendering
        hidden = [one.message.id for one in shown.seen(state.log) if not one.rendered]
        noted = {note.before for note in shown.shown.notes.values()}
        place = next(name for name in hidden if name not in noted)
        newest = state.views.newest_epoch()
        assert newest is not None
        note = Note(PartId("cmp_9 ledger"), "Mind the gap.", place, "ledger")
        rewrite = Rewrite("cmp_9", "user", {}, (note,))
        await state.log.writer.commit(rewrite_of(replace(newest, rewrite=rewrite)))
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        assert "Mind the gap." in str(inside.model_view(session).prompt(inside.log(session)))


async def test_the_newest_break_of_the_cache_is_known_after_a_ping(world: World) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
        records = inside.log(worker.session).records
        broke: dict[str, Any] = {"segment": "tools", "message_id": MessageId("nobody")}
        step = StepRecord(**broke)
        ping = PingRecord(started=0, uncached=0, read=0, write_5m=0, write_1h=0, **broke)
        records[10] = step
        records[20] = ping
        kept = log_window.needed_records(records, 40, frozenset(), frozenset())
        assert [one in kept for one in as_stored(step, ping)] == [True, False]


async def test_a_damaged_page_of_folds_keeps_nobody_from_a_session(world: World) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
    with opened_beside(world.folder) as con:
        (root,) = con.execute("SELECT rootpage FROM sqlite_master WHERE name = 'fold'").fetchone()
        (size,) = con.execute("PRAGMA page_size").fetchone()
        con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with store_file(world.folder).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        session.audience.attach(desk.watch, desk.editor)
        assert inside.log(session).is_whole
        again = Worker(desk, session, worker.done)
        # Folds cannot be written now, which fails nothing else.
        await again.turns(6, steps=1)
        assert (await desk.store.logs.load(session.id)).session.turns == inside.row(session).turns


async def test_a_fold_in_another_shape_is_as_if_there_were_none(world: World) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
    with opened_beside(world.folder) as con:
        body = zstandard.compress(b'{"revision":1}')
        con.execute("UPDATE fold SET body = ?, hash = ?", (body, digest(body)))
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        assert inside.log(session).is_whole


async def test_the_code_is_named_as_it_was_when_it_was_started(desk: Desk) -> None:
    """Another version may be installed over it while it runs, whose folds are not its own."""
    log_fold.version.cache_clear()
    await desk.sessions.shared.warm_up()
    assert log_fold.version.cache_info().currsize == 1


async def test_deleting_a_session_deletes_its_fold(world: World) -> None:
    async with world.daemon() as desk:
        worker = await long_work(desk)
        await desk.sessions.delete(worker.session.id)
    assert folds(world.folder) == 0


def folds(folder: Path) -> int:
    with opened_beside(folder) as con:
        return int(con.execute("SELECT count(*) FROM fold").fetchone()[0])
