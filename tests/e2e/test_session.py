"""The main job, by a client that was not written for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused

Start = Callable[..., PlainClient]

ODD_INPUT = {
    "file-path": "a",
    "class": 2,
    "_x": None,
    "jsonrpc": "2.0",
    "type_name": [{"jsonrpc": 1}],
}
"""Keys that a JSON-RPC library might rename, drop or take for its own."""

TOOLS = [
    {
        "name": name,
        "description": f"The {name} of the editor.",
        "inputSchema": {"type": "object"},
        "kind": "read",
    }
    for name in ("lookup", "outline")
]


def answer_tool(params: Any) -> Any:
    return {
        "content": [{"type": "text", "text": f"{params['name']} says hello"}],
        "metadata": {"echo": params["input"]},
    }


def story(client: PlainClient) -> list[tuple[str, str]]:
    """What a user saw, part by part, without sequence numbers and chunk borders.

    A tool's place is that of its call: calls that run side by side end in any order.
    """
    seen: dict[str, list[str]] = {}
    for update in client.updates():
        part = update.get("_meta", {}).get("sidecar", {}).get("partId", "")
        kind = update["sessionUpdate"]
        if kind.endswith("_chunk"):
            seen.setdefault(part, [kind, ""])[1] += update["content"].get("text", "")
        elif kind in ("tool_call", "tool_call_update"):
            called = seen.setdefault(update["toolCallId"], ["tool", ""])
            if (status := update.get("status")) in ("completed", "failed"):
                called[1] = f"{update['toolCallId']} {status}"
    return [(kind, text) for kind, text in seen.values()]


def test_a_turn_survives_kill(start: Start, workspace: Path) -> None:
    client = start(answers={"tool/call": answer_tool})
    about = client.start(model="offline")
    assert about["serverInfo"]["name"] == "sidecar"
    assert about["capabilities"]["experimental"]["sidecar"]["protocolVersion"] == 1
    new = client.request("session/new", {"cwd": str(workspace), "tools": TOOLS})
    session = new["sessionId"]
    text = 'call lookup {"file-path": "a", "jsonrpc": "2.0"} and outline {}'
    result = client.request(
        "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    )
    assert result["stopReason"] == "end_turn", result
    assert result["usage"]["requests"] >= 2
    assert result["usage"]["totalTokens"] > 0
    assert result["cost"] == "0"
    called = [r["params"]["name"] for r in client.requests if r["method"] == "tool/call"]
    assert sorted(called) == ["lookup", "outline"]
    inputs = [r["params"]["input"] for r in client.requests if r["method"] == "tool/call"]
    assert {"file-path": "a", "jsonrpc": "2.0"} in inputs
    assert len(client.updates("agent_message_chunk")) > 1
    meter = result["meter"]
    assert meter["used"] == sum(meter["regions"].values())
    (ended,) = client.updates("turn_ended")
    assert {name: ended[name] for name in ("turnId", "messageId", "usage", "cost")} == {
        name: result[name] for name in ("turnId", "messageId", "usage", "cost")
    }
    before = story(client)
    assert ("user_message_chunk", text) in before
    client.kill()

    again = start(answers={"tool/call": answer_tool})
    again.start(model="offline")
    loaded = again.request("session/load", {"sessionId": session, "cwd": str(workspace)})
    assert loaded["readOnly"] is False
    assert loaded["revision"] >= result["revision"]
    assert story(again) == before
    (told,) = again.updates("turn_ended")
    assert {**told, "_meta": None} == {**ended, "_meta": None}
    listed = again.request("session/list")["sessions"]
    assert [s["sessionId"] for s in listed] == [session]
    assert listed[0]["turns"] == 1
    follow = again.request(
        "session/prompt",
        {"sessionId": session, "prompt": [{"type": "text", "text": "read notes.txt"}]},
    )
    assert follow["stopReason"] == "end_turn"
    seqs = [
        u["_meta"]["sidecar"]["seq"]
        for c in (client, again)
        for u in c.updates()
        if "seq" in u.get("_meta", {}).get("sidecar", {})
    ]
    assert seqs == sorted(set(seqs))


def test_errors_say_what_to_do(start: Start, workspace: Path) -> None:
    client = start()
    with pytest.raises(Refused) as early:
        client.request("session/list")
    assert early.value.code == -32002
    client.start(model="offline")
    cases: list[tuple[str, Any, int, str | None]] = [
        ("session/new", {"cwd": "not/absolute"}, -32602, "params.cwd"),
        ("session/new", {"cwd": 5}, -32602, "params.cwd"),
        ("session/new", None, -32602, None),
        ("session/new", {"cwd": str(workspace), "window": 0}, -32602, "params.window"),
        (
            "session/new",
            {"cwd": str(workspace), "window": 9_000, "maxTokens": 9_000},
            -32602,
            "params.maxTokens",
        ),
        ("session/new", {"cwd": str(workspace), "window": 8_000}, -32602, "params.window"),
        (
            "session/new",
            {"cwd": str(workspace), "window": 4_000, "maxTokens": 100},
            -32602,
            "params.window",
        ),
        ("session/list", {"limit": 0}, -32602, "params.limit"),
        ("session/list", {"cursor": "odd"}, -32602, "params.cursor"),
        ("session/prompt", {"sessionId": "ses_none", "prompt": []}, -32010, None),
        ("context/meter", {"sessionId": "ses_none"}, -32010, None),
        ("session/export", {"sessionId": "ses_none"}, -32010, None),
        ("session/import", {"path": "not/absolute", "cwd": "/"}, -32602, "params.path"),
        ("session/import", {"content": "{}"}, -32602, "params.cwd"),
        ("no/such/method", {}, -32601, None),
    ]
    for method, params, code, path in cases:
        with pytest.raises(Refused) as refused:
            client.request(method, params)
        assert refused.value.code == code, (method, params, refused.value)
        assert refused.value.data["kind"]
        if path is not None:
            assert refused.value.data["path"] == path
    clash = [{**TOOLS[0], "name": "shell"}]
    with pytest.raises(Refused) as refused:
        client.request("session/new", {"cwd": str(workspace), "tools": clash})
    assert refused.value.data["path"] == "params.tools[0].name"


def test_permissions_block_or_allow(start: Start, workspace: Path) -> None:
    choices = ["reject_once", "allow_once"]
    asked: list[Any] = []

    def decide(params: Any) -> Any:
        asked.append(params)
        wanted = choices[len(asked) - 1]
        option = next(o["optionId"] for o in params["options"] if o["kind"] == wanted)
        return {"outcome": {"outcome": "selected", "optionId": option}}

    client = start(answers={"session/request_permission": decide})
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt = {
        "sessionId": session,
        "prompt": [{"type": "text", "text": "run `echo hi > made.txt`"}],
    }
    refused = client.request("session/prompt", prompt)
    assert refused["stopReason"] == "blocked"
    assert not (workspace / "made.txt").exists()
    allowed = client.request("session/prompt", prompt)
    assert allowed["stopReason"] == "end_turn"
    assert (workspace / "made.txt").read_text() == "hi\n"


def test_a_file_is_read_as_the_editor_has_it(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline")
    uri = (workspace / "notes.txt").as_uri()
    client.notify(
        "textDocument/didOpen",
        {
            "textDocument": {
                "uri": uri,
                "languageId": "text",
                "version": 1,
                "text": "unsaved words\n",
            }
        },
    )
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    client.request(
        "session/prompt",
        {"sessionId": session, "prompt": [{"type": "text", "text": "read notes.txt"}]},
    )
    shown = [u for u in client.updates() if u["sessionUpdate"] == "tool_call_update"]
    assert any("unsaved words" in str(u) for u in shown)
    assert not any("alpha" in str(u) for u in shown)


def test_cancel_leaves_whole_pairs(start: Start, workspace: Path) -> None:
    def allow(params: Any) -> Any:
        option = next(o["optionId"] for o in params["options"] if o["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": option}}

    client = start(answers={"session/request_permission": allow})
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    waiting = client.send(
        "session/prompt",
        {"sessionId": session, "prompt": [{"type": "text", "text": "run `sleep 60`"}]},
    )
    client.wait_for(lambda n: "in_progress" in str(n))
    client.notify("session/cancel", {"sessionId": session})
    result = client.result(waiting)
    assert result["stopReason"] == "cancelled"
    after = client.request(
        "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
    )
    assert after["stopReason"] == "end_turn"


def test_a_second_window_reads_and_takes_over_when_the_first_dies(
    start: Start, workspace: Path
) -> None:
    first = start()
    first.start(model="offline")
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    second = start()
    second.start(model="offline")
    loaded = second.request("session/load", {"sessionId": session, "cwd": str(workspace)})
    assert loaded["readOnly"] is True
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
    with pytest.raises(Refused) as refused:
        second.request("session/prompt", prompt)
    assert refused.value.code == -32011
    assert refused.value.data["owner"]["pid"] == first.process.pid
    first.kill()
    assert second.request("session/prompt", prompt)["stopReason"] == "end_turn"


def test_stdin_end_is_an_exit(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline")
    client.request("session/new", {"cwd": str(workspace)})
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(timeout=5) == 1


def test_what_was_asked_before_the_end_of_stdin_is_answered(start: Start) -> None:
    client = start()
    client.start(model="offline")
    asked = client.send_at_once("session/list", [{}] * 64)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert [client.result(one)["sessions"] for one in asked] == [[]] * 64
    assert client.process.wait(timeout=5) == 1


@pytest.mark.parametrize("method", ["session/load", "session/new"])
def test_a_session_that_is_being_opened_does_not_hold_up_the_end(
    start: Start, workspace: Path, method: str
) -> None:
    first = start()
    first.start(model="offline")
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert first.stop() == 0
    client = start()
    client.start(model="offline")
    client.request("session/list", {})
    client.send(method, {"sessionId": session, "cwd": str(workspace)})
    client.send("shutdown")
    client.notify("exit")
    # 1 where it was told to go before it had answered.
    assert client.close() in (0, 1)


def test_a_session_that_works_is_deleted_only_by_force(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline", permissions={"allow": ["shell"]})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt = [{"type": "text", "text": "run `sleep 60`"}]
    asked = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    client.wait_for(lambda n: "'in_progress'" in str(n))
    with pytest.raises(Refused, match=r"a turn of this session runs.*or delete with force") as no:
        client.request("session/delete", {"sessionId": session})
    assert no.value.code == -32602
    assert not client.answered(asked)
    other = start()
    other.start(model="offline")
    for how in ({}, {"force": True}):
        with pytest.raises(Refused, match="another window writes this session") as no:
            other.request("session/delete", {"sessionId": session, **how})
        assert no.value.code == -32011
    assert not client.answered(asked)
    client.request("session/delete", {"sessionId": session, "force": True})
    assert client.result(asked)["stopReason"] == "cancelled"
    with pytest.raises(Refused) as no:
        client.request("session/load", {"sessionId": session})
    assert no.value.code == -32010


def test_files_are_found_by_a_few_letters(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    for name in ("one_thing.py", "other.md"):
        (workspace / name).write_text("")
    given = {"sessionId": session, "query": "onth"}
    # Its old name answers on.
    assert client.request("session/find_files", given) == client.request("session/findFiles", given)
    assert client.request("session/findFiles", given) == {
        "files": ["one_thing.py"],
        "partial": False,
    }
    with pytest.raises(Refused, match="limit must be at least 1"):
        client.request("session/findFiles", {**given, "limit": 0})
