"""Folds observations into a bounded recent past, for alerts."""

from collections.abc import Mapping
from dataclasses import field, replace

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.core.policies import DEFAULT
from sidecar.core.prompt.observation import (
    ModelAsked,
    Observation,
    SessionClosed,
    TurnDone,
    ViewRewritten,
)

MINUTE = 60_000
KEPT = 75
"""Minutes: the usual hour, and the newest quarter."""
TURNS = 3
"""Turns remembered per session."""
FULL = frozenset({"budget", "cold", "pays", "user", "idle", "overflow"})
"""Causes of rewrites of the whole context."""
ORDINARY = frozenset({"budget", "cold", "pays", "idle"})
"""Causes of the policy's own rewrites."""


@dataclass(frozen=True, slots=True)
class Minute:
    """Sums over all sessions in one minute; `number`: minutes since 1970.

    `refused`: requests too long. `repeated`: requests that repeat a cached prefix; `prompt`,
    `read`: their tokens, sent and from the cache. `spent`: USD, including `summarising`.
    """

    number: int
    requests: int = 0
    refused: int = 0
    repeated: int = 0
    prompt: int = 0
    read: int = 0
    spent: float = 0.0
    summarising: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionStanding:
    """One session's numbers; `used` and `tool_results` are shares of the input room.

    `used`: at turns' ends. `evictions`: in the last turn, `evicting` in the running one.
    `compression`, `fidelity`: of the newest whole rewrite.
    """

    used: tuple[float, ...] = ()
    evictions: int = 0
    evicting: int = 0
    compression: float | None = None
    fidelity: float | None = None
    tool_results: float | None = None


@dataclass(frozen=True, slots=True)
class RecentPast:
    """The alerts' input; minutes are in order."""

    minutes: tuple[Minute, ...] = ()
    sessions: Mapping[SessionId, SessionStanding] = field(default_factory=dict)

    def within(self, now: Millis, minutes: int) -> tuple[Minute, ...]:
        first = now // MINUTE - minutes + 1
        return tuple(one for one in self.minutes if one.number >= first)


def after(past: RecentPast, seen: Observation) -> RecentPast:
    match seen:
        case ModelAsked():
            return RecentPast(_with_request(past.minutes, seen), past.sessions)
        case TurnDone(session_id=name):
            return _with(past, name, _after_turn(past.sessions.get(name, SessionStanding()), seen))
        case ViewRewritten(session_id=name):
            return _with(
                past, name, _after_rewrite(past.sessions.get(name, SessionStanding()), seen)
            )
        case SessionClosed(session_id=name) if name in past.sessions:
            rest = {key: one for key, one in past.sessions.items() if key != name}
            return replace(past, sessions=rest)
        case _:
            return past


def _with(past: RecentPast, name: SessionId, standing: SessionStanding) -> RecentPast:
    return replace(past, sessions={**past.sessions, name: standing})


def _with_request(minutes: tuple[Minute, ...], asked: ModelAsked) -> tuple[Minute, ...]:
    number = asked.at // MINUTE
    # After a clock steps back, add to the newest minute, to keep the order.
    if not minutes or minutes[-1].number < number:
        minutes = (*(one for one in minutes if one.number > number - KEPT), Minute(number))
    newest = minutes[-1]
    served = asked.foreseen > 0 or asked.break_ is not None
    cost = asked.cost or 0.0
    # Runs for each request: `replace` would take twice as long.
    newest = Minute(
        newest.number,
        newest.requests + 1,
        newest.refused + (asked.error == "context_overflow"),
        newest.repeated + served,
        newest.prompt + (asked.usage.prompt if served else 0),
        newest.read + (asked.usage.cache_read if served else 0),
        newest.spent + cost,
        newest.summarising + (cost if asked.purpose in ("summary", "compaction") else 0.0),
    )
    return (*minutes[:-1], newest)


def _after_turn(standing: SessionStanding, done: TurnDone) -> SessionStanding:
    meter = done.meter
    room = max(1, meter.limit)
    return replace(
        standing,
        used=(*standing.used, meter.used / room)[-TURNS:],
        evictions=standing.evicting,
        evicting=0,
        tool_results=meter.regions.get("toolResults", 0) / room,
    )


def _after_rewrite(standing: SessionStanding, done: ViewRewritten) -> SessionStanding:
    # A part cut before first sent was never in the context.
    if done.opens and done.shown:
        standing = replace(standing, evicting=standing.evicting + 1)
    if not done.opens or done.cause not in FULL:
        return standing
    if done.policy.startswith(DEFAULT) and done.cause in ORDINARY:
        # The default policy weighs what stays, and admission checks the result: no news.
        return replace(standing, compression=None, fidelity=None)
    return replace(standing, compression=done.compression, fidelity=done.fidelity)
