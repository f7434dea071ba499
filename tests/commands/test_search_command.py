"""`sidecar sessions --search` beside a daemon."""

import subprocess
import sys
from pathlib import Path

from tests.e2e.desk import Desk
from tests.fakes.messages_api import text


def found(data: Path, *arguments: str) -> tuple[int, list[str]]:
    """The command's code, and the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "sidecar", "sessions", *arguments],
        env={"SIDECAR_DATA_DIR": str(data), "HOME": str(data), "PATH": "", "COLUMNS": "200"},
        cwd=data,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_sessions_are_found_by_words_with_what_stands_around(desk: Desk, data: Path) -> None:
    made = []
    for words in ("Find the needle.", "Find the hay.", "A needle, again?"):
        desk.open()
        desk.api.script(text("Here is it: \x1b[2J a needle in hay."))
        desk.say(words)
        made.append(desk.session)
    code, lines = found(data, "--search", "NEEDLE find")
    assert code == 0
    assert lines[0].split()[0] == made[0]
    _, listed = found(data)
    assert lines[0].split()[:3] in [line.split()[:3] for line in listed]
    assert lines[1:] == ["Find the needle.", "  user: Find the needle."]
    _, lines = found(data, "--search", '"needle in"', "--limit", "2")
    assert [line.split()[0] for line in lines if line.startswith("ses_")] == [made[2], made[1]]
    assert lines.count("  agent: Here is it: ␛[2J a needle in hay.") == 2
    assert found(data, "--search", "nowhere") == (
        1,
        ["No session has all of these words in one of its texts."],
    )
    assert found(data, "--search", "needle", "--here")[0] == 1
    assert found(data, "--search", "x" * 1001) == (1, ["a query has 1 to 1000 characters"])
