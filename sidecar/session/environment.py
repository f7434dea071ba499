"""Services that sessions share."""

from collections.abc import Awaitable, Callable
from dataclasses import field
from pathlib import Path

from sidecar.config.reload import CurrentSettings
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.prompt.observation import Observe, SessionClosed, ignore
from sidecar.session.changes.session_trust import Trust, nowhere
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.rewrite_counts import Counts
from sidecar.store.format.values import SessionRow, Stored
from sidecar.store.journal import Store
from sidecar.tools.mcp.servers import McpServers
from sidecar.workspace.workspaces import Workspaces


async def ended() -> None:
    """Stops nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """Services for a window's sessions, from `daemon/windows`.

    `observe` hears events to measure; `end` stops this window's own services; `trusted` applies a
    trusted folder's settings. `resident`: the daemon outlives its windows. `root`: the window's
    folder, resolved, if it has one.
    """

    store: Store
    settings: CurrentSettings
    clock: Clock
    models: ModelAccess
    workspaces: Workspaces
    mcp: McpServers = field(default_factory=McpServers)
    counts: Counts = field(default_factory=Counts)
    observe: Observe = ignore
    resident: bool = False
    end: Callable[[], Awaitable[None]] = ended
    trusted: Callable[[Path], Awaitable[None]] = nowhere
    root: Path | None = None

    def trust(self, cwd: str) -> Trust:
        """A window's word counts for its own folder, with those below; others are asked about."""
        said = self.settings.config.workspace_trusted
        if said and self.root is not None and not Path(cwd).is_relative_to(self.root):
            said = None
        return Trust(said, Path(cwd), self.store.folder, self.trusted)

    def new_log(self, cwd: str, title: str, settings: JsonObject) -> SessionLog:
        """The first commit stores the log."""
        now, session_id = self.clock.now(), SessionId(self.clock.new_id("ses"))
        row = SessionRow(session_id, cwd, title, now, now, 0, 0, 0, "0", settings)
        return SessionLog(self.store, Stored(row, (), ()), self.clock.now)

    def forget(self, session_id: SessionId) -> None:
        self.workspaces.instructions.forget(session_id)
        self.mcp.drop(session_id)
        self.observe(SessionClosed(session_id))
