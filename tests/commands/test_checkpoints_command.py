"""`sidecar checkpoints`, `diff` and `restore` as people run them, on sessions that were real."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands.everything import daemon
from tests.e2e.plain import say
from tests.faults.forked import sidecar

pytestmark = pytest.mark.long

BEFORE = "a = 1\nb = 2\nc = 3\nd = 4\n"
LIMIT = 120


@dataclass(frozen=True)
class Past:
    """A session of two turns; between them the user wrote in notes.txt."""

    data: Path
    folder: Path
    session: str

    def run(self, command: str, *arguments: str, **given: Any) -> subprocess.CompletedProcess[str]:
        """Run a command on the session to its end; it must never show a traceback."""
        done = sidecar(
            command, self.session, *arguments, env=environment(self.data), timeout=LIMIT, **given
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def printed(self, command: str, *arguments: str, code: int = 0, **given: Any) -> str:
        done = self.run(command, *arguments, **given)
        assert (done.returncode, done.stderr) == (code, ""), done.stdout
        return done.stdout

    def listed(self) -> Any:
        return json.loads(self.printed("checkpoints", "--json"))

    def files(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.folder.iterdir()}


def environment(data: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "SIDECAR_"))}
    return {**kept, "SIDECAR_DATA_DIR": str(data), "SIDECAR_LOG": "error", "COLUMNS": "120"}


@pytest.fixture
def past(tmp_path: Path) -> Past:
    folder, data = tmp_path / "workspace", tmp_path / "data"
    folder.mkdir()
    (folder / "x.py").write_text(BEFORE)
    (folder / "notes.txt").write_text("notes\n")
    client = daemon(data, environment(data))
    session = client.request("session/new", {"cwd": str(folder)})["sessionId"]
    say(client, session, "create out.txt with `hello`")
    (folder / "notes.txt").write_text("notes\nmine\n")
    say(client, session, "replace `a = 1` with `a = 100` in x.py")
    assert client.stop() == 0, client.stderr
    return Past(data, folder, session)


@contextmanager
def typing(text: str) -> Iterator[int]:
    """Give a terminal in which this has been typed."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, text.encode())
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


def edited(past: Past) -> None:
    """Change another line of what the agent changed."""
    path = past.folder / "x.py"
    path.write_text(path.read_text().replace("d = 4", "d = 44"))


def test_the_timeline_has_turns_files_and_authors(past: Past) -> None:
    lines = past.printed("checkpoints").splitlines()
    assert lines[0].split() == ["#", "when", "turn", "what", "size", "files"]
    first, second, third, fourth = [line.split() for line in lines[1:5]]
    assert (first[0], first[2:]) == ("1", ["1", "create", "out.txt", "with", "`hello`"])
    assert (second[0], second[-5:]) == ("2", ["6", "bytes", "A", "out.txt", "+1"])
    assert (third[0], third[2], third[-3:]) == ("3", "2", ["M", "notes.txt", "+1"])
    assert (fourth[:2], fourth[-4:]) == (["●", "4"], ["M", "x.py", "+1", "-1"])
    assert lines[5:] == [
        "author: agent's tool  user  ",
        "of the agent's work stands: 2 files, +2 -1",
    ]
    doctor = sidecar("doctor", env={**environment(past.data), "COLUMNS": "400"}, timeout=LIMIT)
    assert doctor.returncode == 0
    assert re.search(rf"{past.folder}, \d+ bytes in \d snapshots since ", doctor.stdout)


def test_diffs_can_be_taken_by_patch_and_are_between_any_two(past: Past) -> None:
    everything = past.printed("diff")
    assert sorted(line for line in everything.splitlines() if line[:2] in ("A ", "M ")) == [
        "A out.txt +1  agent's tool",
        "M notes.txt +1  user",
        "M x.py +1 -1  agent's tool",
    ]
    subprocess.run(
        ["patch", "-R", "-p1", "-s"], input=everything, text=True, cwd=past.folder, check=True
    )
    assert past.files() == {"x.py": BEFORE, "notes.txt": "notes\n"}
    assert past.printed("diff", "1", "2").startswith("A out.txt +1  agent's tool\n--- /dev/null\n")
    assert past.printed("diff", "1", "4", "--path", "x.py").startswith(
        "M x.py +1 -1  agent's tool\n"
    )
    nothing = past.run("diff", "1", "2", "--path", "x.py")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "No file changed.\n")
    assert "`sidecar checkpoints` numbers them" in past.printed("diff", "9", code=1)
    end = past.listed()["checkpoints"][1]["checkpointId"][-8:]
    assert past.printed("diff", "1", end) == past.printed("diff", "1", "2")


def test_nothing_is_done_without_a_word_from_the_user(past: Past) -> None:
    before = past.files()
    assert "add --yes" in past.printed("restore", "--last", code=2)
    preview = past.printed("restore", "--last", "--dry-run")
    assert "goes back to before “replace `a = 1` with `a = 100` in x.py”" in preview
    assert "✓ restored  x.py  Again as it was before the agent changed it." in preview
    with typing("n\n") as terminal:
        refused = past.printed("restore", "--last", code=1, stdin=terminal)
    assert refused.endswith("Do it? [y/N] Nothing was touched.\n")
    assert past.files() == before
    assert len(past.listed()["checkpoints"]) == 4


def test_going_back_after_a_yes_and_forth_again(past: Past) -> None:
    before = past.files()
    with typing("y\n") as terminal:
        told = past.printed("restore", "--last", stdin=terminal)
    assert past.files() == {**before, "x.py": BEFORE}
    assert "The prompt that left the conversation:\nreplace `a = 1` with" in told
    checkpoints = past.listed()
    assert [one["left"] for one in checkpoints["checkpoints"]] == [False, False, True, True, True]
    assert checkpoints["head"] == checkpoints["checkpoints"][1]["checkpointId"]
    assert "dim: left, and can be gone back to" in past.printed("checkpoints")
    *_, command = told.split("To take this back: sidecar restore ")
    session, *arguments = command.split()
    assert session == past.session
    assert "✓ restored  x.py" in past.printed("restore", *arguments, "--yes")
    assert past.files() == before
    assert not any(one["left"] for one in past.listed()["checkpoints"][:4])


def test_a_conflict_is_shown_with_both_sides_and_touches_nothing(past: Past) -> None:
    edited(past)
    before = past.files()
    for how, code in (("--yes", 1), ("--dry-run", 1)):
        told = past.printed("restore", "--before", "2", how, code=code)
        assert "✗ conflict  x.py" in told
        assert "x.py, changed by the agent:" in told
        assert "+a = 100" in told.partition("x.py, changed by others since:")[0]
        assert "+d = 44" in told.partition("x.py, changed by others since:")[2]
        assert "--on-conflict keep, overwrite or merge" in told
    assert past.files() == before


def test_a_merge_keeps_what_the_user_did_in_the_same_file(past: Past) -> None:
    edited(past)
    told = past.printed("restore", "--checkpoint", "1", "--on-conflict", "merge", "--yes")
    assert "⇄ merged" in told
    assert past.files() == {"x.py": BEFORE.replace("d = 4", "d = 44"), "notes.txt": "notes\nmine\n"}


def test_only_files_and_only_some(past: Past) -> None:
    told = past.printed(
        "restore", "--checkpoint", "1", "--scope", "files", "--path", "out.txt", "--yes"
    )
    assert "Removed: the agent had made it." in told
    assert "x.py" not in told
    assert past.files() == {
        "x.py": BEFORE.replace("a = 1", "a = 100"),
        "notes.txt": "notes\nmine\n",
    }
    assert not any(one["left"] for one in past.listed()["checkpoints"])


def test_where_there_is_nothing_to_do_each_path_says_why(past: Past) -> None:
    edited(past)
    (past.folder / "out.txt").write_text("mine\n")
    before = past.files()
    wish = ("--before", "1", "--scope", "files", "--on-conflict", "keep")
    told = [past.printed("restore", *wish, asked, code=1) for asked in ("--dry-run", "--yes")]
    assert told[0] == told[1]
    for said in told:
        assert "nothing to do" in said
        rows = [line.split()[:3] for line in said.splitlines() if line.startswith("-")]
        assert rows == [["-", "skipped", name] for name in ("notes.txt", "out.txt", "x.py")]
    assert past.files() == before


def test_what_cannot_be_done_is_said(past: Past) -> None:
    last = ("restore", "--checkpoint", "4", "--scope", "files", "--yes")
    assert "there is nothing to do" in past.printed(*last, code=1)
    assert "There is no turn 7" in past.printed("restore", "--before", "7", "--yes", code=1)
    assert "could be taken back" in past.printed("restore", "--redo", "--yes", code=1)
    for wrong in ((), ("--last", "--before", "1"), ("--redo", "--last")):
        done = past.run("restore", *wrong, "--yes")
        assert done.returncode == 2
        assert "give one of --checkpoint, --before, --last and --redo" in done.stderr
    nobody = Past(past.data, past.folder, "ses_none")
    assert "There is no session whose id is" in nobody.printed("checkpoints", code=1)


def test_a_session_of_another_window_is_left_alone(past: Past) -> None:
    client = daemon(past.data, environment(past.data))
    client.request("session/load", {"sessionId": past.session, "replay": False})
    before = past.files()
    assert "x.py +1 -1" in past.printed("checkpoints")
    told = past.printed("restore", "--last", "--yes", code=1)
    assert "another window" in told
    assert past.files() == before
    assert client.stop() == 0, client.stderr
