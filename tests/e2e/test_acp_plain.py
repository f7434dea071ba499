"""The agent face, by a client that knows nothing of us: JSON lines over a pipe."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient, allow, dismiss
from tests.e2e.plain import Refused, Spawn, each_ending_well

pytestmark = pytest.mark.long

PNG = "iVBORw0KGgoAAAANSUhEUgAAAGQAAABkCAYAAAA="
"""The beginning of a picture of 100 pixels by 100, which is all that is looked at."""

Start = Callable[..., LineClient]


@pytest.fixture
def start(tmp_path: Path, spawn: Spawn | None) -> Iterator[Start]:
    """Start daemons over one store; what a test leaves running must end cleanly."""
    with each_ending_well(partial(LineClient, tmp_path / "data", spawn=spawn)) as begin:
        yield begin


@pytest.fixture
def client(start: Start) -> LineClient:
    made = start(answers={"session/request_permission": allow})
    made.start()
    return made


def refusal(client: LineClient, method: str, **params: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        client.request(method, params)
    return refused.value


def test_initialize_says_what_there_is(start: Start) -> None:
    told = start().start()
    can = told["agentCapabilities"]
    assert told["protocolVersion"] == 1
    assert told["agentInfo"]["name"] == "sidecar"
    assert can["loadSession"] is True
    assert set(can["sessionCapabilities"]) == {"list", "resume", "fork", "close", "delete"}
    assert "_sidecar/context/meter" in can["_meta"]["sidecar"]["methods"]


def test_a_first_folder_that_no_system_has_spoils_nothing_for_the_next(
    client: LineClient, workspace: Path
) -> None:
    for folder in ("/a\0b", "/\ud800"):
        refused = refusal(client, "session/new", cwd=folder, mcpServers=[])
        assert (refused.code, refused.data["kind"]) == (-32602, "bad_request")
    assert client.open(workspace)


def test_a_folder_that_only_a_list_named_is_not_the_windows(start: Start, tmp_path: Path) -> None:
    """What the client says of trust would count for all that lies below."""
    client = start(answers={"session/request_permission": dismiss})
    client.start(permissions={"allow": ["shell"]})
    client.request("session/list", {"cwd": str(tmp_path / "projects")})
    for name in ("one", "two"):
        folder = tmp_path / "projects" / name
        folder.mkdir(parents=True)
        client.say(client.open(folder), "run `touch made`")
    assert (tmp_path / "projects/one/made").exists()
    assert not (tmp_path / "projects/two/made").exists()


def test_a_turn_streams_asks_and_edits(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace)
    told = client.wait_for_update("available_commands_update")
    assert {"compact", "context"} <= {c["name"] for c in told["availableCommands"]}
    assert client.wait_for_update("usage_update")["used"] > 0
    result = client.say(session, "replace `Hello` with `Good day` in main.py")
    assert result["stopReason"] == "end_turn"
    assert "Good day" in (workspace / "main.py").read_text()
    assert "main.py" in client.words()
    assert client.words("agent_thought_chunk")
    assert not client.updates("user_message_chunk")
    (asked,) = client.requests
    assert asked["params"]["toolCall"]["content"][0]["type"] == "diff"
    (call,) = client.updates("tool_call")
    done = client.updates("tool_call_update")[-1]
    assert (done["toolCallId"], done["status"]) == (call["toolCallId"], "completed")
    assert done["content"][0] == {
        "type": "diff",
        "path": str(workspace.resolve() / "main.py"),
        "oldText": 'def greet(name):\n    return "Hello, " + name\n',
        "newText": 'def greet(name):\n    return "Good day, " + name\n',
    }
    assert set(result["usage"]) <= {
        "totalTokens",
        "inputTokens",
        "outputTokens",
        "thoughtTokens",
        "cachedReadTokens",
        "cachedWriteTokens",
    }
    meter = result["_meta"]["sidecar"]["meter"]
    newest = client.updates("usage_update")[-1]
    assert (newest["used"], newest["size"]) == (meter["used"], meter["window"])
    assert newest["_meta"]["sidecar"]["regions"] == meter["regions"]


def test_a_question_says_why_no_rule_covers_the_call(start: Start, workspace: Path) -> None:
    client = start(answers={"session/request_permission": dismiss})
    client.start(permissions={"allow": ["shell:find *"]})
    client.say(client.open(workspace), "run `find . -delete -name none`")
    call = client.requests[0]["params"]["toolCall"]
    shown = [one["content"]["text"] for one in call["content"]]
    assert shown[0] == "```\nfind . -delete -name none\n```"
    assert call["_meta"]["sidecar"]["why"] in shown[1]


def test_a_change_that_is_not_shown_whole_cannot_be_allowed(start: Start, workspace: Path) -> None:
    (workspace / "long.txt").write_text("a" * 500_000)
    client = start(answers={"session/request_permission": dismiss})
    client.start()
    client.say(client.open(workspace), "create long.txt with `hello`")
    (asked,) = client.requests
    kinds = {option["kind"] for option in asked["params"]["options"]}
    assert kinds == {"reject_once", "reject_always"}


def test_pictures_go_along(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace)
    picture = {"type": "image", "mimeType": "image/png", "data": PNG}
    prompt = [{"type": "text", "text": "what is this?"}, picture]
    ended = client.request("session/prompt", {"sessionId": session, "prompt": prompt})
    assert ended["stopReason"] == "end_turn"
    assert not client.updates("user_message_chunk")
    client.request("session/load", {"sessionId": session, "cwd": str(workspace), "mcpServers": []})
    shown = [one["content"] for one in client.updates("user_message_chunk")]
    assert [one["type"] for one in shown] == ["text", "image"]
    assert shown[1]["data"] == picture["data"]


def test_a_session_that_works_is_deleted_only_by_force(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace)
    prompt = [{"type": "text", "text": "run `sleep 60`"}]
    asked = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    client.wait_for(lambda n: "'in_progress'" in str(n))
    for how in ({}, {"_meta": {"sidecar": {"force": False}}}):
        refused = refusal(client, "session/delete", sessionId=session, **how)
        assert refused.code == -32602
        assert "a turn of this session runs" in str(refused)
    assert not client.answered(asked)
    forced = {"sessionId": session, "_meta": {"sidecar": {"force": True}}}
    client.request("session/delete", forced)
    assert client.result(asked)["stopReason"] == "cancelled"
    assert not client.request("session/list", {"cwd": str(workspace)})["sessions"]


def test_a_session_is_told_of_after_its_id_is_known(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace, _meta={"sidecar": {"system": "Today is 2026-11-21."}})
    client.say(session, "hello")
    assert client.order[:3] == ["answer", "answer", "session/update"]
    assert {n["params"]["sessionId"] for n in client.notifications} == {session}
    assert "2026-11-21" in client.words("agent_thought_chunk"), "a warning of the new session"


def test_another_daemon_loads_what_was_said(start: Start, workspace: Path) -> None:
    first = start(answers={"session/request_permission": allow})
    first.start()
    session = first.open(workspace)
    first.say(session, "create new.txt with `one`")
    assert first.stop() == 0
    second = start()
    second.start()
    told = second.request("session/load", {"sessionId": session, "cwd": "/", "mcpServers": []})
    assert told["_meta"]["sidecar"]["readOnly"] is False
    kinds = [u["sessionUpdate"] for u in second.updates()]
    assert kinds[0] == "user_message_chunk"
    assert second.words("user_message_chunk") == "create new.txt with `one`"
    (call,) = second.updates("tool_call")
    assert call["status"] == "completed"
    assert call["content"][0]["oldText"] is None
    assert call["content"][0]["newText"] == "one\n"
    assert second.wait_for_update("usage_update")["used"] > 0
    (listed,) = second.request("session/list", {"cwd": str(workspace)})["sessions"]
    assert (listed["sessionId"], listed["cwd"]) == (session, str(workspace.resolve()))


def test_what_was_compacted_is_told_to_who_loads_the_session(start: Start, workspace: Path) -> None:
    shows: dict[str, Any] = {"session": {"compaction": {}, "notices": {}}}
    (workspace / "long.txt").write_text("a line of many words, all of them alike\n" * 150)
    first = start()
    first.start(shows, window=12_000, config={"maxTokens": 1000})
    session = first.open(workspace)
    for words in (*["read long.txt"] * 4, "/compact"):
        first.say(session, words)
    first.say(session, "hello")
    (told,) = first.updates("compaction_update")
    assert first.stop() == 0
    load = {"sessionId": session, "cwd": "/", "mcpServers": []}
    second, third = start(), start()
    second.start(shows)
    second.request("session/load", load)
    (again,) = second.updates("compaction_update")
    assert (again["compactionId"], again["status"]) == (told["compactionId"], "completed")
    about, before = again["_meta"]["sidecar"], told["_meta"]["sidecar"]
    assert {**about, "seq": 0} == {**before, "seq": 0}
    order = [u["sessionUpdate"] for u in second.updates()]
    assert order.index("compaction_update") < len(order) - order[::-1].index("user_message_chunk")
    assert second.stop() == 0
    third.start()
    third.request("session/load", load)
    assert not third.updates("compaction_update")
    assert "turn_ended" not in {u["sessionUpdate"] for u in third.updates()}


def test_resuming_shows_nothing_and_closing_ends_it(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace)
    client.say(session, "hello")
    client.request("session/close", {"sessionId": session})
    before = len(client.updates("user_message_chunk"))
    client.request("session/resume", {"sessionId": session, "cwd": str(workspace)})
    assert len(client.updates("user_message_chunk")) == before
    assert client.say(session, "hello again")["stopReason"] == "end_turn"
    client.request("session/delete", {"sessionId": session})
    assert refusal(client, "session/resume", sessionId=session, cwd="/").code == -32002


def test_cancel_ends_the_turn(start: Start, workspace: Path) -> None:
    client = start(answers={"session/request_permission": allow})
    client.start()
    session = client.open(workspace)
    prompt = [{"type": "text", "text": "run `sleep 60`"}]
    turn = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    client.wait_for(
        lambda n: n["params"].get("update", {}).get("status") == "in_progress",
    )
    client.notify("session/cancel", {"sessionId": session})
    assert client.result(turn)["stopReason"] == "cancelled"


def test_every_method_of_ours_has_the_prefix(client: LineClient, workspace: Path) -> None:
    session = client.open(workspace)
    client.say(session, "hello")
    meter = client.request("_sidecar/context/meter", {"sessionId": session})
    assert meter["used"] == sum(meter["regions"].values())
    assert client.request("_sidecar/checkpoint/list", {"sessionId": session})["checkpoints"]
    assert refusal(client, "context/meter", sessionId=session).code == -32601
    assert refusal(client, "_sidecar/tool/call").code == -32601
    made = client.request("_sidecar/session/new", {"cwd": str(workspace), "system": "Be brief."})
    assert client.say(made["sessionId"], "hello")["stopReason"] == "end_turn"


def test_what_is_wrong_is_answered_and_the_daemon_goes_on(
    client: LineClient, workspace: Path
) -> None:
    session = client.open(workspace)
    assert refusal(client, "session/unheard_of").code == -32601
    missing = refusal(client, "session/prompt", sessionId=session)
    assert (missing.code, missing.data["path"]) == (-32602, "params")
    assert refusal(client, "session/new", cwd=7).data["path"] == "params.cwd"
    assert refusal(client, "session/load", sessionId="none", cwd="/").code == -32002
    assert refusal(client, "initialize", protocolVersion=1).code == -32600
    client.write_bytes(b"{broken")
    client.write_bytes(b"[1]")
    client.write_bytes(b'{"jsonrpc": "2.0", "method": "$/unknown"}')
    client.write_bytes(b'{"jsonrpc": "2.0", "method": "_other/notification"}')
    assert client.say(session, "hello")["stopReason"] == "end_turn"
    codes = [answer["error"]["code"] for answer in client.unexpected]
    assert codes == [-32700, -32600]
    assert all(answer["id"] is None for answer in client.unexpected)
    client.unexpected.clear()


def test_nothing_is_taken_before_initialize(start: Start, workspace: Path) -> None:
    client = start()
    assert refusal(client, "session/new", cwd=str(workspace)).code == -32600
    assert refusal(client, "initialize", _meta={"sidecar": {"window": "wide"}}).code == -32602
    client.start()
    assert client.open(workspace)


def test_a_line_that_is_much_too_long_costs_only_itself(client: LineClient) -> None:
    client.write_bytes(b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (65 * 1024 * 1024))
    assert json.dumps(client.request("session/list", {}))
    (answer,) = client.unexpected
    assert answer["error"]["code"] == -32700
    assert "longer" in answer["error"]["message"]
    client.unexpected.clear()


def test_a_request_that_came_as_a_notification_is_no_bug(start: Start) -> None:
    client = start()
    client.start()
    client.notify("authenticate", {"methodId": "none"})
    client.notify("session/new", {"cwd": "nowhere"})
    client.request("_sidecar/daemon/status")
    assert client.stop() == 0
    assert "Traceback" not in client.stderr
    assert "notification refused: authenticate" in client.stderr


def test_a_question_shows_a_command_so_that_no_markdown_hides_a_part(
    client: LineClient, workspace: Path
) -> None:
    session = client.open(workspace)
    command = "echo [status](`whoami`) \u202e```"
    client.say(session, "call shell " + json.dumps({"command": command}))
    (asked,) = client.requests
    (block,) = asked["params"]["toolCall"]["content"]
    shown = block["content"]["text"]
    assert shown == "````\necho [status](`whoami`) \\u202e```\n````"
    assert "\u202e" not in asked["params"]["toolCall"]["title"]
    for folder in ("a\u202e\n\nReject", "b" * 200):
        client.say(session, "call shell " + json.dumps({"command": "git status", "cwd": folder}))
        names = [option["name"] for option in client.requests.pop()["params"]["options"]]
        assert all(name.isprintable() and len(name) <= 160 for name in names), names
        assert any(folder[:1] in name for name in names)
    client.say(session, 'call shell {"command": "true", "timeoutMs": 9}')
    (block,) = client.requests[1]["params"]["toolCall"]["content"]
    assert '"timeoutMs": 9' in block["content"]["text"]
