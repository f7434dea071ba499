"""Makes new sessions."""

import asyncio

from sidecar.config.strategies import NOTHING
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.visible import mended
from sidecar.session.changes.session_trust import Trust
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.session_params import (
    amiss,
    check_within,
    checked_folder,
    checked_policy,
    named,
    offered_tools,
)
from sidecar.session.interface import NewSession, SessionSummary
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import parent_of
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.log_records import CreatedRecord, LinkedRecord
from sidecar.store.format.values import SessionRow
from sidecar.tools.mcp.servers import JOIN


async def found(environment: Environment, request: NewSession) -> SessionLog:
    """Makes a durable session.

    Raises BadRequest for an unusable folder, tool or number, UnknownSession for the parent, or
    StorageFailed.
    """
    config = environment.settings.config
    cwd = await asyncio.to_thread(checked_folder, request.cwd)
    check_within(request.cwd, cwd, environment.root)
    model = named(request.model or config.model, "params.model")
    agent = request.agent or config.agent
    strategy = config.agents.get(agent, NOTHING)
    settings: JsonObject = {
        "model": model,
        "policy": checked_policy(request.policy or strategy.policy or config.policy),
        "window": config.window if request.window is None else request.window,
        "maxTokens": config.max_tokens if request.max_tokens is None else request.max_tokens,
        "agent": agent,
        "effort": config.effort,
        "autoCompact": config.auto_compact
        if strategy.auto_compact is None
        else strategy.auto_compact,
        "autoContinue": config.auto_continue,
    }
    if wrong := amiss(settings, environment.models.info(model)):
        raise BadRequest(wrong[1], f"params.{wrong[0]}")
    offered = offered_tools(request)
    if request.parent is not None:
        await environment.store.sessions.row(request.parent)
        settings[PARENT] = request.parent
    trust = environment.trust(cwd)
    log = environment.new_log(cwd, mended(request.title or ""), settings)
    tools = (*offered, *await _served(environment, log.row.id, request, trust))
    static = await known_instructions.begin(
        environment, log.row, trust.granted, tools, request.system
    )
    epochs.begin(log, static, environment.clock.new_id("cmp"), "new")
    if request.parent is not None:
        log.writer.note(LinkedRecord(source=request.parent))
    await log.writer.commit(CreatedRecord())
    return log


async def _served(
    environment: Environment, session_id: SessionId, request: NewSession, trust: Trust
) -> tuple[ToolSpec, ...]:
    configured, servers = environment.settings.config.mcp_servers, environment.mcp
    if not (configured or request.mcp):
        return ()
    servers.provide(session_id, request.mcp, trust.standing())
    servers.provide(session_id, configured, trust.standing(), configured=True)
    return (await servers.found(session_id, JOIN)).tools


def summary_of(row: SessionRow) -> SessionSummary:
    return SessionSummary(
        row.id, row.title, row.cwd, row.updated, row.turns, row.cost, parent_of(row)
    )
