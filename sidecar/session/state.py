"""A session's state, and the environment shared by all sessions of a daemon."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sidecar.config import Config
from sidecar.config.reload import CurrentSettings
from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.prompt.observation import Observe, SessionClosed, ignore
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.log.channel import Channel
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.rewrite_counts import Counts
from sidecar.session.view.view_history import Views
from sidecar.store.journal import Store
from sidecar.tools.mcp.servers import McpServers
from sidecar.tools.tool_contract import Client, Delegate
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions import Instruction
from sidecar.workspace.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class Environment:
    """Parts joined by `daemon.py` for every session. `observe` gets figures of events."""

    store: Store
    settings: CurrentSettings
    clock: Clock
    models: ModelAccess
    workspaces: Workspaces
    mcp: McpServers = field(default_factory=McpServers)
    counts: Counts = field(default_factory=Counts)
    observe: Observe = ignore

    def trust(self, cwd: str) -> Trust:
        """Trust in a workspace as set, or as the user once answered."""
        return Trust(self.settings.config.workspace_trusted, Path(cwd), self.store.folder)

    def forget(self, session_id: SessionId) -> None:
        """Release a closed session's watches and MCP servers."""
        self.workspaces.instructions.forget(session_id)
        self.mcp.drop(session_id)
        self.observe(SessionClosed(session_id))


@dataclass(frozen=True, slots=True)
class Bound:
    """Limits of a subtask's session: the client to ask, and the most steps.

    MCP calls go to the servers of `parent`.
    """

    client: Callable[[], Client]
    max_steps: int
    parent: SessionId


@dataclass(slots=True)
class State:
    """A session's parts.

    `subtask` is set while the session works for another; `delegate` starts a child session.
    `instructions` and `learned` are as last read, at first `None`.
    """

    environment: Environment
    log: SessionLog
    view: ModelView
    views: Views
    cached: CacheWatch
    channel: Channel
    trust: Trust
    permissions: Permissions
    tracking: Tracking
    settings: SessionSettings
    ownership: Ownership
    subtask: Bound | None = None
    delegate: Delegate | None = None
    instructions: tuple[Instruction, ...] | None = None
    learned: str | None = None

    @property
    def store(self) -> Store:
        """The daemon's store."""
        return self.environment.store

    @property
    def config(self) -> Config:
        """The daemon's configuration now."""
        return self.environment.settings.config

    @property
    def clock(self) -> Clock:
        """Time and ids."""
        return self.environment.clock

    @property
    def buffers(self) -> Buffers:
        """The editor's open buffers."""
        return self.environment.workspaces.buffers

    async def facts(self, shown: JsonObject) -> str:
        """Facts of the moment for the model: date, Git, and the editor's `shown`."""
        return await self.environment.workspaces.facts(self.log.row.cwd, self.trust.granted, shown)
