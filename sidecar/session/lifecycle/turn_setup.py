"""Assemble a turn from the session."""

from collections.abc import Callable

from sidecar.config.mcp_settings import McpServer
from sidecar.core.parts import Json, TurnId
from sidecar.session.lifecycle.context_actions import Rewriting
from sidecar.session.lifecycle.subtask import Bound, Delegating
from sidecar.session.state import State
from sidecar.session.turn.consent import Consent
from sidecar.session.turn.doom_loop import LoopWatch
from sidecar.session.turn.step import Steps
from sidecar.session.turn.tool_calls import CallMcp, ToolCalls
from sidecar.session.turn.turn import RunningTurn
from sidecar.session.turn.turn_log import TurnLog
from sidecar.session.turn.workplace import RecallPart, Workplace
from sidecar.tools.tool_contract import Client, ToolAnswer


def turn_of(
    state: State,
    turn_id: TurnId,
    rewriting: Rewriting,
    client: Callable[[], Client],
    recall: RecallPart,
    turn: TurnLog,
    delegating: Delegating,
) -> RunningTurn:
    """A turn that begins now; a subtask's limits, client and purpose take precedence."""
    bound, view, row = delegating.bound, state.view, state.log.row
    steps = Steps(
        turn_id=turn_id,
        turn=turn,
        view=view,
        cached=state.cached,
        models=state.environment.models,
        max_tokens=state.settings.max_tokens(),
        effort=state.settings.effort,
        purpose="turn" if bound is None else "subtask",
        gate=rewriting.gate,
    )
    asked = client if bound is None else bound.client
    consent = Consent(row.id, asked, state.trust, state.permissions)
    variables = state.environment.workspaces.variables
    place = Workplace(
        consent, row.cwd, state.buffers, variables, state.tracking, recall, delegating.delegate
    )
    tools = {tool.name: tool for tool in view.static.tools}
    return RunningTurn(
        turn=turn,
        steps=steps,
        calls=ToolCalls(turn, consent, place, tools, _calls_mcp(state, bound), view.tokens),
        loops=LoopWatch(consent, turn.notice, row.cwd),
        tracking=state.tracking,
        make_room=rewriting.make_room,
        # A subtask has no user to tell it to go on.
        goes_on=bound is not None or state.settings.is_on("autoContinue"),
        max_steps=state.config.max_steps if bound is None else bound.max_steps,
    )


def provide(state: State, servers: tuple[McpServer, ...]) -> None:
    """Start MCP servers whose tools the session already has."""
    state.environment.mcp.provide(state.log.row.id, servers, state.trust.standing())


def _calls_mcp(state: State, bound: Bound | None) -> CallMcp:
    """Call servers in the session's name; a subtask calls the parent's."""
    environment = state.environment
    owner = state.log.row.id if bound is None else bound.parent

    async def call(name: str, given: Json) -> ToolAnswer:
        # Configured servers start when a stored session first needs them.
        if servers := environment.settings.config.mcp_servers:
            environment.mcp.provide(owner, servers, state.trust.standing())
        return await environment.mcp.call(owner, name, given)

    return call
