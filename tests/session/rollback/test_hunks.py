"""Single hunks of a file's restore: chosen from a dry run's diff, taken back, brought again."""

from dataclasses import replace

import pytest

from sidecar.core.errors import BadRequest, NothingToDo
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.restore_records import with_news
from tests.fakes.scripted_model import calls, says, shell, write
from tests.session import inside
from tests.session.conftest import Desk

LINES = "".join(f"{n}\n" for n in range(1, 41))
CHANGED = (
    LINES.replace("\n2\n", "\ntwo\n").replace("\n20\n", "\n").replace("\n38\n", "\n38\nmore\n")
)


async def changed(desk: Desk, session: Session, text: str = CHANGED) -> Wish:
    """Has the agent write notes.txt; returns the wish to take that back."""
    desk.script(calls(write("notes.txt", text)), says("done"))
    ended = await desk.ask(session, "go")
    return Wish("files", before_message_id=ended.message_id, paths=("notes.txt",))


async def hunks(session: Session, wish: Wish) -> list[str]:
    """The hunks that a dry run foresees."""
    foreseen = (await session.rollback.restore(replace(wish, dry_run=True))).foreseen
    return [f"@@ -{part}" for part in foreseen[b"notes.txt"].split("@@ -")[1:]]


@pytest.fixture(autouse=True)
def note(following: None, desk: Desk) -> None:
    (desk.workspace / "notes.txt").write_text(LINES)


async def test_a_hunk_is_taken_back_alone_and_the_rest_later(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = await changed(desk, session)
    first, second, third = await hunks(session, wish)
    assert (await hunks(session, replace(wish, hunks=(second,)))) == [second]
    done = await session.rollback.restore(replace(wish, hunks=(second, third)))
    assert [(fate.path, fate.fate) for fate in done.fates] == [(b"notes.txt", "partly")]
    assert note.read_text() == LINES.replace("\n2\n", "\ntwo\n")
    assert "some changes are taken out of these files" in with_news("", inside.log(session).records)
    assert await hunks(session, wish) == [first]
    await session.rollback.restore(replace(wish, hunks=(first,)))
    assert note.read_text() == LINES
    with pytest.raises(NothingToDo):
        await session.rollback.restore(wish)


async def test_what_was_taken_back_comes_again(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = await changed(desk, session)
    _, second, _ = await hunks(session, wish)
    done = await session.rollback.restore(replace(wish, hunks=(second,)))
    await session.rollback.redo(Wish("files", done.undo))
    assert note.read_text() == CHANGED
    await session.rollback.restore(wish)
    assert note.read_text() == LINES


async def test_the_users_own_lines_stay(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = replace(await changed(desk, session), on_conflict="merge")
    note.write_text(CHANGED.replace("\n11\n", "\nmine\n"))
    first, _, third = await hunks(session, wish)
    await session.rollback.restore(replace(wish, hunks=(third,)))
    assert note.read_text() == CHANGED.replace("\n11\n", "\nmine\n").replace("more\n", "")
    assert first in await hunks(session, wish)
    await session.rollback.restore(wish)
    assert note.read_text() == LINES.replace("\n11\n", "\nmine\n")


async def test_a_file_that_was_made_has_one_hunk_the_whole(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    note.unlink()
    wish = await changed(desk, session)
    (only,) = await hunks(session, wish)
    await session.rollback.restore(replace(wish, hunks=(only,)))
    assert not note.exists()


async def test_hunks_that_are_not_there_any_more_are_refused(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = replace(await changed(desk, session), on_conflict="merge")
    first, second, _ = await hunks(session, wish)
    for wrong in ((), (first[:-1],), (f"{first}{second}",)):
        with pytest.raises(BadRequest):
            await session.rollback.restore(replace(wish, hunks=wrong))
    note.write_text(f"0\n{CHANGED}")
    with pytest.raises(BadRequest):
        await session.rollback.restore(replace(wish, hunks=(second,)))
    assert note.read_text() == f"0\n{CHANGED}"


async def test_hunks_are_of_one_file(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = await changed(desk, session)
    first, *_ = await hunks(session, wish)
    desk.script(calls(shell("echo 1 > other.txt")), says("done"))
    await desk.ask(session, "more")
    with pytest.raises(BadRequest):
        await session.rollback.restore(replace(wish, paths=None, hunks=(first,)))
    assert note.read_text() == CHANGED
