"""Changes that git took back before they were committed, which no list of changed files names."""

import pytest

from sidecar.core.ledger.net_changes import net_changes, net_files
from sidecar.core.sights.spelling import changes_of
from tests.core.sights.calls import edit, ended, heard, unit_of

EDITS = (edit("/w/src/a.py", "a", "b"), ended("Write", {"file_path": "/w/new.py", "content": "n"},
    "created"), edit("/w/c.py", "c", "d"))  # fmt: skip


def changed(*commands: str, before: str = "true") -> list[str]:
    """Names of files that differ after the edits and these commands, the first between them."""
    shell = [ended("bash", {"command": one, "workdir": "/w"}) for one in (before, *commands)]
    parts = (EDITS[0], shell[0], *EDITS[1:], *shell[1:])
    units = [unit_of(part, step) for step, part in enumerate(parts)]
    return list(net_files(deeds for _, deeds in changes_of(units, "/w")))


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("git checkout -- src/a.py c.py", ["new.py"]),
        ("git checkout HEAD -- src c.py", ["new.py"]),
        ("cd src && git checkout a.py", ["new.py", "c.py"]),
        ("git -C /w restore src", ["new.py", "c.py"]),
        ("git restore --staged --worktree c.py", ["src/a.py", "new.py"]),
        ("git checkout -- .", ["new.py"]),
        ("git reset --hard HEAD && git status", ["new.py"]),
        ("git stash", ["new.py"]),
        ("git stash drop", ["src/a.py", "new.py", "c.py"]),
        ("git restore --staged c.py", ["src/a.py", "new.py", "c.py"]),
        ("git checkout main", ["src/a.py", "new.py", "c.py"]),
        ("git checkout main -- c.py", ["src/a.py", "new.py", "c.py"]),
        ("git checkout --theirs c.py", ["src/a.py", "new.py", "c.py"]),
        ("git checkout -- '*.py'", ["src/a.py", "new.py", "c.py"]),
        ("git stash; make; git stash pop", ["src/a.py", "new.py", "c.py"]),
        ("git checkout -- new.py", ["src/a.py", "c.py"]),
    ],
)
def test_changes_that_git_took_back_are_told_no_more(command: str, left: list[str]) -> None:
    assert changed(command) == left


def test_changes_that_were_committed_stay() -> None:
    assert changed("git checkout -- .", before="git add -A && git commit -qm x") == [
        "src/a.py",
        "new.py",
    ]


def test_a_commit_that_is_only_written_about_keeps_no_change() -> None:
    assert changed("git checkout -- .", before="echo 'git commit follows'") == ["new.py"]


def test_changes_come_back_out_of_a_stash() -> None:
    assert changed("git stash", "git checkout -- c.py", "git stash pop") == [
        "src/a.py",
        "new.py",
        "c.py",
    ]


def test_changes_below_a_worktree_that_was_removed_are_told_no_more() -> None:
    made = ended("Write", {"file_path": "/w/tree/a.py", "content": "a\nb"}, "created")
    gone = ended("bash", {"command": "git worktree remove ../tree", "workdir": "/w/main"})
    kept = edit("/w/main/c.py", "c", "d")
    units = [unit_of(part, step) for step, part in enumerate((made, kept, gone))]
    assert net_files(deeds for _, deeds in changes_of(units)) == {
        "/w/main/c.py": "Changed",
        "/w/tree": "Deleted",
    }
    hunks = net_changes((unit.part_id, one) for unit in units for one in unit.replaced)
    assert [path for path in hunks if hunks[path]] == ["/w/main/c.py"]
    assert [path for path, _ in heard(made, gone).changed()] == []
