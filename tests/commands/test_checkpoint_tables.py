"""What is drawn of checkpoints, changes and fates, in colour."""

from io import StringIO

from rich.console import Console, RenderableType
from sidecar_client.messages import (
    Checkpoint,
    CheckpointListResult,
    FileChange,
    FileDiff,
    RestoredFile,
    RestoredFiles,
)

from sidecar.commands.checkpoint_tables import (
    MOST_FILES,
    below,
    diff_lines,
    fates,
    heading,
    timeline,
)

DIM, GREEN, RED, YELLOW, MAGENTA = "\x1b[2", "\x1b[32m", "\x1b[31m", "33m", "35m"


def drawn(*what: RenderableType, columns: int = 100, colour: bool = True) -> list[str]:
    file = StringIO()
    system = "standard" if colour else None
    console = Console(file=file, width=columns, force_terminal=colour, color_system=system)  # type: ignore[arg-type] # one of its names
    for one in what:
        console.print(one)
    return file.getvalue().splitlines()


def changed(path: str, author: str, change: str = "modified", **given: str) -> FileChange:
    lines, sizes = {"additions": 1, "deletions": 2}, {"size": 1_500, "size_before": 1_000}
    return FileChange(path=path, change=change, author=author, **lines, **sizes, **given)


def listed(*files: FileChange, left: bool = False, title: str = "Do it") -> CheckpointListResult:
    checkpoint = Checkpoint(
        checkpoint_id="cp_1",
        turn_id="turn_1",
        message_id="msg_1",
        at="2026-01-05T10:00:00Z",
        title=title,
        files=list(files),
        left=left,
    )
    return CheckpointListResult(checkpoints=[checkpoint], head=None if left else "cp_1")


def test_what_cannot_come_back_is_marked() -> None:
    large = changed("large.bin", "shell")
    large.restorable = False
    _, line = drawn(timeline(listed(large, changed("b", "tool"))), colour=False)
    first, second = line.split(", ")
    assert first.endswith("large.bin +1 -2 (not restorable)")
    assert "restorable" not in second


def test_authors_have_colours_and_what_was_left_is_dim() -> None:
    files = [changed("a", "user"), changed("b", "tool"), changed("c", "shell")]
    _, line = drawn(timeline(listed(*files)))
    mine, agents, shells = line.split(", ")
    assert "32mM " in mine
    assert MAGENTA in agents
    assert YELLOW in shells
    assert "●" in line
    assert DIM not in line
    _, left = drawn(timeline(listed(*files, left=True)))
    assert left.startswith(DIM)
    assert "●" not in left
    assert "dim: left" in "".join(drawn(*below(listed(*files, left=True))))


def test_many_files_and_long_prompts_stay_readable() -> None:
    files = [changed(f"f{n}", "tool") for n in range(MOST_FILES + 3)]
    words = "word " * 30
    head, *lines = drawn(timeline(listed(*files, title=words)), columns=80, colour=False)
    assert head.split() == ["#", "when", "turn", "what", "size", "files"]
    assert " ".join(lines).split()[-3:] == ["and", "3", "more"]
    assert max(map(len, lines)) <= 80
    assert "…" in lines[0]


def test_sizes_are_those_of_what_stands_or_went() -> None:
    gone = changed("a", "tool", "deleted")
    gone.size = 0
    for files, told in (([changed("a", "tool")] * 2, "3.0 kB"), ([gone], "-1.0 kB"), ([], "")):
        _, line = drawn(timeline(listed(*files)), colour=False)
        assert (told in line) if told else ("kB" not in line)


def test_a_rename_and_a_mode() -> None:
    files = [
        changed("new", "tool", "renamed", renamed_from="old"),
        changed("run", "user", "mode"),
    ]
    [_, line] = drawn(timeline(listed(*files)), colour=False)
    assert "R old → new +1 -2, mode run +1 -2" in line


def test_what_files_hold_cannot_steer_the_terminal() -> None:
    lines = drawn(*diff_lines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+\x1b[2Jnew\r\n"))
    assert lines[3:] == [f"{RED}-old\x1b[0m", f"{GREEN}+␛[2Jnew␍\x1b[0m"]
    file = RestoredFile(path="a\x1b]0;b", reason="Removed.")
    found = RestoredFiles(restored=[file], merged=[], skipped=[], conflicts=[file])
    told = drawn(fates(found), colour=False)
    assert [line.split()[:3] for line in told] == [
        ["✓", "restored", "a␛]0;b"],
        ["✗", "conflict", "a␛]0;b"],
    ]


def test_a_diff_is_headed_by_all_who_changed_the_file() -> None:
    about = {"path": "a", "change": "modified", "diff": "", "additions": 1, "deletions": 0}
    (line,) = drawn(heading(FileDiff(**about, author="several", authors=["user", "shell"])))
    yours, shells = line.split(", ")
    assert GREEN in yours
    assert YELLOW in shells
    assert "agent's shell" in shells
    (line,) = drawn(heading(FileDiff(**about, author="unknown", authors=["unknown"])))
    assert "a command, or the user" in line
