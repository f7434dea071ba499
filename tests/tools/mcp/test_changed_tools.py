"""MCP servers that say, while they run, that their tools have changed."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from sidecar.config.mcp_settings import McpServer
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.mcp import servers as mcp
from sidecar.tools.mcp.servers import McpServers
from tests.tools.mcp.test_messages import Raw
from tests.tools.mcp.test_servers import SERVER, here, running

pytestmark = pytest.mark.long

CHANGED = "changes something or reaches beyond it"


async def tool(servers: McpServers, name: str) -> ToolSpec:
    found = await servers.found("one")
    return next(tool for tool in found.tools if tool.name.endswith(f"__{name}"))


async def test_a_tool_that_only_read_is_refused_once_the_server_says_otherwise(
    tmp_path: Path,
) -> None:
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        send = await tool(servers, "send")
        assert send.kind == "read"
        assert await servers.as_now("one", send) == send
        assert (await servers.call("one", send.name, {}, send)).text == "done"
        assert raw.heard() == ["listed", "sent"]
        await raw.call("turn")
        answer = await servers.call("one", send.name, {}, send)
        assert answer.is_error
        assert CHANGED in answer.text
        assert raw.heard() == ["listed", "sent", "listed"]
        now = await servers.as_now("one", send)
        assert (now.kind, now.read_only) == ("execute", False)
        assert (await servers.call("one", send.name, {}, now)).text == "done"
        assert raw.heard() == ["listed", "sent", "listed", "sent"]


async def test_a_tool_whose_server_no_longer_lists_any_is_not_believed_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        send = await tool(servers, "send")
        await raw.call("mute")
        # A turn that is cancelled meanwhile makes the old list no newer.
        asking = asyncio.create_task(servers.as_now("one", send))
        await asyncio.sleep(0.2)
        asking.cancel()
        await asyncio.wait({asking})
        monkeypatch.setattr(mcp, "START", 0.5)
        now = await servers.as_now("one", send)
        assert (now.kind, now.read_only) == ("execute", False)
        assert CHANGED in (await servers.call("one", send.name, {}, send)).text
        assert "sent" not in raw.heard()


async def test_a_server_that_tells_of_changes_without_end_is_listed_for_a_call_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        big = await tool(servers, "big")
        await raw.call("flood")
        began = time.process_time()
        await asyncio.sleep(2)
        assert time.process_time() - began < 0.8
        assert raw.heard() == ["listed"]
        monkeypatch.setattr(mcp, "START", 1)
        calls = [servers.call("one", big.name, {"piece": "", "times": 0}, big) for _ in range(20)]
        answers = await asyncio.gather(*calls)
        # Each list may be an old one when it comes, so none is believed.
        assert all(CHANGED in answer.text for answer in answers)
        assert len(raw.heard()) <= 1 + 2 * mcp.LISTS
        now = await servers.as_now("one", big)
        given = {"piece": "x", "times": 3}
        assert (await servers.call("one", big.name, given, now)).text == "xxx"


async def test_a_server_of_the_newest_protocol_is_listened_to(tmp_path: Path) -> None:
    async with running() as servers:
        words = (sys.executable, SERVER, "tells")
        servers.provide("one", [McpServer("notes", words)], here(tmp_path))
        lookup = await tool(servers, "lookup")
        given = {"word": "it"}
        assert (await servers.call("one", lookup.name, given, lookup)).text == "it means nothing"
        assert not (await servers.call("one", "mcp__notes__change", {})).is_error
        assert CHANGED in (await servers.call("one", lookup.name, given, lookup)).text
