"""Values passed between callers and sessions."""

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
    """A session to open; `None` means the configured value.

    `parent` is the session whose work continues, if any.
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
    """An open session. `read_only`: another daemon writes the session."""

    session_id: SessionId
    revision: int
    read_only: bool
    config_options: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A line of the session list; `cost` is USD as a decimal string.

    `parent`, the session of origin, may have been deleted.
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
    """A turn to run. `blocks` are ACP content blocks; `context` is the editor's present state.

    `ticket` lets a caller cancel the request alone; `cancelled`: already cancelled, so the turn
    only logs the prompt.
    """

    blocks: tuple[JsonObject, ...]
    context: JsonObject = field(default_factory=dict)
    steer: bool = False
    ticket: object = None
    cancelled: bool = False
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class PromptResult:
    """End of a turn. `error` is `{kind, message, retryable, status}` after a failure."""

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
    """A piece of a logged part: `total_bytes` of the whole, `next_offset` of the rest, if any."""

    content: str
    total_bytes: int
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Handoff:
    """A first prompt to edit, files related to the goal, and the session, if made."""

    draft: str
    files: tuple[str, ...]
    session_id: SessionId | None = None


Scope: TypeAlias = Literal["conversation", "files", "both"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A restore's target and manner. `paths` are relative to the folder; `None`: all files.

    `markers`: a merge writes both sides of a conflict between markers.
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
    """A restore's outcome, real or foreseen. `undo` names the former state, empty in a dry run."""

    undo: str
    revision: int
    prompt: str | None
    fates: tuple[Fate, ...]
    diffs: Mapping[bytes, tuple[str, str, str]]
    foreseen: Mapping[bytes, str] = field(default_factory=dict)
    """In a dry run, each path's change as a unified diff."""
    notes: tuple[str, ...] = ()
    """Sentences on changes no restore covers."""
    reason: str | None = None
    """Why a dry run has an empty plan, changes no restore covers included."""
