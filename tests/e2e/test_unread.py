"""Slips of the pen: fields and options that nobody reads are told, once, with what was meant."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.wire.messages import SessionNewParams
from sidecar.wire.unread_fields import unread
from tests.e2e.lines import LineClient
from tests.e2e.plain import PlainClient, Refused, Spawn

Start = Callable[..., PlainClient]
PROMPT = [{"type": "text", "text": "list files", "annotations": {}}]


def logged(client: PlainClient) -> list[str]:
    found = [n["params"] for n in client.notifications if n["method"] == "window/logMessage"]
    assert all(one["type"] == 2 for one in found)
    return [one["message"] for one in found]


def test_an_editor_is_told_once_of_what_nobody_reads(start: Start, workspace: Path) -> None:
    client = start()
    options = {"model": "offline", "workspaceTrusted": True, "polcy": "manual", "keepAlive": True}
    options["config"] = {"maxTokns": 1000, "max_steps": 9}
    ours = {"requestPermision": True, "_theirs": 1, "fs": {"readTextFil": True}}
    lsp = {"workspace": {"somethingNew": True}, "experimental": {"sidecar": ours, "other": {}}}
    params = {"capabilities": lsp, "initializationOptions": options, "clientThing": 1}
    client.request("initialize", params)
    client.notify("initialized")
    tool = {"name": "look", "description": "", "inputSchema": {"x": 1}, "readonly": True}
    given = {"cwd": str(workspace), "tools": [tool], "windw": 60_000, "_meta": {"any": 1}}
    session = client.request("session/new", given)["sessionId"]
    for _ in range(3):
        about = {"sessionId": session, "prompt": PROMPT, "expectedRevison": 1, "context": {"x": 1}}
        client.request("session/prompt", about)
    with pytest.raises(Refused, match="sessionId"):
        client.request("session/prompt", {"sesionId": session, "prompt": PROMPT})
    told = [line.removeprefix("Sidecar: ") for line in logged(client)]
    assert told == [
        "capabilities.experimental.sidecar: 'requestPermision' is no field of it and is ignored. "
        "Did you mean `requestPermission`?",
        "capabilities.experimental.sidecar: fs: 'readTextFil' is no field of it and is ignored. "
        "Did you mean `readTextFile`?",
        "initializationOptions: maxTokns: is not a setting. Did you mean `maxTokens`?",
        "initializationOptions: polcy: is not a setting. Did you mean `policy`?",
        "session/new: 'windw' is no field of it and is ignored. Did you mean `window`?",
        "session/new: tools: 'readonly' is no field of it and is ignored. Did you mean `readOnly`?",
        "session/prompt: 'expectedRevison' is no field of it and is ignored. Did you mean "
        "`expectedRevision`?",
        "session/prompt: 'sesionId' is no field of it and is ignored. Did you mean `sessionId`?",
    ]


def test_over_acp_the_log_is_told_and_other_peoples_fields_are_left_alone(
    tmp_path: Path, workspace: Path, spawn: Spawn | None
) -> None:
    client = LineClient(tmp_path / "data", spawn=spawn)
    client.start({"fs": {"readTextFile": False, "newer": 1}, "newest": {}}, polcy="manual")
    meta = {"sidecar": {"windw": 60_000}, "theirs": {}}
    session = client.open(workspace, newField=1, _meta=meta)
    about = {"sessionId": session, "prompt": PROMPT, "newField": 1}
    client.request("session/prompt", about)
    client.request("_sidecar/context/meter", {"sessionId": session, "sesion": 1})
    assert client.stop() == 0
    told = [line for line in client.stderr.splitlines() if "Did you mean" in line]
    assert len([line for line in told if "configuration:" not in line]) == 3
    assert "_meta.sidecar: 'windw' is no field" in client.stderr
    assert "_sidecar/context/meter: 'sesion' is no field" in client.stderr
    assert "polcy: is not a setting. Did you mean `policy`?" in client.stderr
    assert "newField" not in client.stderr
    assert "newest" not in client.stderr
    assert not [n for n in client.notifications if n["method"].startswith("window/")]


def test_however_many_there_are_few_are_told(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline")
    for round_ in range(5):
        odd = {f"field{round_}{n}" + "x" * 1000: n for n in range(2000)}
        client.request("session/list", {"cwd": str(workspace), **odd})
    told = logged(client)
    assert 0 < len(told) <= 100
    assert max(map(len, told)) < 300


def test_right_params_are_not_complained_of() -> None:
    right = {"cwd": "/x", "mcpServers": [{"name": "a", "command": "b", "env": []}], "_meta": {}}
    assert list(unread("session/new", right, SessionNewParams)) == []
    assert list(unread("session/new", None, SessionNewParams)) == []
    assert list(unread("other", {"a": 1}, None)) == []
