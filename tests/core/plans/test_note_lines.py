"""Lines of a note that say several things: attempts that failed alike, files of a folder."""

from dataclasses import replace

import pytest

from sidecar.core.plans.note import Room, aftermath, write_note
from sidecar.core.plans.outcomes import upshot_of
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


def failure(argument: str, error: str, later: str, tool: str = "bash", how: str = "ok") -> str:
    """The note's line of an attempt, and of what came next."""
    listed = items(f"C9!:{tool}; C9:{tool}; C9", p0=error)
    for number, given in enumerate((argument, later)):
        unit = replace(listed[number].unit, argument=given)
        unit = replace(unit, status=how) if number else unit
        listed[number] = replace(listed[number], unit=unit)
    units = [item.unit for item in listed]
    changes = [Change(unit.part_id, Dropped(), "", 9, 0) for unit in units[:1]]
    after = aftermath(listed, changes, (), upshot_of(units))
    room = Room(story=500, commands=0, prose=0)
    return write_note(after, head=HEAD, room=room).partition("\n")[2]


def test_a_failure_is_told_with_the_next_command_alike_that_went_through() -> None:
    first, later = "git mv src/old.py src/new.py", "mv src/old.py src/new.py && ls src"
    told = f"Failed, do not repeat:\n- bash {first} → fatal: no"
    assert failure(first, "fatal: no", later) == f"{told} ⇒ went through: `{later}`"
    assert failure(first, "fatal: no", later, how="exit 1") == told
    assert failure(first, "fatal: no", "ls src/old.py src/new.py") == told
    assert failure(first, "fatal: no", "make src/other.py") == told
    trial = "cd /w && python trial_one.py"
    assert "went" not in failure(trial, "Error: no", "cd /w && python trial_two.py")
    got = failure("MCP-1", "Error: no such issue", "ENT-1", tool="get_issue")
    assert got.endswith("- get_issue MCP-1 → Error: no such issue ⇒ went through: `ENT-1`")


@pytest.mark.parametrize(
    "error",
    ["--- FAIL: TestOne (0.1s)\nFAIL", "src/a.go:3:7: unused x\n[lint] ERROR task failed",
     "CONFLICT (content): Merge conflict in a.go\nAutomatic merge failed", "2 failed, 3 passed"],
)  # fmt: skip
def test_checks_and_merges_are_told_apart_since_they_are_to_be_run_again(error: str) -> None:
    assert failure("make check", error, "ls").startswith(
        "Not through yet when last run:\n- bash make check → "
    )


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("Let me look how tests do this, and at the settings of the other one.", ""),
        ("Good idea. The flag was renamed in the last release. Now I'll use that.",
         " ⇒ The flag was renamed in the last release."),
        ("I need to mend the files of the tests. Let's begin with the first of them.", ""),
    ],
)  # fmt: skip
def test_of_what_was_learnt_no_intention_is_told(said: str, learnt: str) -> None:
    told = lines(
        items("C9!:bash(make); A9 C9; C9", p0="Error: no", p1=said),
        room=Room(story=500, commands=0, prose=0),
    )
    assert told[1] == f"- bash make → Error: no{learnt}"


def test_changed_files_are_told_relative_to_the_workspace_and_folders_by_their_files() -> None:
    given = items("C9:edit(/w/src/a.py) C9:edit(src/b.py) C9:edit(/w/src) C9:edit(/w/src/a.py)")
    gone = [Change(item.unit.part_id, Dropped(), "old", 0, 0) for item in given]
    text = write_note(left_by(given, gone), head=HEAD, room=ROOM, root="/w")
    assert text.splitlines()[1:] == ["Changed: src/a.py, src/b.py"]
