"""Lines of a note that say several things: attempts that failed alike, files of a folder."""

from sidecar.core.plans.note import Room, write_note
from sidecar.core.plans.plan import Change
from sidecar.core.prompt.visibility import Dropped
from tests.core.plans.test_note import HEAD, LONG, ROOM, items, left_by, lines


def test_attempts_that_failed_alike_share_a_line_with_what_was_learnt() -> None:
    given = "C9!:bash(make-docs); A9 C9!:bash(make-all) C9!:bash(ls) C9!:sh(make-all); A9 C9"
    told = lines(
        items(
            given,
            p0="Error: no rule",
            p1=LONG,
            p2="Error: no rule",
            p3="Error: x",
            p4="Error: no rule",
        ),
        room=Room(story=500, commands=0, prose=0),
    )
    assert told == [
        "Failed, do not repeat:",
        f"- bash make-docs ; make-all → Error: no rule ⇒ {LONG.strip()}",
        "- bash ls → Error: x",
        "- sh make-all → Error: no rule",
    ]  # fmt: skip


def test_changed_files_are_told_relative_to_the_workspace_and_folders_by_their_files() -> None:
    given = items("C9:edit(/w/src/a.py) C9:edit(src/b.py) C9:edit(/w/src) C9:edit(/w/src/a.py)")
    gone = [Change(item.unit.part_id, Dropped(), "old", 0, 0) for item in given]
    text = write_note(left_by(given, gone), head=HEAD, room=ROOM, root="/w")
    assert text.splitlines()[1:] == ["Changed: src/a.py, src/b.py"]
