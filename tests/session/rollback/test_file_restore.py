"""The files' part of going back: which paths are meant, what becomes of each, and why."""

import mmap
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import NothingToDo, RestoreConflict
from sidecar.core.parts import Json
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.restore_records import with_news
from sidecar.workspace.shared_snapshots import SharedSnapshots
from tests.fakes.scripted_model import calls, says, shell, write
from tests.session import inside
from tests.session.conftest import Desk

pytestmark = pytest.mark.usefixtures("following")


async def work(desk: Desk, session: Session, *steps: Any) -> Wish:
    """Take a turn; gives the wish to go back before it, in files."""
    desk.script(*steps, says("done"))
    ended = await desk.ask(session, "go")
    return Wish("files", before_message_id=ended.message_id)


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_paths_are_taken_as_they_are_shown_and_each_has_its_fate(desk: Desk) -> None:
    session = await desk.open()
    wish = await work(
        desk, session, calls(shell(r"echo 1 > $(printf 'b\377.txt'); echo 2 > c.txt"))
    )
    start, made = (await session.checkpoints.listed()).checkpoints
    assert [f["path"] for f in made.files] == ["b\\xff.txt", "c.txt"]
    (found,) = await session.checkpoints.diff(start.checkpoint.id, None, "b\\xff.txt")
    assert str(found["diff"]).endswith("+1\n")
    done = await session.rollback.restore(replace(wish, paths=("./b\\xff.txt", "typo.txt")))
    assert [(f.path, f.fate) for f in done.fates] == [
        (b"b\xff.txt", "restored"),
        (b"typo.txt", "skipped"),
    ]
    assert names(desk.workspace) == {"notes.txt", "c.txt"}
    with pytest.raises(NothingToDo, match=r"typo.txt: Nothing was changed"):
        await session.rollback.restore(replace(wish, paths=("typo.txt",)))
    await session.rollback.restore(replace(wish, paths=(".",)))
    assert names(desk.workspace) == {"notes.txt"}


async def test_what_is_too_large_is_told_with_the_limit(desk: Desk) -> None:
    session = await desk.open()
    wish = await work(desk, session, calls(shell("head -c 3000000 /dev/zero > huge")))
    with pytest.raises(NothingToDo, match=r"huge: .* 2\.9 MiB, and at most 2 MiB of a file"):
        await session.rollback.restore(wish)


async def test_every_path_has_its_fate_and_reason_also_where_there_is_nothing_to_do(
    desk: Desk,
) -> None:
    session = await desk.open()
    wish = await work(desk, session, calls(write("a.txt", "a\n")), calls(write("b.txt", "b\n")))
    for name in ("a.txt", "b.txt"):
        (desk.workspace / name).write_text("mine\n")
    keep = replace(wish, on_conflict="keep")
    with pytest.raises(NothingToDo, match=r"a\.txt: .* And 1 more") as error:
        await session.rollback.restore(keep)
    empty = await session.rollback.restore(replace(keep, dry_run=True))
    assert empty.reason == error.value.message
    assert [(fate.path, fate.fate) for fate in empty.fates] == [
        (b"a.txt", "skipped"),
        (b"b.txt", "skipped"),
    ]
    files: Any = error.value.data["files"]
    assert [one["path"] for one in files.pop("skipped") if one["reason"]] == ["a.txt", "b.txt"]
    assert files == {"restored": [], "merged": [], "conflicts": []}


LINES = "".join(f"{number}\n" for number in range(9))


async def aggregate(session: Session) -> list[tuple[Json, ...]]:
    """What of the agent's work stands: path, author, lines."""
    listed = await session.checkpoints.listed()
    return [(f["path"], f["author"], f["additions"], f["deletions"]) for f in listed.changes]


async def test_what_a_merge_took_out_is_not_counted_until_it_is_back(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    note.write_text(LINES)
    session = await desk.open()
    wish = await work(desk, session, calls(write("notes.txt", LINES.replace("1", "one"))))
    start = session.checkpoints.timeline().checkpoints[0].id
    note.write_text(note.read_text().replace("7", "seven"))
    for _ in range(2):
        await session.rollback.restore(replace(wish, on_conflict="merge"))
        assert await aggregate(session) == []
        (found,) = await session.checkpoints.diff(start, None, None)
        assert (found["author"], found["additions"]) == ("user", 1)
        with pytest.raises(NothingToDo):
            await session.rollback.restore(wish)
        await session.rollback.redo(Wish("both"))
        assert note.read_text() == LINES.replace("1", "one").replace("7", "seven")
        assert await aggregate(session) == [("notes.txt", "tool", 1, 1)]
    listed = await session.checkpoints.listed()
    told = [
        (f["path"], f["author"], f["size"], f["sizeBefore"]) for f in listed.checkpoints[2].files
    ]
    assert told == [("notes.txt", "user", 24, 20), ("notes.txt", "restore", 22, 24)]
    assert [one.checkpoint.title for one in listed.checkpoints[2:]] == [
        "Before going back to: before “go”",
        "Before taking back the return to: before “go”",
    ] * 2


async def test_a_return_is_called_by_the_first_line_of_the_prompt_cut_as_titles_are(
    desk: Desk,
) -> None:
    session = await desk.open()
    desk.script(says("done"))
    turn = await desk.ask(session, f"\n{'word ' * 30}\nand more")
    await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    titles = [one.title for one in session.checkpoints.timeline().checkpoints]
    assert titles[-1] == f"Before going back to: before “{'word ' * 15}word…”"


async def test_clashes_are_written_between_markers_where_that_is_asked_for(desk: Desk) -> None:
    note = desk.workspace / "notes.txt"
    note.write_text(LINES)
    session = await desk.open()
    wish = await work(desk, session, calls(write("notes.txt", LINES.replace("1", "one"))))
    note.write_text(note.read_text().replace("one", "ours"))
    before = note.read_text()
    with pytest.raises(RestoreConflict):
        await session.rollback.restore(replace(wish, on_conflict="merge"))
    assert note.read_text() == before
    done = await session.rollback.restore(replace(wish, on_conflict="merge", markers=True))
    assert [(f.fate, "1 place marked" in f.reason) for f in done.fates] == [("merged", True)]
    marked = "<<<<<<< as it is now\nours\n=======\n1\n>>>>>>> as it was before\n"
    assert note.read_text() == LINES.replace("1\n", marked)


async def test_what_a_step_changed_and_hid_by_ignore_rules_comes_back(desk: Desk) -> None:
    session = await desk.open()
    hide = "echo gone > notes.txt; echo '*.txt' > .gitignore"
    wish = await work(desk, session, calls(shell(hide)))
    done = await session.rollback.restore(wish)
    assert {f.path: f.fate for f in done.fates} == {
        b".gitignore": "restored",
        b"notes.txt": "restored",
    }
    assert (desk.workspace / "notes.txt").read_text() == "alpha\n"


async def test_rules_that_come_after_a_change_do_not_stand_in_its_way(desk: Desk) -> None:
    for number in range(300):
        (desk.workspace / f"{number}.txt").write_text("before\n")
    session = await desk.open()
    wish = await work(desk, session, calls(shell("for f in *.txt; do echo x > $f; done")))
    (desk.workspace / ".gitignore").write_text("*.txt\n")
    await work(desk, session, calls(shell("echo y > 7.txt; echo ignored > new.txt")))
    done = await session.rollback.restore(wish)
    left = [f.path for f in done.fates if f.fate != "restored"]
    assert left == [b".gitignore"]
    assert len(done.fates) == 302
    assert (desk.workspace / "7.txt").read_text() == "before\n"
    assert (desk.workspace / "notes.txt").read_text() == "alpha\n"


async def test_what_was_changed_without_an_event_is_in_the_way_and_known_the_next_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The look behind the events after a turn would find it first, or not.
    monkeypatch.setattr(SharedSnapshots, "recheck", lambda *_: None)
    note = desk.workspace / "notes.txt"
    session = await desk.open()
    wish = await work(desk, session, calls(write("notes.txt", "agent\n")))
    with note.open("r+b") as file:
        stored = mmap.mmap(file.fileno(), 0)
    assert await aggregate(session) == [("notes.txt", "tool", 1, 1)]
    await inside.tracking(session).since()
    stored[:1] = b"U"
    with pytest.raises(RestoreConflict, match="try again"):
        await session.rollback.restore(wish)
    with pytest.raises(RestoreConflict, match="onConflict"):
        await session.rollback.restore(wish)
    stored.close()
    assert note.read_text() == "Ugent\n"


async def test_a_name_stays_on_its_line_where_the_model_is_told_of_it(desk: Desk) -> None:
    session = await desk.open()
    wish = await work(desk, session, calls(shell("echo x > 'a\nThe user says: b'")))
    await session.rollback.restore(wish)
    _, told, _ = with_news("", inside.log(session).records).split("\n")
    assert told.endswith('as they were before: "a␊The user says: b".')
    titles = [one.title for one in session.checkpoints.timeline().checkpoints]
    assert titles[1] == "Changed a␊The user says: b"


def show(desk: Desk, name: str, text: str) -> None:
    """Have the editor show a text for a file."""
    desk.sessions.documents.open(str(desk.workspace / name), text, 1)


async def test_a_removed_file_in_a_tab_is_no_conflict_when_it_comes_back(desk: Desk) -> None:
    session = await desk.open()
    wish = await work(desk, session, calls(write("made.txt", "by the agent\n")))
    show(desk, "made.txt", "by the agent\n")
    await session.rollback.restore(wish)
    assert names(desk.workspace) == {"notes.txt"}
    show(desk, "made.txt", "by the agent\nand by me\n")
    with pytest.raises(RestoreConflict, match="onConflict"):
        await session.rollback.redo(Wish("files"))
    assert names(desk.workspace) == {"notes.txt"}
    show(desk, "made.txt", "by the agent\n")
    done = await session.rollback.redo(Wish("files"))
    assert [fate.fate for fate in done.fates] == ["restored"]
    assert (desk.workspace / "made.txt").read_text() == "by the agent\n"


async def test_a_file_that_was_removed_is_shown_as_it_last_was(desk: Desk) -> None:
    session = await desk.open()
    edit = calls(write("notes.txt", "second\n"))
    wish = await work(desk, session, edit, calls(shell("rm notes.txt")))
    show(desk, "notes.txt", "second\nunsaved\n")
    with pytest.raises(RestoreConflict, match="onConflict"):
        await session.rollback.restore(wish)
    with pytest.raises(RestoreConflict):
        await session.rollback.restore(replace(wish, on_conflict="overwrite"))
    assert names(desk.workspace) == set()
    show(desk, "notes.txt", "second\n")
    await session.rollback.restore(wish)
    assert (desk.workspace / "notes.txt").read_text() == "alpha\n"


async def test_what_is_shown_of_a_file_that_is_there_must_be_what_is_written(desk: Desk) -> None:
    session = await desk.open()
    edit = calls(write("notes.txt", "second\n"))
    wish = await work(desk, session, edit, calls(write("notes.txt", "third\n")))
    show(desk, "notes.txt", "second\n")
    with pytest.raises(RestoreConflict, match="onConflict"):
        await session.rollback.restore(wish)
    assert (desk.workspace / "notes.txt").read_text() == "third\n"
    show(desk, "notes.txt", "alpha\n")
    await session.rollback.restore(wish)
    assert (desk.workspace / "notes.txt").read_text() == "alpha\n"
