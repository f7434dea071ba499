"""A daemon is killed in a restore: the next one, wherever it is used, makes the folder whole."""

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient, popen_of

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent
FILES = 12

DYING = """
import os, signal, sys
from sidecar.daemon.serving import serve_stdio
moved = 0
def listen(event, arguments):
    global moved
    if event == "os.rename" and os.fsencode(arguments[1]).endswith(b".old"):
        moved += 1
        if moved == 6:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(listen)
serve_stdio()
"""
"""A daemon that dies when it has set aside five files of a restore."""

UNDONE = (
    "A restore was broken off when Sidecar stopped. It was taken back: files and conversation are "
    "as before it."
)

Start = Callable[..., PlainClient]


def standing(folder: Path) -> dict[str, str]:
    """Give the files of a folder; what a restore keeps for itself is a folder, and told as such."""
    found = ((name, folder / name) for name in os.listdir(folder))
    return {name: at.read_text() if at.is_file() else "a folder" for name, at in found}


def begin(start: Start, **given: Any) -> PlainClient:
    client = start(env={"PYTHONPATH": str(ROOT)}, **given)
    client.start(model="offline", permissions={"allow": ["write_file"]})
    return client


def leave_half(start: Start, workspace: Path) -> tuple[str, dict[str, str]]:
    """Have a daemon die in a restore; gives the session, and what the files were before it."""
    client = begin(start, spawn=popen_of("-c", DYING))
    session = str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])
    words = " then ".join(f"write file made{n}.txt with text {n}" for n in range(FILES))
    prompt = [{"type": "text", "text": words}]
    turn = client.request("session/prompt", {"sessionId": session, "prompt": prompt})
    before = standing(workspace)
    assert len(before) == FILES + 2
    given = {"sessionId": session, "scope": "both", "beforeMessageId": turn["messageId"]}
    client.send("checkpoint/restore", given)
    client.close()
    assert len(before.keys() - standing(workspace).keys()) == 5
    return session, before


def told(client: PlainClient, session: str) -> list[str]:
    """Load the session; gives what is told then of restores."""
    count = len(client.updates("notice"))
    client.request("session/load", {"sessionId": session, "replay": False})
    # Whatever is told of loading comes before this is answered.
    client.request("daemon/status")
    said = [str(one["message"]) for one in client.updates("notice")[count:]]
    return [one for one in said if "restore" in one]


def test_a_start_elsewhere_makes_it_whole_and_whoever_comes_is_told_once(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    session, before = leave_half(start, workspace)
    other = tmp_path / "other"
    other.mkdir()
    client = begin(start)
    client.request("session/new", {"cwd": str(other)})
    end = monotonic() + LIMIT
    while UNDONE not in client.stderr:
        assert monotonic() < end, client.stderr
        client.request("daemon/status")
    assert standing(workspace) == before
    # While that one lives: who opens the folder in another window is told.
    window = begin(start)
    assert told(window, session) == [UNDONE]
    assert told(window, session) == []
    assert standing(workspace) == before
    window.kill()
    assert told(begin(start), session) == []
    assert f"in {workspace}: {UNDONE}" in client.stderr
