"""What callers give a session and get back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sidecar.config.mcp_settings import McpServer
from sidecar.core.files.reconcile import OnConflict
from sidecar.core.files.restore_plan import Fate
from sidecar.core.parts import JsonObject, MessageId, Millis, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.prompt import ToolSpec


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to open; what is `None` comes from the configuration.

    `parent` is the session whose work it goes on with, if any.
    """

    cwd: str
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    policy: str | None = None
    window: int | None = None
    max_tokens: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    builtin_tools: bool = True
    system: str | None = None
    parent: SessionId | None = None
    mcp: tuple[McpServer, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that is open here. `read_only`: another daemon writes it."""

    session_id: SessionId
    revision: int
    read_only: bool
    config_options: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the session list; `cost` is USD as a decimal string.

    `parent` is the session that it was made from, which may have been deleted since.
    """

    session_id: SessionId
    title: str
    cwd: str
    updated: Millis
    turns: int
    cost: str | None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """A turn to run. `blocks` are ACP content blocks; `context` is what the editor shows now.

    `ticket` names this request, so that it can be cancelled alone; `cancelled`: it was already,
    so that its turn only keeps what was typed.
    """

    blocks: tuple[JsonObject, ...]
    context: JsonObject = field(default_factory=dict)
    steer: bool = False
    ticket: object = None
    cancelled: bool = False
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How a turn ended. `error` is `{kind, message, retryable, status}` when it failed."""

    stop_reason: str
    turn_id: TurnId
    message_id: MessageId
    revision: int
    usage: Usage
    cost: str | None
    meter: Meter
    error: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """A piece of something logged: `total_bytes` of the whole, `next_offset` if there is more."""

    content: str
    total_bytes: int
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Handoff:
    """A first prompt to edit, the files that bear on its goal, and the session if one was made."""

    draft: str
    files: tuple[str, ...]
    session_id: SessionId | None = None


Scope: TypeAlias = Literal["conversation", "files", "both"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What to go back to, and how. `paths` are relative to the folder; `None`: all files.

    `markers`: a merge writes what clashes with both sides between markers.
    """

    scope: Scope
    checkpoint_id: str | None = None
    before_message_id: str | None = None
    on_conflict: OnConflict = "refuse"
    paths: tuple[str, ...] | None = None
    markers: bool = False
    dry_run: bool = False
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it, or would. `undo` names the state before it; empty in a dry run."""

    undo: str
    revision: int
    prompt: str | None
    fates: tuple[Fate, ...]
    diffs: Mapping[bytes, tuple[str, str, str]]
    foreseen: Mapping[bytes, str] = field(default_factory=dict)
    """In a dry run, what would be done to each path, as unified diffs."""
    notes: tuple[str, ...] = ()
    """What no restore covers, in sentences."""
    reason: str | None = None
    """Why the plan of a dry run is empty, what no restore covers in it."""
