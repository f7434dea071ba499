"""The first requests of an ACP client, which may name no folder, and its slow terminals."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient, allow, dismiss
from tests.e2e.plain import each_ending_well
from tests.e2e.resident import until

pytestmark = pytest.mark.long

FIRST = {
    "none": [],
    "authenticate": [("authenticate", {"methodId": "api-key"})],
    "session/list": [("session/list", {})],
    "status": [("_sidecar/daemon/status", {})],
}
"""Requests before the first session, as some clients send them."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Any], LineClient]]:
    """Start daemons in the parent folder of all projects."""

    def spawn(env: dict[str, str]) -> Any:
        words = [sys.executable, "-P", "-m", "sidecar", "serve", "--stdio", "--alone"]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=tmp_path)

    with each_ending_well(partial(LineClient, tmp_path / "data", spawn=spawn)) as begin:
        yield lambda answers: begin(answers=answers)


@pytest.mark.parametrize("first", FIRST)
def test_the_first_folder_that_is_named_is_the_windows(
    start: Callable[[Any], LineClient], tmp_path: Path, workspace: Path, first: str
) -> None:
    """Its rules count, and the client's word of trust is about it alone."""
    (workspace / ".sidecar").mkdir()
    (workspace / ".sidecar/config.toml").write_text('permissions.reject = ["shell:touch made"]\n')
    clone = tmp_path / "clone"
    clone.mkdir()
    client = start({"session/request_permission": dismiss})
    client.start(permissions={"allow": ["shell:touch *"]})
    for method, params in FIRST[first]:
        client.request(method, params)
    session = client.open(workspace)
    client.say(session, "run `touch made`")
    client.say(session, "run `touch other`")
    assert not (workspace / "made").exists()
    assert (workspace / "other").exists()
    client.say(client.open(clone), "run `touch made`")
    assert not (clone / "made").exists()
    (asked,) = client.requests
    assert "Trust the folder" in asked["params"]["toolCall"]["title"]


def test_a_command_that_the_client_began_late_is_ended(
    start: Callable[[Any], LineClient], workspace: Path
) -> None:
    begun, cancelled = threading.Event(), threading.Event()
    asked: list[str] = []

    def create(_: Any) -> Any:
        begun.set()
        assert cancelled.wait(30)
        return {"terminalId": "late"}

    def note(method: str, params: Any) -> Any:
        asked.append(f"{method} {params['terminalId']}")
        return {}

    ends = {name: partial(note, name) for name in ("terminal/kill", "terminal/release")}
    client = start({"session/request_permission": allow, "terminal/create": create, **ends})
    client.start({"terminal": True}, permissions={"allow": ["shell"]})
    session = client.open(workspace)
    prompt = [{"type": "text", "text": "run `sleep 100`"}]
    turn = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    assert begun.wait(30)
    client.notify("session/cancel", {"sessionId": session})
    assert client.result(turn)["stopReason"] == "cancelled"
    cancelled.set()
    until(lambda: len(asked) == 2)
    assert asked == ["terminal/kill late", "terminal/release late"]
