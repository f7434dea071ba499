"""Assemble a turn's context from the session."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sidecar.core.parts import Json, TurnId
from sidecar.session.interface import Recalled
from sidecar.session.lifecycle.context_actions import Rewriting
from sidecar.session.state import State
from sidecar.session.turn.turn_context import CallMcp, TurnContext
from sidecar.tools.tool_contract import Client, ToolAnswer

RecallPart: TypeAlias = Callable[[str, int, int | None, str | None], Awaitable[Recalled]]


def surroundings(
    state: State,
    turn_id: TurnId,
    rewriting: Rewriting,
    client: Callable[[], Client],
    recall: RecallPart,
    meter_changed: Callable[[], None],
) -> TurnContext:
    """Context of a turn beginning now; a subtask's limits, client and purpose take precedence."""
    bound = state.subtask
    return TurnContext(
        session_id=state.log.row.id,
        turn_id=turn_id,
        cwd=state.log.row.cwd,
        trust=state.trust,
        log=state.log,
        view=state.view,
        cached=state.cached,
        channel=state.channel,
        clock=state.clock,
        models=state.environment.models,
        max_tokens=state.max_tokens(),
        effort=state.setting("effort"),
        max_steps=state.config.max_steps if bound is None else bound.max_steps,
        tools={tool.name: tool for tool in state.view.static.tools},
        permissions=state.permissions,
        client=client if bound is None else bound.client,
        buffers=state.buffers,
        recall=recall,
        environment=state.environment.variables,
        meter_changed=meter_changed,
        make_room=rewriting.make_room,
        gate=rewriting.gate,
        tracking=state.tracking,
        # A subtask has no user to tell it to go on.
        goes_on=bound is not None or state.log.row.settings.get("autoContinue") is not False,
        purpose="turn" if bound is None else "subtask",
        delegate=state.delegate,
        call_mcp=_calls_mcp(state),
    )


def _calls_mcp(state: State) -> CallMcp:
    """Call servers in the session's name; a subtask calls the parent's."""
    bound, environment = state.subtask, state.environment
    owner = state.log.row.id if bound is None else bound.parent

    async def call(name: str, given: Json) -> ToolAnswer:
        # Configured servers start when a stored session first needs them.
        if servers := environment.config.mcp_servers:
            environment.mcp.provide(owner, servers, state.trust.standing())
        return await environment.mcp.call(owner, name, given)

    return call
