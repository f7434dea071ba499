"""ACP's `session/…` but for the prompt: new, load, resume, fork, list, close, delete, options."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.events import MeterChanged
from sidecar.session.session import Session
from sidecar.session.sessions import Sessions
from sidecar.wire.acp import shapes
from sidecar.wire.acp.commands import ADVERTISED
from sidecar.wire.acp.connection import AgentConnection
from sidecar.wire.acp.shapes import extra
from sidecar.wire.dispatch import Handler, Ticket, structure
from sidecar.wire.messages import (
    SessionForkParams,
    SessionListParams,
    SessionLoadParams,
    SessionNewParams,
    SessionSetConfigOptionParams,
)

Method: TypeAlias = tuple[type[shapes.Shape], Callable[[Any, Ticket], Awaitable[Json]]]
"""(shape of the params, what handles them)."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What ACP's methods work with: the sessions, one client, and our own methods' handlers."""

    sessions: Sessions
    connection: AgentConnection
    ours: Mapping[str, Handler]

    async def enter(self, session_id: str) -> Session:
        """Have the client told of a session from now on.

        Raises:
            UnknownSession: there is none with this id.
        """
        session = await self.sessions.get(SessionId(session_id), window=True)
        self.connection.enter(session_id, session.state.log.row.cwd)
        return session

    async def watch(self, session_id: str) -> Session:
        """Give a session; one that the client did not open before is as if it had resumed it."""
        if self.connection.knows(session_id):
            return await self.sessions.get(SessionId(session_id), window=True)
        session = await self.enter(session_id)
        session.attach(self.connection.watch, self.connection)
        return session

    def greet(self, session: Session) -> None:
        """Tell a client what it can do in a session that it has opened, and how full that is."""
        commands: JsonObject = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": list(ADVERTISED),
        }
        self.connection.send(session.id, commands)
        self.connection.watch(MeterChanged(session.id, session.meter(), urgent=True))


def methods(desk: Desk) -> Mapping[str, Method]:
    """Give the methods by ACP's names."""
    sessions, connection = desk.sessions, desk.connection

    async def new(params: shapes.NewSession, ticket: Ticket) -> Json:
        asked = structure(
            {
                **extra(params),
                "cwd": params.cwd,
                "mcpServers": list(params.mcp_servers),
            },
            SessionNewParams,
        )
        made = await desk.ours["session/new"](connection, asked, ticket)
        return await _made(desk, made, ticket)

    async def load(params: shapes.OpenSession, ticket: Ticket) -> Json:
        return await opened(params, ticket, replay=True)

    async def resume(params: shapes.OpenSession, ticket: Ticket) -> Json:
        return await opened(params, ticket, replay=False)

    async def opened(params: shapes.OpenSession, ticket: Ticket, *, replay: bool) -> Json:
        session = await desk.enter(params.session_id)
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "replay": replay,
            "mcpServers": list(params.mcp_servers),
        }
        told = await desk.ours["session/load"](
            connection, structure(given, SessionLoadParams), ticket
        )
        ticket.on_answered = lambda: desk.greet(session)
        return _as_opened(told, named=False)

    async def fork(params: shapes.OpenSession, ticket: Ticket) -> Json:
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "mcpServers": list(params.mcp_servers),
        }
        made = await desk.ours["session/fork"](
            connection, structure(given, SessionForkParams), ticket
        )
        return await _made(desk, made, ticket)

    async def listed(params: shapes.ListSessions, ticket: Ticket) -> Json:
        given: JsonObject = {**extra(params), "cwd": params.cwd, "cursor": params.cursor}
        found = await desk.ours["session/list"](
            connection, structure(given, SessionListParams), ticket
        )
        assert isinstance(found, dict)
        lines = found["sessions"]
        assert isinstance(lines, list)
        return {**found, "sessions": [_as_listed(line) for line in lines]}

    async def close(params: shapes.NamedSession, _: Ticket) -> Json:
        await sessions.close(SessionId(params.session_id))
        connection.leave(params.session_id)
        return {}

    async def delete(params: shapes.NamedSession, _: Ticket) -> Json:
        notes = await sessions.delete(SessionId(params.session_id))
        connection.leave(params.session_id)
        return {"_meta": {"sidecar": {"notes": list(notes)}}} if notes else {}

    async def set_option(params: shapes.SetConfigOption, ticket: Ticket) -> Json:
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "configId": params.config_id,
            "value": params.value,
        }
        return await desk.ours["session/set_config_option"](
            connection, structure(given, SessionSetConfigOptionParams), ticket
        )

    return {
        "session/new": (shapes.NewSession, new),
        "session/load": (shapes.OpenSession, load),
        "session/resume": (shapes.OpenSession, resume),
        "session/fork": (shapes.OpenSession, fork),
        "session/list": (shapes.ListSessions, listed),
        "session/close": (shapes.NamedSession, close),
        "session/delete": (shapes.NamedSession, delete),
        "session/set_config_option": (shapes.SetConfigOption, set_option),
    }


async def _made(desk: Desk, made: Json, ticket: Ticket) -> JsonObject:
    """Answer with a session that is new to the client; it is told of it right after."""
    assert isinstance(made, dict)
    session = await desk.sessions.get(SessionId(str(made["sessionId"])))
    folder = session.state.log.row.cwd

    def enter() -> None:
        desk.connection.enter(session.id, folder)
        desk.greet(session)

    ticket.on_answered = enter
    return _as_opened({**made, "configOptions": list(session.opened().config_options)}, named=True)


def _as_opened(told: Json, *, named: bool) -> JsonObject:
    assert isinstance(told, dict)
    ours = {k: v for k, v in told.items() if k not in ("sessionId", "configOptions")}
    answer: JsonObject = {"configOptions": told["configOptions"], "_meta": {"sidecar": ours}}
    return {"sessionId": told["sessionId"], **answer} if named else answer


def _as_listed(line: Json) -> JsonObject:
    assert isinstance(line, dict)
    plain = ("sessionId", "cwd", "title", "updatedAt")
    ours = {k: v for k, v in line.items() if k not in plain}
    return {**{k: line[k] for k in plain}, "_meta": {"sidecar": ours}}
