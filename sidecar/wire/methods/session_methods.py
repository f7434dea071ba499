"""`session/…`: open, load, close, options, prompt, cancel, files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from msgspec import UNSET, UnsetType

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, PartId, SessionId
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.desk.sessions import Sessions, watched
from sidecar.session.interface import NewSession, PromptRequest
from sidecar.tools.files.fuzzy_names import find_names
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import (
    SessionCancelParams,
    SessionCloseParams,
    SessionFindFilesParams,
    SessionLoadParams,
    SessionNewParams,
    SessionPromptParams,
    SessionSetConfigOptionParams,
    ToolDefinition,
)
from sidecar.wire.methods.mcp_params import servers_of
from sidecar.wire.translate import loaded, opened, prompt_result

T = TypeVar("T")

PAGE = 50
LARGEST_PAGE = 500


def handlers(sessions: Sessions) -> Mapping[str, Handler]:
    async def new(connection: Connection, params: SessionNewParams, _: Ticket) -> Json:
        parent = given(params.from_session)
        request = NewSession(
            cwd=params.cwd,
            title=given(params.title),
            agent=given(params.agent),
            model=given(params.model),
            policy=given(params.policy),
            window=given(params.window),
            max_tokens=given(params.max_tokens),
            tools=tuple(tool_spec(tool) for tool in given(params.tools) or ()),
            builtin_tools=params.builtin_tools is not False,
            system=given(params.system),
            parent=None if parent is None else SessionId(parent),
            mcp=servers_of(given(params.mcp_servers) or ()),
        )
        return opened(await sessions.new(request, connection, connection.watch))

    async def load(connection: Connection, params: SessionLoadParams, _: Ticket) -> Json:
        after = given(params.after)
        if servers := servers_of(given(params.mcp_servers) or ()):
            session = await sessions.get(SessionId(params.session_id))
            session.servers.provide(servers)
        return loaded(
            await sessions.load(
                SessionId(params.session_id),
                connection,
                connection.watch,
                replay=params.replay is not False,
                after=None if after is None else PartId(after),
                emit=connection.show,
            )
        )

    async def close(connection: Connection, params: SessionCloseParams, _: Ticket) -> Json:
        await sessions.close(SessionId(params.session_id), connection.watch)
        return {}

    async def set_option(_: Connection, params: SessionSetConfigOptionParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        options = await session.set_option(
            params.config_id, params.value, given(params.expected_revision)
        )
        return {"configOptions": list(options)}

    async def prompt(connection: Connection, params: SessionPromptParams, ticket: Ticket) -> Json:
        session_id = SessionId(params.session_id)
        session = await watched(sessions, session_id, connection, connection.watch)
        ticket.on_cancel = lambda: session.prompts.cancel_prompt(ticket)
        request = PromptRequest(
            blocks=tuple(params.prompt),
            context=given(params.context) or {},
            steer=params.steer is True,
            ticket=ticket,
            cancelled=ticket.cancelled,
            expected_revision=given(params.expected_revision),
            window=sessions.shared.known,
        )
        return prompt_result(await session.prompt(request, ticket.arrived))

    async def find_files(_: Connection, params: SessionFindFilesParams, __: Ticket) -> Json:
        session = await sessions.get(SessionId(params.session_id))
        limit = limited(given(params.limit))
        found, partial = await find_names(Path(session.row.cwd), params.query, limit)
        return {"files": list(found), "partial": partial}

    async def cancel(_: Connection, params: SessionCancelParams, __: Ticket) -> Json:
        (await sessions.get(SessionId(params.session_id))).prompts.cancel()
        return None

    return {
        "session/new": new,
        "session/load": load,
        "session/close": close,
        "session/set_config_option": set_option,
        "session/prompt": prompt,
        "session/findFiles": find_files,
        "session/cancel": cancel,
    }


def limited(asked: int | None, usual: int = PAGE, most: int = LARGEST_PAGE) -> int:
    """Raises BadRequest."""
    if asked is not None and asked < 1:
        raise BadRequest("limit must be at least 1", "params.limit")
    return min(asked or usual, most)


def tool_spec(tool: ToolDefinition) -> ToolSpec:
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        kind=given(tool.kind) or ("read" if tool.read_only is True else "execute"),
        read_only=tool.read_only is True,
        output_limit=given(tool.output_limit),
        protected_from_pruning=tool.protected_from_pruning is True,
        origin="client",
    )


def given(value: T | UnsetType) -> T | None:
    return None if value is UNSET else value
