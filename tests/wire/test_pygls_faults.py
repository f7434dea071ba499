"""The faults of pygls 2.1.1 that would break the daemon, each repaired; by a real process."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.wire.framing import encode
from tests.e2e.plain import PlainClient, Refused, Spawn, UnreadClient

pytestmark = pytest.mark.long


@pytest.fixture
def start(tmp_path: Path, spawn: Spawn | None) -> Iterator[Callable[..., PlainClient]]:
    started: list[PlainClient] = []

    def begin(**given: Any) -> PlainClient:
        started.append(PlainClient(tmp_path / "data", spawn=spawn, **given))
        return started[-1]

    yield begin
    for client in started:
        if client.process.poll() is None:
            client.stop()
        client.close()


@pytest.fixture
def client(start: Callable[..., PlainClient]) -> PlainClient:
    made = start(answers={"tool/call": lambda p: {"content": [], "metadata": {"back": p["input"]}}})
    made.start(model="offline")
    return made


TOOL = {"name": "lookup", "description": "x", "inputSchema": {"type": "object"}, "kind": "read"}


def session(client: PlainClient, folder: Path, **given: Any) -> str:
    new = client.request("session/new", {"cwd": str(folder), "tools": [TOOL], **given})
    return str(new["sessionId"])


def prompt(client: PlainClient, session_id: str, text: str) -> Any:
    return client.request(
        "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
    )


def code(client: PlainClient, method: str, params: Any = None) -> int:
    with pytest.raises(Refused) as refused:
        client.request(method, params)
    assert refused.value.data["kind"]
    return int(refused.value.code)


def raw(client: PlainClient, body: bytes) -> dict[str, Any]:
    """Send bytes as they are and give the next message that answers no request of ours."""
    before = len(client.unexpected)
    client.write_bytes(body)
    deadline = time.monotonic() + 10
    while len(client.unexpected) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return client.unexpected[-1]


def test_keys_of_custom_params_are_kept(client: PlainClient, tmp_path: Path) -> None:
    odd = {"file-path": 1, "class": 2, "_x": 3, "type_name": "T", "ok": {"n": [{"k-1": 2}]}}
    sid = session(client, tmp_path)
    prompt(client, sid, "call lookup " + json.dumps(odd))
    (asked,) = [r for r in client.requests if r["method"] == "tool/call"]
    assert asked["params"]["input"] == odd
    shown = [u for u in client.updates() if u.get("rawInput")]
    assert all(u["rawInput"] == odd for u in shown)


def test_a_nested_jsonrpc_key_is_just_a_key(client: PlainClient, tmp_path: Path) -> None:
    sid = session(client, tmp_path)
    nested = {"jsonrpc": "2.0", "method": "x", "id": {"jsonrpc": 1}}
    assert prompt(client, sid, "call lookup " + json.dumps(nested))["stopReason"] == "end_turn"
    context = {"selection": {"jsonrpc": "2.0", "id": 4}}
    params = {"sessionId": sid, "prompt": [{"type": "text", "text": "hi"}], "context": context}
    assert client.request("session/prompt", params)["stopReason"] == "end_turn"


def test_bad_params_are_answered(client: PlainClient) -> None:
    with pytest.raises(Refused) as refused:
        client.request("session/prompt", {"sessionId": "s", "prompt": [1]})
    assert refused.value.code == -32602
    assert refused.value.data["path"] == "params.prompt[0]"
    assert code(client, "workspace/executeCommand", {"command": 5}) == -32602
    assert code(client, "session/new", [1, 2]) == -32602


def test_a_request_without_params_is_answered(client: PlainClient) -> None:
    assert "version" in client.request("daemon/status")
    assert code(client, "session/new") == -32602


def test_null_is_as_good_as_absent(client: PlainClient, tmp_path: Path) -> None:
    new = client.request("session/new", {"cwd": str(tmp_path), "title": None, "tools": None})
    assert new["sessionId"]
    with pytest.raises(Refused) as refused:
        client.request("session/new", {"cwd": None})
    assert refused.value.data["path"] == "params.cwd"


def test_malformed_json_is_answered_and_the_stream_goes_on(client: PlainClient) -> None:
    answer = raw(client, b"{not json")
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert "version" in client.request("daemon/status")


def test_batches_and_odd_messages_are_refused(client: PlainClient) -> None:
    for body in (b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', b"5", b'"x"', b"{}"):
        answer = raw(client, body)
        assert (answer["id"], answer["error"]["code"]) == (None, -32600), body
    for request_id in ("null", "1.5", "true", "{}"):
        answer = raw(client, b'{"jsonrpc":"2.0","method":"x","id":%b}' % request_id.encode())
        assert (answer["id"], answer["error"]["code"]) == (None, -32600), request_id


def test_lower_case_headers_are_read(start: Callable[..., PlainClient]) -> None:
    client = start()
    body = b'{"jsonrpc":"2.0","id":77,"method":"shutdown"}'
    assert client.process.stdin is not None
    client.process.stdin.write(b"content-length: %d\r\n\r\n%b" % (len(body), body))
    client.process.stdin.flush()
    client.start()
    assert client.unexpected[0]["error"]["code"] == -32002
    client.unexpected.clear()


def test_slow_tools_do_not_keep_a_cancel_from_arriving(
    start: Callable[..., PlainClient], tmp_path: Path
) -> None:
    client = start(answers={"tool/call": lambda p: time.sleep(30)})
    client.start(model="offline")
    sessions = [session(client, tmp_path) for _ in range(8)]
    text = [{"type": "text", "text": "call lookup {}"}]
    waiting = [client.send("session/prompt", {"sessionId": s, "prompt": text}) for s in sessions]
    deadline = time.monotonic() + 10
    while len(client.requests) < len(sessions):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    begun = time.monotonic()
    for sid in sessions:
        client.notify("session/cancel", {"sessionId": sid})
    assert {client.result(w)["stopReason"] for w in waiting} == {"cancelled"}
    assert time.monotonic() - begun < 5


def test_a_client_that_does_not_read_does_not_stop_the_daemon(
    tmp_path: Path, spawn: Spawn | None
) -> None:
    """The pipe is full and nobody reads; a turn still runs to its end, and exit still works.

    Whoever reads again is told all that was answered meanwhile, and is answered from then on.
    """
    client = UnreadClient(tmp_path / "data", spawn=spawn)
    client.start(model="offline", permissions={"allow": ["shell"]})
    sid = session(client, tmp_path)

    def flood(name: str) -> int:
        """Stop reading, have more printed than the pipe takes, and wait for what is run then."""
        client.reading.clear()
        return run("`head -c 3000000 /dev/zero | tr '\\0' x` then run ", name)

    def run(before: str, name: str) -> int:
        text = {"type": "text", "text": f"run {before}`echo done > {name}`"}
        turn = client.send("session/prompt", {"sessionId": sid, "prompt": [text]})
        deadline = time.monotonic() + 30
        while not (tmp_path / name).exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return turn

    turn = flood("one.txt")
    status = client.send("daemon/status")
    # It has been asked for when what was asked after it has happened.
    after = run("", "after.txt")
    client.reading.set()
    assert [client.result(asked)["stopReason"] for asked in (turn, after)] == ["end_turn"] * 2
    assert client.result(status)["metrics"]["queues"]["client"] > 0, (
        "all of it fitted into the pipe"
    )
    assert client.request("daemon/status")["pid"] == client.process.pid
    assert not client.unexpected
    flood("two.txt")
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(10) == 1
    client.reading.set()
    client.close()


def test_a_request_at_the_wrong_time_of_life_is_refused(start: Callable[..., PlainClient]) -> None:
    client = start()
    assert code(client, "daemon/status") == -32002
    client.start(model="offline")
    assert code(client, "initialize", {"capabilities": {}}) == -32600
    client.request("shutdown")
    assert code(client, "daemon/status") == -32600
    client.notify("exit")
    assert client.process.wait(10) == 0


def test_exit_without_shutdown_is_an_error(client: PlainClient) -> None:
    client.notify("exit")
    assert client.process.wait(10) == 1


def test_nothing_leaks_onto_the_wire_or_into_the_log(client: PlainClient, tmp_path: Path) -> None:
    sid = session(client, tmp_path)
    prompt(client, sid, "my secret sentence")
    for params in ({"sessionId": sid, "configId": "nope", "value": 1}, {"sessionId": 5}):
        with pytest.raises(Refused) as refused:
            client.request("session/set_config_option", params)
        assert "Traceback" not in json.dumps(refused.value.data) + str(refused.value)
    client.stop()
    assert "secret sentence" not in client.stderr
    assert "Content-Length" not in client.stderr


def test_the_daemon_ends_with_the_process_that_the_editor_named(tmp_path: Path) -> None:
    editor = subprocess.Popen(["sleep", "100"])
    env = {**os.environ, "SIDECAR_DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(
        [sys.executable, "-m", "sidecar", "--stdio"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
    ) as daemon:  # fmt: skip
        params = {"capabilities": {}, "processId": editor.pid}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        assert daemon.stdin is not None
        assert daemon.stdout is not None
        daemon.stdin.write(encode(message, "headers"))
        daemon.stdin.flush()
        daemon.stdout.readline()
        editor.send_signal(signal.SIGKILL)
        editor.wait(10)
        assert daemon.wait(15) == 1


def test_every_request_gets_exactly_one_answer(client: PlainClient, tmp_path: Path) -> None:
    chance = random.Random(4)
    sid = session(client, tmp_path)
    sent = []
    for _ in range(400):
        method, params = chance.choice(
            [
                ("daemon/status", {}),
                ("context/meter", {"sessionId": sid}),
                ("context/meter", {"sessionId": 5}),
                ("context/meter", None),
                ("no/such", {}),
                ("context/compact", {"sessionId": sid}),
                ("session/list", {"limit": 3}),
                ("session/set_config_option", {"sessionId": sid, "configId": "x", "value": 1}),
                ("textDocument/hover", {"bad": 1}),
                ("workspace/executeCommand", {"command": "none"}),
            ]
        )
        sent.append(client.send(method, params))
        if chance.random() < 0.3:
            client.notify("$/cancelRequest", {"id": chance.choice(sent)})
        if chance.random() < 0.05:
            client.notify("$/cancelRequest", {"id": 10**6})
    for number in sent:
        answers = client._results[number]
        answers.get(timeout=20)
        assert answers.empty()
    client.request("daemon/status")
    assert not any(map(client.answered, sent))
    assert not client.unexpected


@pytest.mark.parametrize("where", ["scope", "onConflict", "paths"])
def test_half_a_character_is_refused_and_ends_nothing(
    client: PlainClient, tmp_path: Path, where: str
) -> None:
    params: dict[str, Any] = {"sessionId": session(client, tmp_path), "scope": "both"}
    params |= {where: ["\ud800"] if where == "paths" else "\ud800"}
    with pytest.raises(Refused) as refused:
        client.request("checkpoint/restore", params)
    assert refused.value.code == -32602
    assert "version" in client.request("daemon/status")


def test_what_is_no_models_name_is_refused(client: PlainClient, tmp_path: Path) -> None:
    for name in ("\udc80x", "two\nlines", " "):
        params = {"sessionId": session(client, tmp_path), "configId": "model", "value": name}
        with pytest.raises(Refused, match="model's name") as refused:
            client.request("session/set_config_option", params)
        assert refused.value.code == -32602
    with pytest.raises(Refused, match="model's name"):
        client.request("session/new", {"cwd": str(tmp_path), "model": "\ud800"})
    assert "version" in client.request("daemon/status")


@pytest.mark.parametrize("name", ["folder", "none.txt", "binary", "nul\0"])
def test_code_actions_where_there_is_no_text_to_select(
    start: Callable[..., PlainClient], tmp_path: Path, name: str
) -> None:
    client = start()
    client.start(model="offline")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfd")
    spot = {"line": 0, "character": 0}
    given = {"range": {"start": spot, "end": spot}, "context": {"diagnostics": []}}
    uri = f"{tmp_path.as_uri()}/{name}"
    found = client.request("textDocument/codeAction", {"textDocument": {"uri": uri}, **given})
    assert [one["command"] for one in found] == ["sidecar.rollback"]


def test_notifications_that_fit_nothing_are_no_bugs(client: PlainClient, tmp_path: Path) -> None:
    uri, spot = f"{tmp_path.as_uri()}/a.py", {"line": 10**6, "character": 10**6}
    named = {"uri": uri, "version": 2}
    change = {"range": {"start": spot, "end": spot}, "text": "x"}
    for method, params in (
        ("textDocument/didChange", {"textDocument": named, "contentChanges": [change]}),
        ("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": "x"}]}),
        ("textDocument/didClose", {"textDocument": named}),
        ("textDocument/didSave", {"textDocument": named}),
        ("window/workDoneProgress/cancel", {"token": {"type": "x"}}),
        ("window/workDoneProgress/cancel", {"token": [1]}),
    ):
        client.notify(method, params)
    client.request("daemon/status")
    client.stop()
    assert "Traceback" not in client.stderr
    assert '"error"' not in client.stderr


def test_what_is_nested_too_deep_is_refused_and_ends_nothing(
    start: Callable[..., PlainClient], tmp_path: Path
) -> None:
    deep: Any = "\ud800"
    for _ in range(600):
        deep = [deep]
    client = start(answers={"tool/call": lambda p: {"content": [], "metadata": {"x": deep}}})
    client.start(model="offline")
    tool = {**TOOL, "inputSchema": {"type": "object", "x": deep}}
    assert code(client, "session/new", {"cwd": str(tmp_path), "tools": [tool]}) == -32602
    sid = session(client, tmp_path)
    client.notify("session/cancel", {"sessionId": sid, "x": deep})
    for odd in ({"method": deep}, {"params": deep}, {"id": deep, "method": "x"}):
        answer = raw(client, json.dumps({"jsonrpc": "2.0", **odd}).encode())
        assert (answer["id"], answer["error"]["code"]) == (None, -32602)
    client.unexpected.clear()
    assert prompt(client, sid, "call lookup {}")["stopReason"] == "end_turn"
    assert client.request("context/preview", {"sessionId": sid})["tokens"] > 0
    assert client.request("session/export", {"sessionId": sid})["size"] > 0
