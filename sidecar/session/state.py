"""A session's state, and the environment shared by all sessions of a daemon."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from sidecar.config import Config
from sidecar.config.reload import CurrentSettings
from sidecar.core.parts import Json, JsonObject, SessionId, Usage
from sidecar.core.prompt.observation import Observe, SessionClosed, ignore
from sidecar.core.prompt.pricing import ModelInfo, money, price
from sidecar.model.contract import Model
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.log.channel import Channel
from sidecar.session.log.session_log import SessionLog
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

ANSWER_TOKENS = 32_000
"""Most tokens of an answer unless maxTokens is set, within the model's limit."""


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


def answer_tokens(most: int | None, info: ModelInfo) -> int:
    """Most tokens of an answer: `most`, or 32,000, within the model's limit."""
    return min(most or ANSWER_TOKENS, info.max_output)


@dataclass(slots=True)
class State:
    """A session's parts. `owner` names the writer when `read_only`.

    `subtask` is set while the session works for another; `delegate` starts a child session.
    `instructions` and `learned` are as last read, at first `None`. `compared`: the workspace was
    compared with the log since opening.
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
    take_over: Callable[[], Awaitable[bool]]
    read_only: bool = False
    owner: JsonObject | None = None
    subtask: Bound | None = None
    delegate: Delegate | None = None
    instructions: tuple[Instruction, ...] | None = None
    learned: str | None = None
    compared: bool = False

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

    def setting(self, name: str) -> str:
        """One of the session's settings as text; empty without a text."""
        value = self.log.row.settings.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """One of the session's settings as a number; `None` without a number."""
        value = self.log.row.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def model_id(self) -> str:
        """Model of the next turn."""
        return self.setting("model")

    def model(self) -> Model:
        """Model to send requests to."""
        return self.environment.models.find(self.model_id())

    def info(self) -> ModelInfo:
        """Catalogue entry of the model."""
        return self.environment.models.info(self.model_id())

    def window(self) -> int:
        """Window in tokens: as set, within the model's own."""
        most = self.info().window
        return min(self.number("window") or most, most)

    def max_tokens(self) -> int:
        """Most tokens of an answer: as set, or 32,000, within the model's limit."""
        return answer_tokens(self.number("maxTokens"), self.info())

    def price(self, usage: Usage) -> Decimal | None:
        """USD of usage; `None` when the model's price is unknown."""
        return price(self.info(), usage)

    def total(self, costs: Iterable[str | None]) -> str | None:
        """Sum of USD; `None` if any is unknown."""
        total = Decimal(0)
        for cost in costs:
            if cost is None:
                return None
            total += Decimal(cost)
        return money(total)

    def configure(self, name: str, value: Json) -> None:
        """Set one of the session's settings."""
        self.log.entry.configure({**self.log.row.settings, name: value})

    async def facts(self, shown: JsonObject) -> str:
        """Facts of the moment for the model: date, Git, and the editor's `shown`."""
        return await self.environment.workspaces.facts(self.log.row.cwd, self.trust.granted, shown)
