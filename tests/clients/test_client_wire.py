"""The Python client against a process that speaks back whatever a test wants."""

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sidecar_client
from sidecar_client import Client, Disconnected, SidecarError, messages, process

from protocol.generate import ROOT
from protocol.samples import ODD_INPUT

COMMAND = (sys.executable, str(Path(__file__).with_name("fake_daemon.py")))
GOLDEN = ROOT / "protocol/golden"
LIMIT = 20.0


@asynccontextmanager
async def connect(*arguments: str, **keywords: Any) -> AsyncIterator[Client]:
    """A client for the fake daemon, with a limit on the whole block."""
    async with (
        asyncio.timeout(LIMIT),
        sidecar_client.connect((*COMMAND, *arguments), **keywords) as client,
    ):
        yield client


async def received(client: Client, method: str) -> list[Any]:
    """What the daemon got, by method."""
    everything = await client.request("fake/received")
    return [message.get("params") for message in everything if message.get("method") == method]


async def ask(client: Client, method: str, params: Any) -> Any:
    """Have the daemon send us a request, and give our answer to it."""
    reply = await client.request("fake/ask", {"method": method, "params": params})
    assert reply["jsonrpc"] == "2.0"
    return reply


async def tell(client: Client, *notifications: tuple[str, Any]) -> None:
    """Have the daemon notify us."""
    told = [{"method": method, "params": params} for method, params in notifications]
    await client.request("fake/tell", {"messages": told})


def golden(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["message"]


async def test_starts_and_ends_as_lsp_says() -> None:
    options = messages.InitializationOptions(model="offline", workspace_trusted=True)
    async with connect(options=options) as client:
        assert client.version == "9.9"
        assert client.capabilities.protocol_version == 1
        assert client.capabilities.features == ["session/new"]
        [params] = await received(client, "initialize")
        assert params["initializationOptions"] == {"model": "offline", "workspaceTrusted": True}
        ours = params["capabilities"]["experimental"]["sidecar"]
        assert ours["fs"] == {"readTextFile": False, "writeTextFile": False}
        assert not ours["toolCall"]
        assert await received(client, "initialized") == [{}]
    with pytest.raises(Disconnected):
        await client.daemon.status()


async def test_every_method_sends_what_the_protocol_says() -> None:
    tool = messages.ToolDefinition(
        name="lookup", description="d", input_schema={"type": "object"}, kind="read"
    )
    async with connect() as client:
        await client.session.new("/w", title="t", window=1000, tools=[tool])
        loaded = await client.session.load("s", after="part_1")
        listed = await client.session.list(limit=3)
        await client.session.close("s")
        await client.session.delete("s")
        options = await client.session.set_config_option("s", "autoCompact", False)
        result = await client.session.prompt(
            "s", "hello", context={"open-files": []}, expected_revision=4
        )
        found = await client.session.find_files("s", "ab", limit=3)
        meter = await client.context.meter("s")
        recalled = await client.context.recall("s", "part_1", pattern="^E")
        status = await client.daemon.status()
        await client.session.cancel("s")
        everything = await client.request("fake/received")
    assert loaded.read_only is False
    assert listed.sessions[0].title == "Red test"
    assert options.config_options[0].id == "model"
    assert result.stop_reason == "error"
    assert result.meter.used == meter.used == 20500
    assert found.files == ["src/session methods.py", "src/session_map.py"]
    assert recalled.next_offset == 4096
    assert status.sessions[0].session_id == "ses_01k9f3"
    assert {m["method"]: m["params"] for m in everything if m["method"] in messages.METHODS} == SENT


SENT = {
    "session/new": {
        "cwd": "/w",
        "title": "t",
        "window": 1000,
        "tools": [
            {
                "name": "lookup",
                "description": "d",
                "inputSchema": {"type": "object"},
                "kind": "read",
            }
        ],
        "builtinTools": True,
    },
    "session/load": {"sessionId": "s", "replay": True, "after": "part_1"},
    "session/list": {"limit": 3},
    "session/close": {"sessionId": "s"},
    "session/delete": {"sessionId": "s"},
    "session/set_config_option": {"sessionId": "s", "configId": "autoCompact", "value": False},
    "session/prompt": {
        "sessionId": "s",
        "prompt": [{"type": "text", "text": "hello"}],
        "context": {"open-files": []},
        "expectedRevision": 4,
    },
    "session/findFiles": {"sessionId": "s", "query": "ab", "limit": 3},
    "context/meter": {"sessionId": "s"},
    "context/recall": {"sessionId": "s", "partId": "part_1", "pattern": "^E"},
    "daemon/status": {},
    "session/cancel": {"sessionId": "s"},
}


async def test_documents_are_lsp_documents(tmp_path: Path) -> None:
    path = tmp_path / "a b.py"
    async with connect() as client:
        await client.document.open(path, "1", language="python")
        await client.document.change(path, "2", 2)
        await client.document.close(path)
        [opened] = await received(client, "textDocument/didOpen")
        [changed] = await received(client, "textDocument/didChange")
        [closed] = await received(client, "textDocument/didClose")
    uri = path.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": "1"}
    assert opened == {"textDocument": document}
    assert changed == {
        "textDocument": {"uri": uri, "version": 2},
        "contentChanges": [{"text": "2"}],
    }
    assert closed == {"textDocument": {"uri": uri}}


async def test_an_error_says_its_kind_and_what_comes_with_it() -> None:
    async with connect() as client:
        with pytest.raises(SidecarError, match="there is no no/such") as refused:
            await client.request("no/such", {})
    assert refused.value.code == -32601
    assert refused.value.kind == "unknown_method"
    assert refused.value.data == {"kind": "unknown_method", "extra": [1]}


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with connect():
            raise KeyError("mine")


async def test_tools_get_their_input_as_it_was_written() -> None:
    seen: list[Any] = []

    async def lookup(given: Any) -> dict[str, Any]:
        seen.append(given)
        return {"content": [], "metadata": {"exit-code": None, "_x": given}}

    async def outline(_: Any) -> str:
        return "main.py"

    call = golden("tool-call.params")["params"]
    async with connect(tools={"lookup": lookup, "outline": outline}) as client:
        reply = await ask(client, "tool/call", call)
        assert seen == [ODD_INPUT]
        expected = {"content": [], "metadata": {"exit-code": None, "_x": ODD_INPUT}}
        assert reply["result"] == expected
        reply = await ask(client, "tool/call", {**call, "name": "outline", "input": None})
        assert reply["result"] == {"content": [{"type": "text", "text": "main.py"}]}
        reply = await ask(client, "tool/call", {**call, "name": "nothing"})
        assert reply["error"]["code"] == -32602
        reply = await ask(client, "tool/call", {"name": 5})
        assert reply["error"]["code"] == -32602


async def test_a_tool_that_raises_tells_the_model(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: Any) -> str:
        raise ValueError("no index")

    call = {"sessionId": "s", "callId": "c", "name": "broken", "input": {}}
    async with connect(tools={"broken": broken}) as client:
        with caplog.at_level(logging.CRITICAL):
            reply = await ask(client, "tool/call", call)
    text = {"type": "text", "text": "broken failed: no index"}
    assert reply["result"] == {"content": [text], "isError": True}


async def test_a_cancelled_tool_stops() -> None:
    stopped = asyncio.Event()

    async def slow(_: Any) -> str:
        await client.notify("fake/started")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    call = {"sessionId": "s", "callId": "c", "name": "slow", "input": {}}
    async with connect(tools={"slow": slow}) as client:
        reply = await client.request("fake/ask_and_cancel", {"method": "tool/call", "params": call})
    assert stopped.is_set()
    assert reply["error"]["code"] == -32800


async def test_permission_is_an_option_or_a_dismissal() -> None:
    asked: list[messages.SessionRequestPermissionParams] = []

    async def choose(params: messages.SessionRequestPermissionParams) -> str | None:
        asked.append(params)
        return params.options[0].option_id if len(asked) == 1 else None

    question = golden("session-request_permission.params")["params"]
    async with connect(on_permission=choose) as client:
        first = await ask(client, "session/request_permission", question)
        second = await ask(client, "session/request_permission", question)
    assert asked[0].tool_call.raw_input == question["toolCall"]["rawInput"]
    assert first["result"] == golden("session-request_permission.result")["result"]
    assert second["result"] == golden("session-request_permission.cancelled.result")["result"]


async def test_a_client_is_asked_to_read_write_and_edit_files() -> None:
    texts = {"/a": "old"}

    async def read(params: messages.FsReadTextFileParams) -> str:
        return texts[params.path]

    async def write(params: messages.FsWriteTextFileParams) -> None:
        texts[params.path] = params.content

    async def apply(params: dict[str, Any]) -> bool:
        return "edit" in params

    async with connect(read_text_file=read, write_text_file=write, apply_edit=apply) as client:
        [params] = await received(client, "initialize")
        assert params["capabilities"]["workspace"] == {"applyEdit": True}
        ours = params["capabilities"]["experimental"]["sidecar"]
        assert ours["fs"] == {"readTextFile": True, "writeTextFile": True}
        put = {"sessionId": "s", "path": "/a", "content": "new"}
        assert (await ask(client, "fs/write_text_file", put))["result"] == {}
        got = await ask(client, "fs/read_text_file", {"sessionId": "s", "path": "/a"})
        assert got["result"] == {"content": "new"}
        edit = await ask(client, "workspace/applyEdit", {"edit": {}})
        assert edit["result"] == {"applied": True}


@pytest.mark.parametrize("method", ["tool/call", "session/request_permission", "other/thing"])
async def test_what_has_no_callback_is_refused(method: str) -> None:
    async with connect() as client:
        reply = await ask(client, method, {})
    assert reply["error"]["code"] == -32601
    assert reply["error"]["data"]["kind"] == "unknown_method"


async def test_notifications_reach_their_callbacks_in_order() -> None:
    seen: list[Any] = []
    meters: list[messages.Meter] = []
    others: list[tuple[str, object]] = []
    later = {"sessionId": "s", "update": {"sessionUpdate": "mood", "mood": "good"}}
    log = {"type": 3, "message": "hi"}
    async with connect(
        on_update=seen.append,
        on_meter=meters.append,
        on_notification=lambda method, params: others.append((method, params)),
    ) as client:
        await tell(
            client,
            ("session/update", golden("session-update.agent_message_chunk.params")["params"]),
            ("session/update", golden("session-update.tool_call.params")["params"]),
            ("session/update", later),
            ("context/meterChanged", golden("context-meterChanged.params")["params"]),
            ("session/changed", golden("session-changed.params")["params"]),
            ("window/logMessage", log),
        )
    assert [type(params.update) for params in seen] == [
        messages.AgentMessageChunk,
        messages.ToolCallStarted,
    ]
    assert [meter.zone for meter in meters] == ["green"]
    changed = messages.SessionChangedParams(
        session_id="ses_01k9f3", revision=13, cause="turn_ended"
    )
    assert others == [
        ("session/update", later),
        ("session/changed", changed),
        ("window/logMessage", log),
    ]


async def test_a_callback_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: messages.SessionUpdateParams) -> None:
        raise ValueError("mine")

    async with connect(on_update=broken) as client:
        with caplog.at_level(logging.CRITICAL):
            await tell(client, ("session/update", golden("session-update.plan.params")["params"]))
        assert (await client.daemon.status()).version


async def test_cancelling_a_call_cancels_the_request() -> None:
    async with connect() as client, asyncio.TaskGroup() as group:
        task = group.create_task(client.request("fake/hang"))
        await client.daemon.status()
        [hung] = [m for m in await client.request("fake/received") if m["method"] == "fake/hang"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await received(client, "$/cancelRequest") == [{"id": hung["id"]}]


async def test_large_messages_pass_whole() -> None:
    large = "é" * 3_000_000

    async def echo(given: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": given}]}

    call = {"sessionId": "s", "callId": "c", "name": "echo", "input": large}
    async with connect(tools={"echo": echo}) as client:
        reply = await ask(client, "tool/call", call)
    assert reply["result"]["content"][0]["text"] == large


async def test_a_daemon_that_dies_fails_what_waits() -> None:
    async with connect() as client, asyncio.TaskGroup() as group:
        waiting = group.create_task(outcome(client.request("fake/hang")))
        dying = group.create_task(outcome(client.request("fake/die")))
    assert isinstance(waiting.result(), Disconnected)
    assert isinstance(dying.result(), Disconnected)


async def outcome(work: Any) -> Any:
    try:
        return await work
    except SidecarError as error:
        return error


async def test_a_daemon_that_does_not_start_says_so() -> None:
    with pytest.raises(Disconnected, match="stderr"):
        async with connect("dead"):
            pytest.fail("it did start")


async def test_a_command_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        async with sidecar_client.connect(["/no/such/command"]):
            pytest.fail("it did start")


@pytest.mark.parametrize(
    "garbage", ["Content-Length: 3\r\n\r\n{x}", "Hello: 1\r\n\r\n", "Content-Length: x\r\n\r\n"]
)
async def test_what_cannot_be_read_ends_the_connection(garbage: str) -> None:
    async with connect() as client:
        with pytest.raises(Disconnected, match="cannot be read"):
            await client.request("fake/write", {"bytes": garbage})


async def test_a_deaf_daemon_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.2)
    async with connect("deaf", stderr=subprocess.DEVNULL) as client:
        pid = (await client.request("fake/pid"))["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_environment_is_added_to(tmp_path: Path) -> None:
    shown = tmp_path / "shown.json"
    script = tmp_path / "show.py"
    script.write_text("import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1], 'w'))")
    command = [sys.executable, "-W", "ignore", str(script), str(shown)]
    with pytest.raises(Disconnected):
        async with sidecar_client.connect(command, env={"SHOWN": "é"}):
            pytest.fail("it is no daemon")
    environment = json.loads(shown.read_text())
    assert environment["SHOWN"] == "é"
    assert environment["PATH"] == os.environ["PATH"]
