"""Assembles a turn."""

from sidecar.config.mcp_settings import McpServer
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, SessionId, TurnId
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.changes.session_trust import Trust
from sidecar.session.compaction.cache_options import CacheOptions
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.context_actions import Rewriting
from sidecar.session.lifecycle.subtask import Delegating
from sidecar.session.state import State
from sidecar.session.turn.consent import Consent
from sidecar.session.turn.doom_loop import LoopWatch
from sidecar.session.turn.step import Steps
from sidecar.session.turn.tool_calls import ToolCalls
from sidecar.session.turn.turn import RunningTurn
from sidecar.session.turn.turn_log import TurnLog
from sidecar.session.turn.workplace import RecallPart, Workplace
from sidecar.tools.tool_contract import Client, ToolAnswer


def turn_of(
    state: State,
    turn_id: TurnId,
    rewriting: Rewriting,
    client: Client,
    recall: RecallPart,
    turn: TurnLog,
    delegating: Delegating,
    caching: CacheOptions,
) -> RunningTurn:
    """Assembles a turn; a subtask's limits, client and purpose take precedence."""
    bound, view, row = delegating.bound, state.view, state.log.row
    steps = Steps(
        turn_id=turn_id,
        turn=turn,
        view=view,
        cached=state.cached,
        follow_cache=caching.follow,
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
    owner = row.id if bound is None else bound.parent
    served = SessionServers(state.environment, state.trust, owner)
    count = state.environment.models.count
    return RunningTurn(
        turn=turn,
        steps=steps,
        calls=ToolCalls(turn, consent, place, tools, served, view.tokens, count),
        loops=LoopWatch(consent, turn.notice, row.cwd),
        tracking=state.tracking,
        make_room=rewriting.make_room,
        # A subtask has no user to tell it to go on.
        goes_on=bound is not None or state.settings.is_on("autoContinue"),
        max_steps=state.config.max_steps if bound is None else bound.max_steps,
    )


@dataclass(frozen=True, slots=True)
class SessionServers:
    """MCP servers started for a session; a subtask calls its parent's."""

    environment: Environment
    trust: Trust
    owner: SessionId

    def provide(self, servers: tuple[McpServer, ...]) -> None:
        self.environment.mcp.provide(self.owner, servers, self.trust.standing())

    async def as_now(self, spec: ToolSpec) -> ToolSpec:
        return await self.environment.mcp.as_now(self.owner, spec)

    async def call(self, spec: ToolSpec, given: Json) -> ToolAnswer:
        environment, standing = self.environment, self.trust.standing()
        # Configured servers start when a stored session first needs them.
        if servers := environment.settings.config.mcp_servers:
            environment.mcp.provide(self.owner, servers, standing, configured=True)
        return await environment.mcp.call(self.owner, spec.name, given, spec)
