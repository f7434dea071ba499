"""What a session lets be seen of itself: values that metrics, traces and alerts are made of.

They hold numbers and names only, never what anybody wrote. They go one way: a session tells them
and hears nothing back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sidecar.core.parts import Millis, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import Meter


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """A turn began with a message of the user's."""

    session_id: SessionId
    turn_id: TurnId
    at: Millis


@dataclass(frozen=True, slots=True)
class TurnDone:
    """A turn is over, why, and how the context stands then."""

    session_id: SessionId
    turn_id: TurnId
    at: Millis
    stop: str
    meter: Meter


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A request to a model has ended; `purpose` is turn, summary or ping.

    `cost` is USD, `uncached` what the same tokens would have cost without a cache; `None` where
    the price is unknown. `error` is the kind of the failure, or empty. `foreseen` are the tokens
    that the cache was expected to give, `break_` the cause, and what kind of segment it is
    from which on it gave less.
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
    """An attempt of a request broke, and another followed."""

    session_id: SessionId
    at: Millis
    model: str
    error: str


@dataclass(frozen=True, slots=True)
class ToolDone:
    """A tool call has ended. `failure` says how it failed, or is empty.

    `left_out` are the bytes of its output that the model was not shown: it was too long.
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
    """The view was rewritten. `opens`: the prefix broke; else only what was new was cut.

    `price` is USD, what the summary cost included; `None` where unknown. `shown` counts the parts
    that are shown otherwise now, by how: `evicted`, `dropped`, `truncated`, `excerpt`.
    `compression` is how many times smaller what was changed became; `fidelity` is the share of
    what is likely to be needed that still stands in the prompt (`core/plans/fidelity`).
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
class SnapshotTaken:
    """The workspace's state was remembered, in so many seconds."""

    session_id: SessionId
    seconds: float


@dataclass(frozen=True, slots=True)
class RestoreDone:
    """Files or conversation, or both, went back or forth again, in so many seconds."""

    session_id: SessionId
    seconds: float


@dataclass(frozen=True, slots=True)
class SessionClosed:
    """A session is not open in this daemon any more."""

    session_id: SessionId


Observation: TypeAlias = (
    TurnBegun
    | TurnDone
    | ModelAsked
    | Retried
    | ToolDone
    | ViewRewritten
    | SnapshotTaken
    | RestoreDone
    | SessionClosed
)

PendingObservation: TypeAlias = Callable[[], Observation | None]
"""An observation that whoever observes makes when there is time for it, if it is one."""

Observe: TypeAlias = Callable[[Observation | PendingObservation], None]
"""Called on the event loop; must not block nor raise."""


def read(seen: Observation | PendingObservation) -> Observation | None:
    """Make the observation that is still to be made, if it is."""
    return seen() if callable(seen) else seen


def ignore(_: Observation | PendingObservation) -> None:
    """Look away: for sessions that nobody observes."""
