"""Connects to an MCP server. Only a server's start imports the SDK, which takes over a second."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self

import httpx2
from mcp import Client
from mcp.client import Transport
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, ToolListChangedNotification
from mcp_types import Tool as OfferedTool
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from sidecar.config.mcp_settings import McpServer
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError
from sidecar.core.parts import JsonObject
from sidecar.tools.mcp import http_bounds, mcp_start
from sidecar.tools.mcp.stdio_transport import ServerWords, stdio
from sidecar.workspace.variables import absolute_path

MOST_PAGES = 20
"""Pages of tools read per server."""
_MODULE = re.compile(r"(?:^|[\s'\"])-[bBdEhiIOPqRsSuvVx]*[mc]")
"""Python's options for a module and for code, behind other letters, in a shell's text, too."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool as described by its server.

    `read_only` and `closed` (input goes nowhere else) are the server's claims.
    """

    name: str
    description: str
    input_schema: JsonObject
    read_only: bool
    closed: bool


class Live:
    """A connected server."""

    def __init__(self, transport: Transport, said: ServerWords) -> None:
        # A cached list would be an old one.
        self._client = Client(transport, message_handler=self._hear, cache=None)
        self._said = said
        self._deaf = False
        self.changed = False
        """Whether the server said, since the last list was asked for, that the tools changed."""

    @property
    def is_current(self) -> bool:
        """Whether the last list still counts."""
        return not self.changed and not self._deaf

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Self]:
        async with self._client, asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(self._listen())
            try:
                yield self
            finally:
                listening.cancel()

    async def tools(self) -> tuple[Offered, ...]:
        self.changed = False
        found: list[OfferedTool] = []
        cursor: str | None = None
        try:
            for _ in range(MOST_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
        except BaseException:
            self.changed = True
            raise
        return tuple(_offered(tool) for tool in found)

    async def call(self, tool: str, given: JsonObject, seconds: float) -> JsonObject:
        """`{content, isError?}`, as in `tool/call`.

        Raises SidecarError for an error; the server still runs.
        """
        try:
            result = await self._client.call_tool(tool, given, read_timeout_seconds=seconds)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise ConnectionError(self._said.fault or error.message) from error
            raise SidecarError(error.message) from error
        told: JsonObject = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if not told.get("content") and result.structured_content is not None:
            told["content"] = [{"type": "text", "text": str(result.structured_content)}]
        return told

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed = True

    async def _listen(self) -> None:
        """Asks for news of the tools, as the protocol of 2026 wants; earlier ones come unasked."""
        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed or self._is_early():
            return
        self._deaf = True
        # However that fails, each use then lists anew.
        with suppress(Exception):
            async with self._client.listen(tools_list_changed=True) as news:
                self.changed = True
                self._deaf = not news.honored.tools_list_changed
                async for _ in news:
                    self.changed = True
        self._deaf = True

    def _is_early(self) -> bool:
        return self._client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS


@asynccontextmanager
async def connect(server: McpServer, folder: Path, said: ServerWords) -> AsyncIterator[Live]:
    if server.url:
        async with (
            httpx2.AsyncClient(
                headers={**http_bounds.HEADERS, **server.headers},
                event_hooks={"response": [http_bounds.bound]},
                timeout=60,
            ) as http,
            Live(streamable_http_client(server.url, http_client=http), said).connected() as live,
        ):
            yield live
        return
    if not await asyncio.to_thread(folder.is_dir):
        raise SidecarError(f"there is no folder {folder}")
    transport = stdio(_started(server.command), _environment(server), folder, said)
    async with Live(transport, said).connected() as live:
        yield live


def _started(command: Sequence[str]) -> Sequence[str]:
    return (sys.executable, "-I", "-S", mcp_start.__file__, str(os.getpid()), *command)


def _environment(server: McpServer) -> dict[str, str]:
    """Keeps the workspace's files out of `python -m` and PATH.

    A workspace module as server needs `PYTHONSAFEPATH = ""`; Python before 3.11 knows none.
    """
    safe = {"PYTHONSAFEPATH": "1"} if any(map(_MODULE.search, server.command)) else {}
    given = {**safe, **server.environment}
    # With an empty PATH the current folder would be searched.
    path = absolute_path(given) or absolute_path({"PATH": os.defpath})
    return {**given, "PATH": path}


def _offered(tool: OfferedTool) -> Offered:
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    # MCP takes every tool to reach out unless that is denied.
    closed = hints is not None and hints.open_world_hint is False
    return Offered(tool.name, tool.description or "", tool.input_schema, read_only, closed)
