"""MCP servers in sessions of a real daemon, given by the client or by configuration."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient, allow
from tests.e2e.plain import PlainClient, Refused

SERVER = str(Path(__file__).parents[1] / "fakes" / "mcp_server.py")
NOTES = {
    "name": "notes",
    "command": sys.executable,
    "args": [SERVER],
    "env": [{"name": "MEANING", "value": "42"}],
}
BROKEN = {**NOTES, "name": "broken", "args": [SERVER, "fails"]}
MISSING = {"name": "missing", "command": "no-such-command-anywhere", "args": [], "env": []}
LOOKUP = 'call mcp__notes__lookup {"word": "it"}'


@pytest.fixture
def agents(tmp_path: Path) -> Any:
    """Start daemons with the agent face over one store."""
    started: list[LineClient] = []

    def begin() -> LineClient:
        client = LineClient(tmp_path / "data", answers={"session/request_permission": allow})
        started.append(client)
        client.start()
        return client

    yield begin
    for client in started:
        if client.process.poll() is None:
            assert client.stop() == 0, client.stderr
        client.close()


def test_an_agents_client_gives_servers(agents: Any, workspace: Path) -> None:
    client = agents()
    session = client.open(workspace, mcpServers=[NOTES, BROKEN, MISSING])
    said = client.wait_for_update("agent_thought_chunk")["content"]["text"]
    assert "broken" in said
    assert "no licence found" in said
    assert client.say(session, LOOKUP)["stopReason"] == "end_turn"
    assert "it means 42" in client.words()
    assert not client.requests, "the server says that this only reads"
    client.say(session, "call mcp__notes__leave {}")
    assert client.requests[0]["params"]["toolCall"]["kind"] == "execute"
    assert "The MCP server notes failed" in client.words()
    told = client.request("_sidecar/context/breakdown", {"sessionId": session})
    served = [s for s in told["segments"] if s.get("server") == "notes"]
    assert len(served) == 3
    assert all(s["tokens"] > 0 and s["region"] == "tools" for s in served)
    by_server = {"notes": sum(s["tokens"] for s in served)}
    assert told["meter"]["toolsByServer"] == by_server
    assert client.wait_for_update("usage_update")["_meta"]["sidecar"]["toolsByServer"] == by_server
    client.say(session, "/context")
    assert "| notes |" in client.words()
    client.request("session/close", {"sessionId": session})

    again = agents()
    params = {"sessionId": session, "cwd": str(workspace), "mcpServers": [NOTES]}
    again.request("session/load", params)
    again.say(session, LOOKUP)
    assert again.words().count("it means 42") == 2
    branch = again.request("session/fork", params)["sessionId"]
    again.say(branch, LOOKUP)
    assert again.words().count("it means 42") == 3


def test_an_editor_has_servers_by_configuration(
    start: Callable[..., PlainClient], workspace: Path
) -> None:
    server = {"command": sys.executable, "args": [SERVER], "env": {"MEANING": "43"}}
    options: dict[str, Any] = {"model": "offline", "mcpServers": {"notes": server}}
    client = start()
    client.start(**options)
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]

    def say(client: PlainClient) -> str:
        prompt = [{"type": "text", "text": LOOKUP}]
        client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        chunks = client.updates("agent_message_chunk")
        return "".join(chunk["content"]["text"] for chunk in chunks)

    assert "it means 43" in say(client)
    (status,) = client.request("daemon/status", {})["mcp"]
    assert (status["name"], status["state"], status["tools"]) == ("notes", "running", 3)
    client.request("session/close", {"sessionId": session})
    assert client.request("daemon/status", {})["mcp"] == []

    second = start()
    second.start(**options)
    second.request("session/load", {"sessionId": session, "replay": False})
    assert "it means 43" in say(second)


def test_a_subtask_calls_its_parents_servers(agents: Any, workspace: Path) -> None:
    client = agents()
    session = client.open(workspace, mcpServers=[NOTES])
    task = LOOKUP.replace('"', '\\"')
    client.say(session, f'call delegate {{"task": "{task}"}}')
    assert "it means 42" in str(client.updates("tool_call_update"))


def test_a_server_of_another_kind_is_refused(agents: Any, workspace: Path) -> None:
    client = agents()
    sse = {"type": "sse", "name": "old", "url": "https://x.test/sse", "headers": []}
    with pytest.raises(Refused) as refused:
        client.open(workspace, mcpServers=[sse])
    assert (refused.value.code, refused.value.data["path"]) == (-32602, "params.mcpServers[0]")
