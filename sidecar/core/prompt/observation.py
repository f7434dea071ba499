"""Tells metrics, traces and alerts what a session did, never texts."""

from collections.abc import Callable
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A typed message began a turn."""

    session_id: SessionId
    turn_id: TurnId
    at: Millis


@dataclass(frozen=True, slots=True)
class TurnDone:
    """A turn ended; `meter` is as of its end."""

    session_id: SessionId
    turn_id: TurnId
    at: Millis
    stop: str
    meter: Meter


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A request ended; `purpose`: turn, summary or ping.

    `cost`: USD; `uncached`: USD without a cache; `None` if unknown. `error`: the kind of failure,
    or empty. `foreseen`: tokens expected from the cache. `break_`: a shortfall's cause and kind of
    segment.
    """

    session_id: SessionId
    turn_id: TurnId
    at: Millis
    started: Millis
    model: str
    purpose: str
    usage: Usage
    cost: float | None = None
    uncached: float | None = None
    stop: str = ""
    error: str = ""
    foreseen: int = 0
    break_: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Retried:
    """One attempt at a request failed; another followed."""

    session_id: SessionId
    at: Millis
    model: str
    error: str


@dataclass(frozen=True, slots=True)
class ToolDone:
    """A tool call ended; `failure`: its kind, or empty.

    `left_out`: bytes not shown to the model.
    """

    session_id: SessionId
    turn_id: TurnId
    at: Millis
    started: Millis
    tool: str
    call_id: str
    failure: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ViewRewritten:
    """The view was rewritten; without `opens` only unsent parts were cut.

    `price`: USD with the summary, `None` if unknown. `shown`: (`evicted`, `dropped`, `truncated` or
    `excerpt`, number of parts). `compression`: size before over after.
    """

    session_id: SessionId
    at: Millis
    took: Millis
    cause: str
    policy: str
    opens: bool
    before: int
    after: int
    price: float | None
    shown: tuple[tuple[str, int], ...]
    compression: float | None = None
    fidelity: float | None = None


@dataclass(frozen=True, slots=True)
class PlanMade:
    """A policy looked for a rewrite, whether or not one was found."""

    session_id: SessionId
    seconds: float
    policy: str


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """A snapshot was taken."""

    session_id: SessionId
    seconds: float


@dataclass(frozen=True, slots=True)
class RestoreDone:
    """Files, conversation or both were restored or redone."""

    session_id: SessionId
    seconds: float


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """A session closed in this daemon."""

    session_id: SessionId


Observation: TypeAlias = (
    TurnBegun
    | TurnDone
    | ModelAsked
    | Retried
    | ToolDone
    | ViewRewritten
    | PlanMade
    | SnapshotTaken
    | RestoreDone
    | SessionClosed
)

PendingObservation: TypeAlias = Callable[[], Observation | None]
"""An observation that whoever observes makes when there is time for it, if it is one."""

Observe: TypeAlias = Callable[[Observation | PendingObservation], None]
"""Called on the event loop; must not block nor raise."""


def read(seen: Observation | PendingObservation) -> Observation | None:
    return seen() if callable(seen) else seen


def ignore(_: Observation | PendingObservation) -> None: ...
