"""What callers exchange with sessions."""

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from sidecar.config.mcp_settings import McpServer
from sidecar.core.dataclass import dataclass
from sidecar.core.files.reconcile import OnConflict
from sidecar.core.files.restore_plan import Fate
from sidecar.core.parts import JsonObject, MessageId, Millis, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.store.format.view_records import RestoreScope


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to open; `None` means as configured. Work of session `parent` continues."""

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
    """An open session, `read_only` where another daemon writes it."""

    session_id: SessionId
    revision: int
    read_only: bool
    config_options: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A listed session; `cost` is USD. Session `parent` may have been deleted."""

    session_id: SessionId
    title: str
    cwd: str
    updated: Millis
    turns: int
    cost: str | None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class PromptRequest:
    """ACP content `blocks`, with the editor's state as `context`.

    `ticket` names the request for cancelling; one `cancelled` already is only logged. `window` is
    the asker's environment.
    """

    blocks: tuple[JsonObject, ...]
    context: JsonObject = field(default_factory=dict)
    steer: bool = False
    ticket: object = None
    cancelled: bool = False
    expected_revision: int | None = None
    window: object = None


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How a turn ended; `error` is `{kind, message, retryable, status}`."""

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
    """A piece of a part of `total_bytes`; the rest begins at `next_offset`."""

    content: str
    total_bytes: int
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class Handoff:
    """A first prompt, related files, and the new session, if made."""

    draft: str
    files: tuple[str, ...]
    session_id: SessionId | None = None


Scope: TypeAlias = RestoreScope


@dataclass(frozen=True, slots=True)
class Wish:
    """A restore to make; `paths` of `None` means all files.

    `hunks` are the only ones wanted of a dry run's diff of one file.
    With `markers`, a merge writes both sides of a conflict between markers.
    """

    scope: Scope
    checkpoint_id: str | None = None
    before_message_id: str | None = None
    on_conflict: OnConflict = "refuse"
    paths: tuple[str, ...] | None = None
    markers: bool = False
    dry_run: bool = False
    expected_revision: int | None = None
    hunks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a restore did; `undo` is the former state's id, empty after a dry run."""

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
