"""Sessions of a damaged store: what is lost is told, and what is left goes on."""

from pathlib import Path

import pytest

from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Notice, TextChunk
from sidecar.session.transfer.revival import reviving
from sidecar.store.repair.rebuilt_store import repair
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.store.on_disk import opened_beside

LOSS = "UPDATE part SET body = x'00' WHERE id IN (SELECT id FROM part LIMIT 2)"


async def worked(world: World) -> str:
    async with world.daemon() as desk:
        worker = await desk.worker()
        await worker.turns(3, 3)
        return worker.session.id


def damage(folder: Path, *statements: str) -> None:
    with opened_beside(folder) as con:
        for statement in statements:
            con.execute(statement)


async def opened(desk: Desk, name: str) -> tuple[Session, list[str]]:
    desk.events.clear()
    loaded = await desk.sessions.load(
        name, desk.editor, desk.watch, replay=True, after=None, emit=_take(desk)
    )
    assert not loaded.read_only
    return await desk.sessions.get(name), [e.text for e in desk.of(Notice)]


def _take(desk: Desk):
    async def take(event) -> None:
        desk.watch(event)

    return take


async def goes_on(desk: Desk, session: Session) -> None:
    desk.script(says("I am still here."))
    assert (await desk.ask(session, "Are you there?")).stop_reason == "end_turn"
    assert "Are you there?" in str(desk.prompts()[-1])


@pytest.mark.moves_prefix("what was sent is lost")
async def test_what_cannot_be_read_is_told_by_who_takes_the_session_over(world: World) -> None:
    async with world.daemon(name="second") as other:
        async with world.daemon(name="first") as desk:
            worker = await desk.worker()
            await worker.turns(3, 3)
            copy = await other.sessions.get(worker.session.id)
            assert copy.opened().read_only
            copy.audience.attach(other.watch, other.editor)  # type: ignore[arg-type]
        damage(world.folder, LOSS)
        await goes_on(other, copy)
        (told,) = [e.text for e in other.of(Notice) if "cannot be read and is left out" in e.text]
        assert "sidecar verify --repair" in told


@pytest.mark.moves_prefix("what was sent is lost")
async def test_who_takes_a_session_over_that_has_lost_its_epochs_begins_it_again(
    world: World,
) -> None:
    async with world.daemon(name="second") as other:
        async with world.daemon(name="first") as desk:
            worker = await desk.worker()
            await worker.turns(1, 1)
            copy = await other.sessions.get(worker.session.id)
        damage(world.folder, LOST["all records"])
        await goes_on(other, copy)
        assert inside.row(copy).id == worker.session.id
    async with world.daemon() as desk:
        session, notices = await opened(desk, copy.id)
        assert any("is lost to damage" in text for text in notices)
        await goes_on(desk, session)


@pytest.mark.moves_prefix("what was sent is lost")
async def test_what_cannot_be_read_is_told_once(world: World) -> None:
    name = await worked(world)
    damage(world.folder, LOSS)
    async with world.daemon() as desk:
        session, notices = await opened(desk, name)
        (told,) = [n for n in notices if "cannot be read and is left out" in n]
        assert "sidecar verify --repair" in told
        await goes_on(desk, session)
    async with world.daemon() as desk:
        _, notices = await opened(desk, name)
        assert len([n for n in notices if "cannot be read" in n]) == 1


LOST = {
    "its own row": "UPDATE session SET body = x'00'",
    "a message": "DELETE FROM message WHERE number IN (SELECT number FROM message LIMIT 2)",
    "all messages' heads": "UPDATE message SET body = x'00'",
    "the first message": "DELETE FROM part WHERE message_id = (SELECT min(id) FROM message)",
    "the first messages": "UPDATE part SET body = x'00' "
    "WHERE message_id IN (SELECT id FROM message LIMIT 3)",
    "its first epoch": "UPDATE record SET body = x'00' WHERE revision < 3",
    "all records": "UPDATE record SET body = x'00'",
    "texts": "UPDATE blob SET data = x'00' WHERE hash IN (SELECT hash FROM blob LIMIT 3)",
    "half of the parts": "UPDATE part SET body = x'00' WHERE position % 2 = 1",
}


@pytest.mark.moves_prefix("what was sent is lost")
@pytest.mark.parametrize("what", LOST)
async def test_a_mended_session_goes_on(world: World, what: str) -> None:
    name = await worked(world)
    damage(world.folder, "PRAGMA foreign_keys = OFF", LOST[what])
    done = repair(world.folder, world.time, reviving(world.config))
    assert done.lost
    assert done.kept.problems == ()
    async with world.daemon() as desk:
        session, _ = await opened(desk, name)
        assert inside.row(session).cwd == str(world.workspace)
        said = [e.text for e in desk.of(TextChunk)]
        assert said
        await goes_on(desk, session)
    async with world.daemon() as desk:
        session, _ = await opened(desk, name)
        await goes_on(desk, session)
        assert (await desk.store.verify()).problems == ()


@pytest.mark.moves_prefix("what was sent is lost")
async def test_a_session_whose_row_is_lost_gets_its_long_title_again(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("Yes."))
        await desk.ask(session, "a word and " * 20)
        name, title = session.id, inside.row(session).title
    damage(world.folder, "UPDATE session SET body = x'00'")
    repair(world.folder, world.time, reviving(world.config))
    async with world.daemon() as desk:
        session, _ = await opened(desk, name)
        assert inside.row(session).title == title
