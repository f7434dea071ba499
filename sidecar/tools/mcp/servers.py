"""Runs sessions' MCP servers; a failing one affects no other.

Each server's task connects, waits for its end, and disconnects: the SDK ties connections to tasks.
"""

import asyncio
import importlib
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from sidecar.config.mcp_settings import McpServer
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.client_tool import read_answer
from sidecar.tools.mcp.mcp_bounds import (
    MOST_DESCRIPTION,
    MOST_OF_ALL,
    MOST_SCHEMA,
    MOST_TOOLS,
    schema_size,
)
from sidecar.tools.mcp.starting_folder import starting
from sidecar.tools.mcp_names import server_prefix, tool_name
from sidecar.tools.tool_contract import ToolAnswer
from sidecar.workspace.trust import StartingPlaces, make_empty

if TYPE_CHECKING:
    from sidecar.tools.mcp.mcp_client import Live, Offered

START = 10.0
"""Seconds to start, shake hands and list tools."""
JOIN = 2.0
"""Seconds a new session waits; later servers join with the first prompt."""
LISTS = 2
"""Of a server's tools before a use, if they change meanwhile."""
CALL = 120.0
"""Seconds for a call."""
ENDING = 6.0
"""Seconds for servers' ends, which take up to five."""

_CHANGED = (
    "The MCP server {} says now that {} changes something or reaches beyond it, and that "
    "was not decided on, so it was not called. Call it again to have the user asked."
)

logger = logging.getLogger("sidecar.tools")


class ServerFailed(SidecarError):
    """A server is unusable; the message names it."""

    kind = "mcp"


class _Server:
    def __init__(
        self,
        server: McpServer,
        standing: StartingPlaces,
        variables: Mapping[str, str],
        configured: bool,
    ) -> None:
        self.server = server
        self.variables = variables
        self.standing = standing
        self.configured = configured
        self.live: Live | None = None
        self.offered: tuple[Offered, ...] = ()
        self.left_out = ""
        self.problem = ""
        self.joined = False
        self.settled = asyncio.Event()
        self._listing = asyncio.Lock()
        self._lists = 0
        self._ending = asyncio.Event()
        self._limit: asyncio.Timeout | None = None

    def end(self) -> None:
        """Ends a server, even while starting.

        Only the time limit cancels its task: a second cancel would hang.
        """
        self.live = None
        self._ending.set()
        if self._limit is not None and not self.settled.is_set():
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        name = self.server.name
        # Ending a server that does not answer takes seconds, for which nobody need wait.
        late = asyncio.get_running_loop().call_later(START, self._late)
        try:
            client = await asyncio.to_thread(
                importlib.import_module, "sidecar.tools.mcp.mcp_client"
            )
            said = client.ServerWords()
            try:
                server, folder = starting(self.server, self.standing, self.variables)
                if server.command and folder == self.standing.empty:
                    await asyncio.to_thread(make_empty, folder)
                async with asyncio.timeout(START) as self._limit:
                    async with client.connect(server, folder, said) as live:
                        self.offered, self.left_out = taken(await live.tools())
                        self._limit.reschedule(None)
                        late.cancel()
                        self.live = live
                        self.settled.set()
                        if self.left_out:
                            logger.warning("of the MCP server %s %s", name, self.left_out)
                        await self._ending.wait()
            except TimeoutError:
                self._late()
            except Exception as error:  # noqa: BLE001 - whatever a server does, it fails alone
                self.problem = said.last() or _reason(error)
        finally:
            late.cancel()
            self.live = None
            self.settled.set()
        if self.problem:
            logger.warning("the MCP server %s is not there: %s", name, self.problem)

    async def be_current(self) -> None:
        """Lists the tools anew if they may have changed; without such a list, none just reads."""
        before = self._lists
        async with self._listing:
            live = self.live
            # Of many calls at once, those that waited share what was listed meanwhile.
            if live is None or live.is_current or self._lists > before:
                return
            self._lists += 1
            # Whatever a server does, it is not believed.
            with suppress(Exception):
                async with asyncio.timeout(START):
                    for _ in range(LISTS):
                        self.offered, self.left_out = taken(await live.tools())
                        if not live.changed:
                            return
            self.offered = tuple(replace(tool, read_only=False) for tool in self.offered)

    def said(self) -> tuple[str, ...]:
        name = self.server.name
        if self.problem:
            return (f"The MCP server {name} cannot be used: {self.problem}",)
        return (f"Of the MCP server {name} {self.left_out}",) if self.left_out else ()

    def _late(self) -> None:
        self.problem = f"it did not answer within {START:g} s"
        self.settled.set()

    def specs(self) -> tuple[ToolSpec, ...]:
        found: dict[str, ToolSpec] = {}
        for tool in self.offered:
            spec = ToolSpec(
                name=tool_name(self.server.name, tool.name),
                description=tool.description,
                input_schema={"type": "object", **tool.input_schema},
                kind="read" if tool.read_only and tool.closed else "execute",
                read_only=tool.read_only,
                origin="mcp",
            )
            found.setdefault(spec.name, spec)
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class FoundTools:
    """Tools of a session's servers, and notices."""

    tools: tuple[ToolSpec, ...]
    said: tuple[str, ...]


class McpServers:
    """The sessions' servers; `variables`: the window's, whose PATH has the programs."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self._variables = variables
        self._servers: dict[str, dict[str, _Server]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._group: asyncio.TaskGroup | None = None
        self._waiting: list[_Server] = []

    async def run(self) -> None:
        """Holds the servers' tasks until cancelled, and up to `ENDING` seconds more."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for server in self._waiting:
                self._start(group, server)
            self._waiting.clear()
            try:
                await asyncio.Event().wait()
            finally:
                for owner in tuple(self._servers):
                    self.drop(owner)
                if self._tasks:
                    await asyncio.wait(self._tasks, timeout=ENDING)

    def provide(
        self,
        owner: str,
        servers: Sequence[McpServer],
        standing: StartingPlaces,
        *,
        configured: bool = False,
    ) -> None:
        """Starts all `servers` except those running unchanged.

        A client's server precedes a `configured` one of its name.
        """
        if not servers:
            return
        known = self._servers.setdefault(owner, {})
        for server in servers:
            running = known.get(server.name)
            if configured and running is not None and not running.configured:
                continue
            if running is None or running.server != server or running.problem:
                if running is not None:
                    running.end()
                known[server.name] = self._begin(server, standing, configured)

    async def found(self, owner: str, wait: float = START) -> FoundTools:
        """Returns tools of servers new to the session, within `wait` seconds."""
        servers = [s for s in self._servers.get(owner, {}).values() if not s.joined]
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                for server in servers:
                    await server.settled.wait()
        for server in servers:
            server.joined = server.settled.is_set()
        there = [server for server in servers if server.joined]
        tools: dict[str, ToolSpec] = {}
        for spec in (spec for server in there for spec in server.specs()):
            tools.setdefault(spec.name, spec)
        return FoundTools(
            tuple(tools.values()), tuple(text for one in there for text in one.said())
        )

    def problems(self, owner: str) -> tuple[str, ...]:
        servers = self._servers.get(owner, {}).values()
        return tuple(text for server in servers for text in server.said())

    async def as_now(self, owner: str, spec: ToolSpec) -> ToolSpec:
        """Returns a tool as the session knows it, or stricter if the server now says so."""
        server = self._named(owner, spec.name)
        if server is not None:
            await server.be_current()
        offered = () if server is None or server.live is None else server.specs()
        now = next((one for one in offered if one.name == spec.name), spec)
        kind = spec.kind if now.kind == "read" else now.kind
        return replace(spec, kind=kind, read_only=spec.read_only and now.read_only)

    async def call(
        self, owner: str, name: str, given: Json, decided: ToolSpec | None = None
    ) -> ToolAnswer:
        """Calls a tool by the model's name for it; failures become error answers.

        Nothing runs if the server has become stricter than `decided`.
        """
        try:
            server = await self._ready(owner, name)
            if decided is None or await self.as_now(owner, decided) == decided:
                return await _called(server, name, given)
            return ToolAnswer(_CHANGED.format(server.server.name, name), is_error=True)
        except ServerFailed as error:
            return ToolAnswer(f"{error.message}.", is_error=True)

    def drop(self, owner: str) -> None:
        for server in self._servers.pop(owner, {}).values():
            server.end()

    def status(self) -> list[JsonObject]:
        return [
            {
                "sessionId": owner,
                "name": one.server.name,
                "state": "failed" if one.problem else "running" if one.live else "starting",
                "tools": len(one.offered),
                "leftOut": one.left_out,
                "problem": one.problem,
            }
            for owner, servers in self._servers.items()
            for one in servers.values()
        ]

    def _begin(self, server: McpServer, standing: StartingPlaces, configured: bool) -> _Server:
        begun = _Server(server, standing, self._variables, configured)
        if self._group is None:
            # A session may open before `run` had its turn.
            self._waiting.append(begun)
        else:
            self._start(self._group, begun)
        return begun

    def _start(self, group: asyncio.TaskGroup, server: _Server) -> None:
        task = group.create_task(server.run(), name=f"mcp {server.server.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _named(self, owner: str, tool: str) -> _Server | None:
        servers = self._servers.get(owner, {}).values()
        return next(
            (one for one in servers if tool.startswith(server_prefix(one.server.name))), None
        )

    async def _ready(self, owner: str, name: str) -> _Server:
        known = self._servers.get(owner, {})
        server = self._named(owner, name)
        if server is None:
            raise ServerFailed(
                f"The server of {name} is not configured any more, so its tools cannot be called"
            )
        await server.settled.wait()
        if server.live is None:
            name = server.server.name
            # Another call may have started it again meanwhile.
            if known.get(name) is server:
                known[name] = self._begin(server.server, server.standing, server.configured)
            server = known[name]
            await server.settled.wait()
        if server.live is None:
            raise ServerFailed(
                f"The MCP server {server.server.name} cannot be used: {server.problem}"
            )
        return server


def taken(offered: Sequence["Offered"]) -> tuple[tuple["Offered", ...], str]:
    """Returns the tools within the limits, and a notice about others, or ""."""
    kept: list[Offered] = []
    room, cut, out = MOST_OF_ALL, 0, 0
    for tool in offered[: 2 * MOST_TOOLS]:
        size = schema_size(tool.input_schema)
        told = tool.description[:MOST_DESCRIPTION]
        if len(kept) == MOST_TOOLS or size > MOST_SCHEMA or size + len(told) > room:
            out += 1
            continue
        room -= size + len(told)
        cut += told != tool.description
        kept.append(replace(tool, description=told))
    out += len(offered[2 * MOST_TOOLS :])
    texts = []
    if out:
        texts.append(
            f"{out} of {len(offered)} tools are left out: it may have {MOST_TOOLS} tools, "
            f"{MOST_SCHEMA} characters for the schema of one, and {MOST_OF_ALL} for all together"
        )
    if cut:
        texts.append(f"{cut} descriptions are cut after {MOST_DESCRIPTION} characters")
    return tuple(kept), "; ".join(texts)


async def _called(server: _Server, name: str, given: Json) -> ToolAnswer:
    arguments = given if isinstance(given, dict) else {}
    called, live = server.server.name, server.live
    tool = next((t.name for t in server.offered if tool_name(called, t.name) == name), None)
    if tool is None or live is None:
        raise ServerFailed(f"The MCP server {called} has no such tool any more")
    try:
        async with asyncio.timeout(CALL + 1):
            answer = await live.call(tool, arguments, CALL)
    except TimeoutError:
        raise ServerFailed(f"The MCP server {called} did not answer within {CALL:g} s") from None
    except SidecarError as error:
        raise ServerFailed(f"The MCP server {called} failed: {error.message}") from None
    except Exception as error:  # noqa: BLE001 - whatever a server does, it is an answer
        # The server is gone or garbled: the next call starts a new one.
        server.end()
        raise ServerFailed(f"The MCP server {called} failed: {_reason(error)}") from None
    return read_answer(name, answer)


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"there is no command {error.filename}"
    return str(error) or type(error).__name__
