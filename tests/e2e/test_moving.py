"""Sessions that go from one data folder to another, through real daemons and by kill."""

import base64
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk, Start, bare
from tests.e2e.lines import LineClient
from tests.e2e.plain import LIMIT, PlainClient, Refused, Spawn, each_ending_well
from tests.e2e.test_fork_and_handoff import problems
from tests.fakes.messages_api import text

pytestmark = pytest.mark.long

INVALID = -32602
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()


@pytest.fixture
def elsewhere(tmp_path: Path, spawn: Spawn | None) -> Iterator[Start]:
    """Start daemons over another, fresh data folder."""
    made = partial(PlainClient, tmp_path / "elsewhere", spawn=spawn)
    with each_ending_well(made) as begin:
        yield begin


@pytest.fixture(autouse=True)
def own_prompt(desk: Desk) -> None:
    """Have the daemon's own system prompt: a bundle brings none elsewhere."""
    desk.system = ""


def there(desk: Desk, elsewhere: Start, workspace: Path, path: str) -> Desk:
    """Take a bundle in where nothing is known of it; gives a desk with its session."""
    other = Desk(elsewhere, desk.api, workspace)
    other.steps = desk.steps
    made = other.client.request("session/import", {"path": path, "cwd": str(workspace)})
    other.session = made["sessionId"]
    other.client.answers["session/request_permission"] = lambda asked: {
        "outcome": {"outcome": "selected", "optionId": "allow_once"}
    }
    return other


def replayed(desk: Desk) -> list[Any]:
    """What a client that loads the session is shown of its history."""
    before = len(desk.client.updates())
    desk("session/load")
    shown = desk.client.updates()[before:]
    for update in shown:
        about = update["_meta"]["sidecar"]
        about.pop("seq")
        about.pop("revision", None)
        # The tool is the editor's own: taken in, it asks as what runs something does.
        update.pop("kind", None)
    return shown


def asked(desk: Desk, words: str) -> Any:
    """Give a prompt and give the request that the API saw."""
    desk.api.script(text("So it is."))
    assert desk.say(words)["stopReason"] == "end_turn"
    return desk.api.requests[-1].body


def test_a_session_goes_on_elsewhere_as_if_it_had_stayed(
    desk: Desk, elsewhere: Start, workspace: Path, tmp_path: Path
) -> None:
    desk.open(title="Look around")
    desk.work(3, 4)
    assert desk.compact("economic")
    desk.work(1, 2)
    done = desk("session/export", path=str(tmp_path / "moved.sidecar"))
    assert Path(done["path"]).stat().st_size == done["size"]
    assert done["redacted"] == 0
    shown, meter = replayed(desk), desk("context/meter")
    desk.client.kill()
    other = there(desk, elsewhere, workspace, done["path"])
    assert replayed(other) == shown
    for name in ("used", "regions", "window", "turns"):
        assert other("context/meter").get(name) == meter.get(name)
    (line,) = other.client.request("session/list", {})["sessions"]
    assert (line["title"], line["turns"]) == ("Look around", 4)
    sent = asked(other, "And what now?")
    desk.client = desk.daemon()
    desk("session/load", replay=False)
    # The hosted model has a cache of its own account: where the marks stand is the same, too.
    assert asked(desk, "And what now?") == sent
    other.work(1, 1)
    other.check()
    assert problems(tmp_path / "elsewhere") == ()


def test_what_was_left_out_is_recalled_and_undone_elsewhere(
    desk: Desk, elsewhere: Start, workspace: Path
) -> None:
    desk.open()
    desk.work(3, 4)
    whole, done = desk.shown(), desk.compact("economic")
    listed = desk("context/recall", partId=done["compactionId"])
    other = there(desk, elsewhere, workspace, desk("session/export")["path"])
    assert other("context/recall", partId=done["compactionId"]) == listed
    other("context/undoCompaction", compactionId=done["compactionId"])
    assert other.shown() == whole


def test_a_bundle_is_taken_in_as_often_as_it_is_given(desk: Desk, workspace: Path) -> None:
    desk.open()
    desk.work(1, 2)
    path, cwd = desk("session/export")["path"], str(workspace)
    ids = {
        desk.client.request("session/import", {"path": path, "cwd": cwd})["sessionId"]
        for _ in range(3)
    }
    assert len(ids | {desk.session}) == 4
    lines = desk.client.request("session/list", {"cwd": cwd})["sessions"]
    assert {line["sessionId"] for line in lines} == ids | {desk.session}
    before = desk.shown()
    for desk.session in ids:
        assert desk.shown() == before


CLAUDE_CODE = [
    {
        "type": "user", "uuid": "u1", "sessionId": "s", "timestamp": "2026-01-01T10:00:00Z",
        "message": {"role": "user", "content": "What is in the notes?"},
    },
    {
        "type": "assistant", "uuid": "u2", "sessionId": "s", "timestamp": "2026-01-01T10:00:01Z",
        "message": {
            "id": "m1", "model": "claude-x", "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "I should look.", "signature": "theirs"},
                {"type": "tool_use", "id": "t.1", "name": "mcp:read file", "input": {"p": "n"}},
                {"type": "tool_use", "id": "t.2", "name": "Read", "input": {"p": "m"}},
            ],
        },
    },
    {
        "type": "user", "uuid": "u3", "sessionId": "s", "timestamp": "2026-01-01T10:00:02Z",
        "message": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result", "tool_use_id": "t.1",
                    "content": [
                        {"type": "text", "text": "alpha it says"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                    ],
                }
            ],
        },
    },
    {
        "type": "assistant", "uuid": "u4", "sessionId": "s", "timestamp": "2026-01-01T10:00:03Z",
        "message": {"id": "m2", "model": "x", "content": [{"type": "text", "text": "Alpha."}]},
    },
]  # fmt: skip


@pytest.mark.parametrize("by", ["path", "content"])
@pytest.mark.parametrize("named", [True, False])
def test_another_agents_session_goes_on_here(
    desk: Desk, workspace: Path, tmp_path: Path, by: str, named: bool
) -> None:
    recording = "".join(json.dumps(line) + "\n" for line in [*CLAUDE_CODE, "no object"])
    (tmp_path / "theirs.jsonl").write_text(recording)
    given: dict[str, Any] = {"format": "claude-code"} if named else {}
    given |= {"path": str(tmp_path / "theirs.jsonl")} if by == "path" else {"content": recording}
    made = desk.client.request("session/import", {**given, "cwd": str(workspace)})
    assert made["format"] == "claude-code"
    assert "not an object" in made["notes"][0]
    desk.session = made["sessionId"]
    (line,) = desk.client.request("session/list", {})["sessions"]
    assert (line["title"], line["turns"], line["cost"]) == ("What is in the notes?", 1, "0")
    shown = [update["sessionUpdate"] for update in replayed(desk)]
    assert shown.count("tool_call") == 2
    body = asked(desk, "Are you sure?")
    assert "alpha it says" in bare(body)
    assert "theirs" not in bare(body)
    assert PNG in bare(body)
    found = desk("checkpoint/list")["checkpoints"]
    assert [one["title"] for one in found] == ["What is in the notes?", "Are you sure?"]
    done = desk("checkpoint/restore", checkpointId=found[1]["checkpointId"], scope="conversation")
    assert done["restoredPrompt"] == "Are you sure?"
    desk.again()
    assert asked(desk, "And now?")["messages"][:3] == body["messages"][:3]
    desk.check()


def test_what_cannot_be_taken_in_is_said_and_leaves_nothing(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    client = start()
    client.start(model="offline")
    cwd = str(workspace)
    made = client.request("session/new", {"cwd": cwd})["sessionId"]
    # What is in the data folder would go with the session.
    asked = {"sessionId": made, "path": str(tmp_path)}
    path = Path(client.request("session/export", asked)["path"])
    client.request("session/delete", {"sessionId": made})
    (tmp_path / "odd").write_text("no recording\n")
    (tmp_path / "torn").write_bytes(path.read_bytes()[:-20])
    (tmp_path / "empty").write_bytes(b"")
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"path": str(tmp_path / "none"), "cwd": cwd}, "params.path", "No such file"),
        ({"path": cwd, "cwd": cwd}, "params.path", "is a folder"),
        ({"path": str(tmp_path / "odd"), "cwd": cwd}, "params.path", "no recording"),
        ({"path": str(tmp_path / "empty"), "cwd": cwd}, "params.path", "no recording"),
        ({"path": str(tmp_path / "torn"), "cwd": cwd}, "params.path", "copy the file again"),
        ({"path": str(tmp_path / "data/store.db"), "cwd": cwd}, "params.path", "sidecar export"),
        ({"path": str(path), "cwd": "/none"}, "params.cwd", "not an existing folder"),
        ({"path": str(path)}, "params.cwd", "say in cwd"),
        ({"path": str(path), "content": "x", "cwd": cwd}, "params.path", "one of path and content"),
        ({"cwd": cwd}, "params.path", "one of path and content"),
        ({"content": "{}", "format": "sidecar", "cwd": cwd}, "params.format", "no bundle"),
        ({"path": str(path), "format": "codex", "cwd": cwd}, "params.path", "packed"),
        ({"content": "x", "format": "unheard", "cwd": cwd}, "params.format", "unheard"),
    ]
    for params, where, why in cases:
        with pytest.raises(Refused, match=why) as refused:
            client.request("session/import", params)
        assert (refused.value.code, refused.value.data["path"]) == (INVALID, where), params
    assert client.request("session/list", {})["sessions"] == []


def test_a_session_is_exported_and_imported_over_acp(
    tmp_path: Path, workspace: Path, spawn: Spawn | None
) -> None:
    with each_ending_well(partial(LineClient, tmp_path / "data", spawn=spawn)) as begin:
        client = begin()
        client.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        about = {"cwd": str(workspace), "mcpServers": []}
        made = client.request("session/new", about)["sessionId"]
        done = client.request("_sidecar/session/export", {"sessionId": made})
        taken = client.request("_sidecar/session/import", {"path": done["path"]})
        assert taken["sessionId"] != made
        client.request("session/load", {"sessionId": taken["sessionId"], **about})
        prompt = [{"type": "text", "text": "Hello"}]
        params = {"sessionId": taken["sessionId"], "prompt": prompt}
        assert client.request("session/prompt", params)["stopReason"] == "end_turn"


@pytest.mark.parametrize("seed", range(4))
def test_kill_leaves_whole_sessions_and_whole_bundles(
    start: Start, workspace: Path, tmp_path: Path, seed: int
) -> None:
    client, chance = start(), random.Random(seed)
    client.start(model="offline")
    first = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    words = " and ".join(f"say word{n} " * 40 for n in range(20))
    prompt = {"sessionId": first, "prompt": [{"type": "text", "text": words}]}
    assert client.request("session/prompt", prompt)["stopReason"] == "end_turn"
    before = bare(client.request("context/preview", {"sessionId": first})["request"])
    path = client.request("session/export", {"sessionId": first})["path"]
    acknowledged: list[str] = []
    written: list[str] = []
    enough, sending = threading.Event(), threading.Lock()

    def ask(method: str, **params: Any) -> Any:
        with sending:
            asked = client.send(method, params)
        return client.result(asked)

    def again_and_again(act: Callable[[], None]) -> None:
        with suppress(Exception):
            while True:
                act()
                if len(acknowledged) > seed:
                    enough.set()

    def take() -> None:
        made = ask("session/import", path=path, cwd=str(workspace))
        acknowledged.append(made["sessionId"])

    def write() -> None:
        target = str(tmp_path / f"{len(written)}.sidecar")
        ask("session/export", sessionId=first, path=target)
        written.append(target)

    busy = [
        threading.Thread(target=again_and_again, args=(act,), daemon=True) for act in (take, write)
    ]
    for thread in busy:
        thread.start()
    assert enough.wait(LIMIT)
    time.sleep(chance.random() * 0.05)
    client.kill()
    again = start()
    again.start(model="offline")
    ids = {line["sessionId"] for line in again.request("session/list", {})["sessions"]}
    assert ids >= {first, *acknowledged}
    for session_id in ids:
        assert (
            bare(again.request("context/preview", {"sessionId": session_id})["request"]) == before
        )
    found = set(map(str, tmp_path.glob("*.sidecar")))
    assert found >= {*written}
    for target in found:
        again.request("session/import", {"path": target, "cwd": str(workspace)})
    assert again.stop() == 0
    assert problems(tmp_path / "data") == ()
