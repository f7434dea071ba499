"""What the user does while a restore is carried out is told as theirs afterwards, and survives."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import NothingToDo, RestoreConflict
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.rollback import going_back
from sidecar.workspace.restore.restore import RecordChanges
from tests.fakes.scripted_model import calls, shell, write
from tests.session import inside
from tests.session.changes.test_tracker import told
from tests.session.conftest import Desk, World
from tests.session.rollback.test_going_back import work

SHELL = "mkdir -p deep/er && echo made > deep/er/made.txt && rm gone.txt && chmod 600 notes.txt"

pytestmark = pytest.mark.usefixtures("following")


@pytest.fixture
def world(world: World) -> World:
    (world.workspace / "gone.txt").write_text("gone\n")
    return world


@pytest.fixture
def meddled(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write as the user, between the files' restore and the snapshot after it."""
    real = going_back.carry_out

    async def carry_out(*given: Any, record: RecordChanges, **named: Any) -> Any:
        async def meddling() -> Any:
            (world.workspace / "mine.txt").write_text("mine\n")
            (world.workspace / "notes.txt").write_text("alpha\nmine\n")
            return await record()

        return await real(*given, record=meddling, **named)

    with monkeypatch.context() as patch:
        patch.setattr(going_back, "carry_out", carry_out)
        yield


MINE = [("mine.txt", "created", "user"), ("notes.txt", "modified", "user")]


async def gone_back(desk: Desk) -> Session:
    session = await desk.open()
    change = calls(write("notes.txt", "beta\n")), calls(shell(SHELL))
    turn = await work(desk, session, "go", *change)
    await session.rollback.restore(Wish("files", before_message_id=turn.message_id))
    return session


def stands(folder: Path) -> None:
    assert (folder / "mine.txt").read_text() == "mine\n"
    assert (folder / "notes.txt").read_text() == "alpha\nmine\n"
    assert (folder / "gone.txt").read_text() == "gone\n"


@pytest.mark.usefixtures("meddled")
async def test_it_is_the_users_in_the_next_turn_once(desk: Desk) -> None:
    session = await gone_back(desk)
    await work(desk, session, "more")
    assert told(session)[-1] == MINE
    listed = session.checkpoints.timeline().checkpoints[-1]
    assert [c.path for one in listed.sets for c in one.changes] == [b"mine.txt", b"notes.txt"]
    await work(desk, session, "and more")
    assert told(session)[-1] == []
    stands(desk.workspace)


@pytest.mark.usefixtures("meddled")
async def test_it_is_so_after_a_restart_too(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await gone_back(desk)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        await work(desk, session, "more")
        assert told(session)[-1] == MINE
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        await work(desk, session, "and more")
        assert told(session)[-1] == []


@pytest.mark.usefixtures("meddled")
async def test_it_is_in_the_way_of_the_way_forth_and_kept(desk: Desk) -> None:
    session = await gone_back(desk)
    last = session.checkpoints.timeline().checkpoints[-1]
    shown = await session.checkpoints.diff(last.id, None, "mine.txt")
    assert [one["author"] for one in shown] == ["user"]
    with pytest.raises(RestoreConflict) as refused:
        await session.rollback.redo(Wish("files"))
    assert [one["path"] for one in refused.value.data["conflicts"]] == ["notes.txt"]
    stands(desk.workspace)
    await session.rollback.redo(Wish("files", on_conflict="keep"))
    assert (desk.workspace / "deep/er/made.txt").exists()
    assert (desk.workspace / "mine.txt").read_text() == "mine\n"
    assert (desk.workspace / "notes.txt").read_text() == "alpha\nmine\n"


async def test_where_nobody_does_nothing_is_told(desk: Desk) -> None:
    session = await gone_back(desk)
    assert inside.records(session)[-1].body.get("sets", []) == []
    await session.rollback.redo(Wish("files"))
    assert inside.records(session)[-1].body.get("sets", []) == []
    with pytest.raises(NothingToDo):
        await session.rollback.redo(Wish("files"))


async def test_what_a_merge_writes_is_nobodys(desk: Desk) -> None:
    notes = desk.workspace / "notes.txt"
    notes.write_text("1\n2\n3\n4\n5\n")
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("notes.txt", "one\n2\n3\n4\n5\n")))
    notes.write_text("one\n2\n3\n4\nfive\n")
    wish = Wish("files", before_message_id=turn.message_id, on_conflict="merge")
    await session.rollback.restore(wish)
    assert notes.read_text() == "1\n2\n3\n4\nfive\n"
    assert inside.records(session)[-1].body.get("sets", []) == []
