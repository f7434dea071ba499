"""Handles ACP's `session/…` methods except the prompt."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.desk.sessions import Sessions, watched
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import MeterChanged
from sidecar.wire.acp import acp_params
from sidecar.wire.acp.acp_connection import AgentConnection
from sidecar.wire.acp.acp_params import extra
from sidecar.wire.acp.modes import MODE, modes
from sidecar.wire.acp.slash_commands import ADVERTISED
from sidecar.wire.dispatch import Handler, Ticket, structure
from sidecar.wire.messages import (
    SessionForkParams,
    SessionListParams,
    SessionLoadParams,
    SessionNewParams,
    SessionSetConfigOptionParams,
)

T = TypeVar("T")

AcpMethod: TypeAlias = tuple[type[acp_params.Shape], Callable[[Any, Ticket], Awaitable[Json]]]
"""(shape of the params, handler)."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Sessions, client, and handlers of Sidecar's own methods."""

    sessions: Sessions
    connection: AgentConnection
    ours: Mapping[str, Handler]

    async def enter(self, session_id: str) -> Session:
        session = await self.sessions.get(SessionId(session_id))
        self.connection.enter(session_id, session.row.cwd)
        return session

    async def watch(self, session_id: str) -> Session:
        if self.connection.knows(session_id):
            return await self.sessions.get(SessionId(session_id))
        session = await self.enter(session_id)
        return await watched(self.sessions, session.id, self.connection, self.connection.watch)

    def greet(self, session: Session) -> None:
        commands: JsonObject = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": list(ADVERTISED),
        }
        self.connection.send(session.id, commands)
        self.connection.watch(MeterChanged(session.id, session.priced_meter(), urgent=True))


def methods(desk: Desk) -> Mapping[str, AcpMethod]:
    sessions, connection = desk.sessions, desk.connection

    def shaped(given: JsonObject, shape: type[T]) -> T:
        connection.log.unread("_meta.sidecar", given, shape)
        made: T = structure(given, shape)
        return made

    async def new(params: acp_params.AcpNewSession, ticket: Ticket) -> Json:
        asked = shaped(
            {
                **extra(params),
                "cwd": params.cwd,
                "mcpServers": list(params.mcp_servers),
            },
            SessionNewParams,
        )
        made = await desk.ours["session/new"](connection, asked, ticket)
        return await _made(desk, made, ticket)

    async def load(params: acp_params.AcpOpenSession, ticket: Ticket) -> Json:
        return await opened(params, ticket, replay=True)

    async def resume(params: acp_params.AcpOpenSession, ticket: Ticket) -> Json:
        return await opened(params, ticket, replay=False)

    async def opened(params: acp_params.AcpOpenSession, ticket: Ticket, *, replay: bool) -> Json:
        session = await desk.enter(params.session_id)
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "replay": replay,
            "mcpServers": list(params.mcp_servers),
        }
        told = await desk.ours["session/load"](connection, shaped(given, SessionLoadParams), ticket)
        ticket.on_answered = lambda: desk.greet(session)
        return _as_opened(told, named=False)

    async def fork(params: acp_params.AcpOpenSession, ticket: Ticket) -> Json:
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "mcpServers": list(params.mcp_servers),
        }
        made = await desk.ours["session/fork"](connection, shaped(given, SessionForkParams), ticket)
        return await _made(desk, made, ticket)

    async def listed(params: acp_params.ListSessions, ticket: Ticket) -> Json:
        given: JsonObject = {**extra(params), "cwd": params.cwd, "cursor": params.cursor}
        found = await desk.ours["session/list"](
            connection, shaped(given, SessionListParams), ticket
        )
        assert isinstance(found, dict)
        lines = found["sessions"]
        assert isinstance(lines, list)
        return {**found, "sessions": [_as_listed(line) for line in lines]}

    async def close(params: acp_params.NamedSession, _: Ticket) -> Json:
        await sessions.close(SessionId(params.session_id), connection.watch)
        connection.leave(params.session_id)
        return {}

    async def delete(params: acp_params.NamedSession, _: Ticket) -> Json:
        force = extra(params).get("force") is True
        notes = await sessions.delete(SessionId(params.session_id), force=force)
        connection.leave(params.session_id)
        return {"_meta": {"sidecar": {"notes": list(notes)}}} if notes else {}

    async def set_option(params: acp_params.SetConfigOption, ticket: Ticket) -> Json:
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "configId": params.config_id,
            "value": params.value,
        }
        return await desk.ours["session/set_config_option"](
            connection, shaped(given, SessionSetConfigOptionParams), ticket
        )

    async def set_mode(params: acp_params.SetMode, ticket: Ticket) -> Json:
        chosen = acp_params.SetConfigOption(
            params.meta, session_id=params.session_id, config_id=MODE, value=params.mode_id
        )
        await set_option(chosen, ticket)
        return {}

    return {
        "session/new": (acp_params.AcpNewSession, new),
        "session/load": (acp_params.AcpOpenSession, load),
        "session/resume": (acp_params.AcpOpenSession, resume),
        "session/fork": (acp_params.AcpOpenSession, fork),
        "session/list": (acp_params.ListSessions, listed),
        "session/close": (acp_params.NamedSession, close),
        "session/delete": (acp_params.NamedSession, delete),
        "session/set_config_option": (acp_params.SetConfigOption, set_option),
        "session/set_mode": (acp_params.SetMode, set_mode),
    }


async def _made(desk: Desk, made: Json, ticket: Ticket) -> JsonObject:
    assert isinstance(made, dict)
    session = await desk.sessions.get(SessionId(str(made["sessionId"])))
    folder = session.row.cwd

    def enter() -> None:
        desk.connection.enter(session.id, folder)
        desk.greet(session)

    ticket.on_answered = enter
    return _as_opened({**made, "configOptions": list(session.opened().config_options)}, named=True)


def _as_opened(told: Json, *, named: bool) -> JsonObject:
    assert isinstance(told, dict)
    ours = {k: v for k, v in told.items() if k not in ("sessionId", "configOptions")}
    options = told["configOptions"]
    assert isinstance(options, list)
    answer: JsonObject = {
        "configOptions": options,
        "modes": modes(options),
        "_meta": {"sidecar": ours},
    }
    return {"sessionId": told["sessionId"], **answer} if named else answer


def _as_listed(line: Json) -> JsonObject:
    assert isinstance(line, dict)
    plain = ("sessionId", "cwd", "title", "updatedAt")
    ours = {k: v for k, v in line.items() if k not in plain}
    return {**{k: line[k] for k in plain}, "_meta": {"sidecar": ours}}
