"""What a gap says of which nothing else is told: its last calls, and how they ended."""

from dataclasses import replace

import pytest

from tests.core.plans.test_story import ran, told
from tests.core.policies.situations import history


@pytest.mark.parametrize(
    ("status", "text", "ended"),
    [
        ("ok", "a\nb\n\nc", "3 lines"),
        ("ok", "x" * 300, "1 line"),
        ("ok", "a\nb\n12 passed in 3s", "12 passed"),
        ("ok", "Exit code: 0\nWall time: 2 s\nOutput:\nall is well", "all is well"),
        ("ok", "<output>\n</output>", "no output"),
        ("exit 1", "", "nothing found"),
        ("interrupted", "[Request interrupted by user]", "broken off"),
        ("running", "", "still running"),
    ],
)
def test_a_gap_of_which_nothing_is_told_says_how_its_last_calls_ended(
    status: str, text: str, ended: str
) -> None:
    talk = history("U9 C9:bash(git-log) U9 C9; C9")
    talk[1] = replace(
        talk[1],
        unit=replace(
            talk[1].unit, status=status, held=text, running=status == "running", argument="git log"
        ),
    )
    assert told(talk, ["p3", "p4"]) == {"user2": f"[⋯ 1 call: `git log` → {ended}]"}


def test_of_gaps_one_call_and_end_is_told_once_and_a_search_by_its_pattern() -> None:
    talk = history("U9 C9:grep(src); C8; C9:grep(src); C8; C9:bash(git) U9 C9; C9")
    for number in (1, 3):
        unit = replace(talk[number].unit, call="def \\w+\nsrc", held="a\nb")
        talk[number] = replace(talk[number], unit=unit)
    talk[5] = ran(talk[5], "git -C /long/folder/of/a/workspace status", "clean")
    assert told(talk, ["p2", "p4", "p7", "p8"]) == {
        "answer1": "[⋯ 1 call: grep def \\w+ → 2 lines]",
        "answer3": "[⋯ 1 call]",
        "user2": "[⋯ 1 call: `git status` → clean]",
    }


def test_a_call_that_failed_is_named_with_its_exit() -> None:
    talk = history("U9 C9!:bash(ls) U9 C9; C9")
    talk[1] = replace(talk[1], unit=replace(talk[1].unit, status="exit 2"))
    assert told(talk, ["p3", "p4"]) == {"user2": "[⋯ 1 call: `ls` → exit 2]"}


@pytest.mark.parametrize(
    ("command", "output", "lines"),
    [
        (
            "git stash push -m x && go build ./...; S=$?; git stash pop; exit $S",
            "Exit code 1\nSaved working directory and index state On b: x\n"
            "a.go:2:1: undefined: id\nOn branch b\nDropped refs/stash@{0} (f7594ad198)",
            [
                "- ran `git stash push -m x`",
                "- ran `git stash pop` "
                "(of the same command failed: exit 1: a.go:2:1: undefined: id)",
            ],
        ),
        (
            "git add a.go && git commit -m 'Mend a' && git push",
            "[b be937de0] Mend a\n 1 file changed\nerror: failed to push some refs to 'x'",
            [
                "- committed be937de0: Mend a "
                "(of the same command failed: error: failed to push some refs to 'x')",
            ],
        ),
        (
            "git switch main && git pull origin main",
            "Switched to branch 'main'\nfatal: Not possible",
            ["- ran `git switch main` (of the same command failed: fatal: Not possible)"],
        ),
    ],
)
def test_of_a_command_that_failed_in_part_is_told_what_git_says_that_it_did(
    command: str, output: str, lines: list[str]
) -> None:
    talk = history("U9 C9!:bash(git) U9 C9; C9")
    talk[1] = replace(talk[1], unit=replace(talk[1].unit, status="failed"))
    talk[1] = ran(talk[1], command, output)
    assert told(talk, ["p3", "p4"])["user2"].splitlines() == ["[⋯ 1 call:]", *lines]
    talk[1] = ran(talk[1], command, "fatal: not a git repository")
    [line] = told(talk, ["p3", "p4"])["user2"].splitlines()
    assert line == f"[⋯ 1 call: `{command[:35]}…` → failed: fatal: not a git repository]"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("cat > a.md <<'EOF'\nUse git commit when able.\nEOF", "[⋯ 1 call: {}]"),
        ("bash <<'EOF'\ngit commit -m 'Mend a'\nEOF", "- committed: Mend a"),
        ("bash -c \"git commit -m 'Mend a'\"", "- committed: Mend a"),
        ("bd note a 'git push and git commit'", "- ran `bd note a 'git push and git commit'`"),
        ("# no git push\nbd note a 'it is'", "- ran `# no git push bd note a 'it is'`"),
    ],
)
def test_what_is_only_written_about_git_is_no_step_of_git_s(command: str, line: str) -> None:
    talk = history("U9 C9:bash U9 C9; C9")
    talk[1] = ran(talk[1], command, "")
    shown = f"`{' '.join(command.split())[:35]}…` → no output"
    assert told(talk, ["p3", "p4"])["user2"].splitlines()[-1] == line.format(shown)


@pytest.mark.parametrize(
    ("command", "output", "line"),
    [
        (
            "gh issue create --title 'A b'",
            "https://x/9",
            "gh issue create --title 'A b'` → https://x/9",
        ),
        (
            "cat > b.md <<'E'\nhi\nE\nbd create -f b.md",
            "av-1 made",
            "bd create -f b.md` → av-1 made",
        ),
        ("tmux kill-session -t old", "", "tmux kill-session -t old`"),
        ("cd /w && bd close av-1", "", "bd close av-1`"),
        ("kill 77", "", "kill 77`"),
        ("bd close a", "Process running with session ID 7", "bd close a`"),
        ("bd dep remove a b", "a", ""),
        ("bd create --help", "a\nb", ""),
        ("rg create src", "a\nb", ""),
        ("bd note 'gh issue create'", "a", ""),
        ("python close.py", "a", ""),
    ],
)
def test_what_a_command_made_or_ended_is_told_before_what_answers_leave_no_room_for(
    command: str, output: str, line: str
) -> None:
    talk = history("U9 C9:bash; C9:bash U9 C9; C9")
    talk[1] = ran(talk[1], command, output)
    talk[2] = ran(talk[2], "poll", "a thing that is of no matter at all")
    text = told(talk, ["p4", "p5"], room=24)["user2"]
    assert [one for one in text.splitlines()[1:] if "poll" not in one] == [f"- ran `{line}"] * bool(
        line
    )
