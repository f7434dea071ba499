"""Connects to an MCP server. Only a server's start imports the SDK, which takes over a second."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED
from mcp_types import Tool as OfferedTool

from sidecar.config.mcp_settings import McpServer
from sidecar.core.errors import SidecarError
from sidecar.core.parts import JsonObject
from sidecar.tools.mcp import mcp_start
from sidecar.workspace.variables import absolute_path

MOST_PAGES = 20
"""Pages of tools read per server."""
_MODULE = re.compile(r"-[bBdEhiIOPqRsSuvVx]*[mc]")
"""Python's options for a module and for code, which other letters may precede."""
MOST_SAID = 2_000
"""Last bytes kept of a server's stderr, for failures."""


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

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> tuple[Offered, ...]:
        found: list[OfferedTool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return tuple(_offered(tool) for tool in found)

    async def call(self, tool: str, given: JsonObject, seconds: float) -> JsonObject:
        """`{content, isError?}`, as in `tool/call`.

        Raises SidecarError for an error; the server still runs.
        """
        try:
            result = await self._client.call_tool(tool, given, read_timeout_seconds=seconds)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise
            raise SidecarError(error.message) from error
        told: JsonObject = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        if not told.get("content") and result.structured_content is not None:
            told["content"] = [{"type": "text", "text": str(result.structured_content)}]
        return told


class ServerWords(asyncio.Protocol):
    """A server's last bytes on stderr."""

    def __init__(self) -> None:
        self._bytes = b""

    def data_received(self, data: bytes) -> None:
        self._bytes = (self._bytes + data)[-MOST_SAID:]

    def last(self) -> str:
        lines = self._bytes.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


@asynccontextmanager
async def connect(server: McpServer, folder: Path, said: ServerWords) -> AsyncIterator[Live]:
    if server.url:
        async with (
            httpx2.AsyncClient(headers=dict(server.headers), timeout=60) as http,
            Client(streamable_http_client(server.url, http_client=http)) as client,
        ):
            yield Live(client)
        return
    if not await asyncio.to_thread(folder.is_dir):
        raise SidecarError(f"there is no folder {folder}")
    command = _started(server.command)
    parameters = StdioServerParameters(
        command=command[0],
        args=list(command[1:]),
        env=_environment(server),
        cwd=folder,
    )
    async with (
        _heard(said) as errors,
        Client(stdio_client(parameters, errlog=errors)) as client,
    ):
        yield Live(client)


def _started(command: Sequence[str]) -> Sequence[str]:
    if sys.platform == "win32":
        return command
    return (sys.executable, "-I", "-S", mcp_start.__file__, str(os.getpid()), *command)


def _environment(server: McpServer) -> dict[str, str]:
    """Keeps the workspace's files out of `python -m` and PATH.

    A workspace module as server needs `PYTHONSAFEPATH = ""`.
    """
    safe = {"PYTHONSAFEPATH": "1"} if any(map(_MODULE.match, server.command)) else {}
    given = {**safe, **server.environment}
    # With an empty PATH the current folder would be searched.
    path = absolute_path(given) or absolute_path({"PATH": os.defpath})
    return {**given, "PATH": path}


@asynccontextmanager
async def _heard(said: ServerWords) -> AsyncIterator[TextIO]:
    readable, writable = os.pipe()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: said, os.fdopen(readable, "rb"))
    with closing(transport), os.fdopen(writable, "w") as errors:
        yield errors


def _offered(tool: OfferedTool) -> Offered:
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    # MCP takes every tool to reach out unless that is denied.
    closed = hints is not None and hints.open_world_hint is False
    return Offered(tool.name, tool.description or "", tool.input_schema, read_only, closed)
