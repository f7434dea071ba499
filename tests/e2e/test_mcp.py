"""MCP servers in sessions of a real daemon, given by the client or by configuration."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient, allow
from tests.e2e.plain import PlainClient, Refused, Spawn

pytestmark = pytest.mark.long

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
def agents(tmp_path: Path, spawn: Spawn | None) -> Any:
    """Start daemons with the agent face over one store."""
    started: list[LineClient] = []

    def begin() -> LineClient:
        answers = {"session/request_permission": allow}
        client = LineClient(tmp_path / "data", answers=answers, spawn=spawn)
        started.append(client)
        client.start()
        return client

    yield begin
    for client in started:
        if client.process.poll() is None:
            assert client.stop() == 0, client.stderr
        client.close()


def test_a_tool_that_its_server_calls_otherwise_by_now_is_asked_about(
    agents: Any, workspace: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "turned"
    turning = {**NOTES, "args": [SERVER, "turns", str(mark)]}
    client = agents()
    session = client.open(workspace, mcpServers=[turning])
    client.say(session, LOOKUP)
    assert not client.requests
    mark.touch()
    # A server that is gone is started by the next call, and only then heard.
    client.say(session, "call mcp__notes__leave {}")
    client.say(session, LOOKUP)
    assert "changes something or reaches beyond it" in client.words()
    assert len(client.requests) == 1
    client.say(session, LOOKUP)
    assert client.requests[1]["params"]["toolCall"]["title"].startswith("mcp__notes__lookup")


def test_an_agents_client_gives_servers(agents: Any, workspace: Path) -> None:
    client = agents()
    session = client.open(workspace, mcpServers=[NOTES, BROKEN, MISSING])
    assert client.say(session, LOOKUP)["stopReason"] == "end_turn"
    said = str(client.updates("agent_thought_chunk"))
    assert "broken" in said
    assert "no licence found" in said
    assert "it means 42" in client.words()
    assert not client.requests, "the server says that this only reads"
    client.say(session, "call mcp__notes__leave {}")
    assert client.requests[0]["params"]["toolCall"]["kind"] == "execute"
    assert "The MCP server notes failed" in client.words()
    told = client.request("_sidecar/context/breakdown", {"sessionId": session})
    served = [s for s in told["segments"] if s.get("server") == "notes"]
    assert len(served) == 4
    assert all(s["tokens"] > 0 and s["region"] == "tools" for s in served)
    by_server = {"notes": sum(s["tokens"] for s in served)}
    assert told["meter"]["toolsByServer"] == by_server
    # The first may have come before the servers' tools.
    shown = [u["_meta"]["sidecar"]["toolsByServer"] for u in client.updates("usage_update")]
    assert by_server in shown
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
    assert (status["name"], status["state"], status["tools"]) == ("notes", "running", 4)
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


MUCH = {**NOTES, "name": "much", "args": [SERVER, "much"]}
LATE = {**NOTES, "name": "late", "args": [SERVER, "late", "3"]}
SILENT = {**NOTES, "name": "silent", "args": [SERVER, "sleeps"]}


def test_a_server_that_offers_too_much_leaves_room(agents: Any, workspace: Path) -> None:
    client = agents()
    session = client.open(workspace, mcpServers=[MUCH])
    assert client.say(session, "hello")["stopReason"] == "end_turn"
    said = str(client.updates("agent_thought_chunk"))
    # Three tools are those of every such server.
    assert "876 of 1004 tools are left out" in said
    assert "descriptions are cut after 4000 characters" in said
    told = client.request("_sidecar/context/breakdown", {"sessionId": session})
    served = [s for s in told["segments"] if s.get("server") == "much"]
    assert len(served) == 128
    assert sum(s["tokens"] for s in served) < 40_000
    (status,) = client.request("_sidecar/daemon/status", {})["mcp"]
    assert (status["tools"], "left out" in status["leftOut"]) == (128, True)


def test_a_silent_server_holds_no_new_session(agents: Any, workspace: Path) -> None:
    client = agents()
    began = time.monotonic()
    session = client.open(workspace, mcpServers=[SILENT])
    assert time.monotonic() - began < 6, "it was to wait for 2 seconds"
    assert client.say(session, "hello")["stopReason"] == "end_turn"
    assert "did not answer within 10 s" in str(client.updates("agent_thought_chunk"))


def test_a_late_servers_tools_are_there_from_the_first_prompt_on(
    agents: Any, workspace: Path
) -> None:
    client = agents()
    session = client.open(workspace, mcpServers=[LATE])
    lookup = LOOKUP.replace("notes", "late")
    assert client.say(session, lookup)["stopReason"] == "end_turn"
    assert "it means 42" in client.words()
    client.request("session/close", {"sessionId": session})
    again = agents()
    params = {"sessionId": session, "cwd": str(workspace), "mcpServers": [LATE]}
    again.request("session/load", params)
    again.say(session, lookup)
    assert again.words().count("it means 42") == 2


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_servers_end_with_a_daemon_that_is_killed(
    agents: Any, workspace: Path, tmp_path: Path
) -> None:
    client = agents()
    pids = tmp_path / "pids"
    client.open(workspace, mcpServers=[{**NOTES, "args": [SERVER, "stays", str(pids)]}])
    wait_for(pids.exists)
    server, child = map(int, pids.read_text().split())
    assert lives(server)
    assert lives(child)
    client.process.kill()
    client.close()
    wait_for(lambda: not lives(server) and not lives(child))


def lives(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def wait_for(found: Callable[[], bool], limit: float = 20) -> None:
    end = time.monotonic() + limit
    while not found():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "x" * 65}, "name"),
        ({"description": "x" * 4_001}, "description"),
        ({"inputSchema": {"title": "x" * 20_000}}, "inputSchema"),
    ],
)
def test_a_clients_own_tools_are_bounded(
    start: Callable[..., PlainClient], workspace: Path, tool: dict[str, Any], path: str
) -> None:
    client = start()
    client.start(model="offline")
    given = {"name": "mine", "description": "", "inputSchema": {"type": "object"}, **tool}
    with pytest.raises(Refused) as refused:
        client.request("session/new", {"cwd": str(workspace), "tools": [given]})
    assert (refused.value.code, refused.value.data["path"]) == (-32602, f"params.tools[0].{path}")


def test_a_server_of_another_kind_is_refused(agents: Any, workspace: Path) -> None:
    client = agents()
    sse = {"type": "sse", "name": "old", "url": "https://x.test/sse", "headers": []}
    with pytest.raises(Refused) as refused:
        client.open(workspace, mcpServers=[sse])
    assert (refused.value.code, refused.value.data["path"]) == (-32602, "params.mcpServers[0]")
