"""What a session is made of, and what all sessions of a daemon share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from sidecar.config import Config
from sidecar.core.parts import Json, JsonObject, SessionId, Usage
from sidecar.core.prompt.observation import Observe, SessionClosed, ignore
from sidecar.core.prompt.pricing import ModelInfo, money, price
from sidecar.core.prompt.tokens import Count
from sidecar.model.contract import Model
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.log.change_records import KnownSets
from sidecar.session.log.channel import Channel
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.session.turn.turn_context import Clock
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.rewrite_counts import Counts
from sidecar.session.view.view_history import Views
from sidecar.store.journal import Store
from sidecar.tools.mcp.servers import McpServers
from sidecar.tools.tool_contract import Client, Delegate
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions import Instruction
from sidecar.workspace.instructions_watch import InstructionsWatch
from sidecar.workspace.shared_snapshots import SharedSnapshots

ANSWER_TOKENS = 32_000
"""Most an answer may have unless maxTokens says otherwise, where the model can give as much."""


@dataclass(slots=True)
class Environment:
    """What `daemon.py` joins together and every session uses.

    `model_for` gives the model that answers for an id, `info` what the catalogue knows of it.
    Without `snapshots` no workspace is followed, and no change can be undone. `observe` is told
    what happens, in numbers. `config` is replaced, when its files change; `amiss` is
    what was wrong in them, and `settings` where the values were given.
    """

    store: Store
    config: Config
    clock: Clock
    buffers: Buffers
    count: Count
    model_for: Callable[[str], Model]
    info: Callable[[str], ModelInfo]
    facts: Callable[[str, bool, JsonObject], Awaitable[str]]
    models: tuple[str, ...]
    variables: Mapping[str, str]
    instructions: Callable[[str, bool], Awaitable[tuple[Instruction, ...]]]
    cold: ColdGate
    watch: InstructionsWatch = field(default_factory=InstructionsWatch)
    snapshots: SharedSnapshots | None = None
    mcp: McpServers = field(default_factory=McpServers)
    counts: Counts = field(default_factory=Counts)
    swept: JsonObject = field(default_factory=dict)
    observe: Observe = ignore
    amiss: tuple[str, ...] = ()
    settings: JsonObject = field(default_factory=dict)

    def forget(self, session_id: SessionId) -> None:
        """Let go of what a session had of the outside: it is closed."""
        self.watch.forget(session_id)
        self.mcp.drop(session_id)
        self.observe(SessionClosed(session_id))


@dataclass(frozen=True, slots=True)
class Bound:
    """What binds a session while it does a subtask: who is asked, and how many steps it has.

    `parent` is whose MCP servers it calls.
    """

    client: Callable[[], Client]
    max_steps: int
    parent: SessionId


def answer_tokens(most: int | None, info: ModelInfo) -> int:
    """Give how long a model's answer may be: as set, else 32,000, within what it can give."""
    return min(most or ANSWER_TOKENS, info.max_output)


@dataclass(slots=True)
class State:
    """One session's parts. `owner` says who writes it when `read_only`.

    `subtask` binds it while it works for another; `delegate` has a child session work for it.
    `instructions` and what was `learned` are as they were read last, `None` before that.
    `compared` says that the workspace was compared with the log since the session was opened.
    `widening` is held while the rest of the log is read; `folded` says at how many messages and
    at which revision the log was folded last.
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
    widening: asyncio.Lock = field(default_factory=asyncio.Lock)
    folded: tuple[int, int] = (0, 0)
    sets: KnownSets = field(default_factory=KnownSets)

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self.environment.store

    @property
    def config(self) -> Config:
        """The daemon's configuration."""
        return self.environment.config

    @property
    def clock(self) -> Clock:
        """Time and ids."""
        return self.environment.clock

    @property
    def buffers(self) -> Buffers:
        """The editor's open buffers."""
        return self.environment.buffers

    def setting(self, name: str) -> str:
        """Give one of the session's own settings as text; empty when it has none."""
        value = self.log.row.settings.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """Give one of the session's own settings as a number."""
        value = self.log.row.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def model_id(self) -> str:
        """The model that the next turn will use."""
        return self.setting("model")

    def model(self) -> Model:
        """The model that answers."""
        return self.environment.model_for(self.model_id())

    def info(self) -> ModelInfo:
        """What is known of the model."""
        return self.environment.info(self.model_id())

    def window(self) -> int:
        """The window in tokens: as set, but never more than the model's own."""
        most = self.info().window
        return min(self.number("window") or most, most)

    def max_tokens(self) -> int:
        """How long an answer may be: as set, else the model's most within 32,000."""
        return answer_tokens(self.number("maxTokens"), self.info())

    def price(self, usage: Usage) -> Decimal | None:
        """What usage costs in USD, or `None` when the model's price is unknown."""
        return price(self.info(), usage)

    def total(self, costs: Iterable[str | None]) -> str | None:
        """Add up costs; one unknown makes the sum unknown."""
        total = Decimal(0)
        for cost in costs:
            if cost is None:
                return None
            total += Decimal(cost)
        return money(total)

    def configure(self, name: str, value: Json) -> None:
        """Change one of the session's own settings."""
        self.log.entry.configure({**self.log.row.settings, name: value})

    async def facts(self, shown: JsonObject) -> str:
        """Say how things stand now: the date, git, and what the editor shows."""
        return await self.environment.facts(self.log.row.cwd, self.trust.granted, shown)
