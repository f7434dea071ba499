"""Observations as tests need them, with what they do not care about filled in."""

from typing import Any

from sidecar.core.parts import SessionId, TurnId, Usage
from sidecar.core.prompt.meter import CacheState, Costs, Meter, Size, measure
from sidecar.core.prompt.observation import (
    ModelAsked,
    PlanMade,
    RestoreDone,
    Retried,
    SessionClosed,
    SnapshotTaken,
    ToolDone,
    TurnBegun,
    TurnDone,
    ViewRewritten,
)
from tests.core.prompts import room

SES = SessionId("ses_1")
TURN = TurnId("turn_1")
NOW = 1_700_000_000_000 // 300_000 * 300_000
"""The beginning of a stretch of five minutes."""


def asked(at: int = NOW, usage: Usage | None = None, **given: Any) -> ModelAsked:
    """A request; by default one that cost a cent and read nothing."""
    spent = {"cost": 0.01, "uncached": 0.01, **given}
    known = usage or Usage(input=1000, output=10, requests=1)
    return ModelAsked(
        SES, TURN, at, at - 1500, "claude-opus-5-5", spent.pop("purpose", "turn"), known, **spent
    )


def repeated(at: int, read: int, rest: int) -> ModelAsked:
    """A request whose prompt the cache could serve."""
    return asked(at, Usage(input=rest, cache_read=read, requests=1), foreseen=read + rest)


def meter(used: int = 50_000, results: int = 10_000) -> Meter:
    """A meter with 100,000 tokens of room."""
    return measure(
        session_id=SES,
        revision=3,
        room=room(132_000, 32_000),
        compact_at=80_000,
        burn_rate=None,
        size=Size(used, {"toolResults": results, "user": used - results}, "exact", ""),
        turn_sizes=[used],
        cache=CacheState(warm=True, expires_at=None, hit_rate=0.5),
        cost=Costs("0.1", None, "0.2", None),
    )


def turn_done(
    used: int = 50_000, results: int = 10_000, at: int = NOW, session: str = SES
) -> TurnDone:
    """The end of a turn."""
    return TurnDone(SessionId(session), TURN, at, "end_turn", meter(used, results))


def turn_begun(at: int = NOW) -> TurnBegun:
    """The beginning of one."""
    return TurnBegun(SES, TURN, at)


def tool_done(at: int = NOW, **given: Any) -> ToolDone:
    """A call of the shell."""
    return ToolDone(SES, TURN, at, at - 200, "shell", "call_1", **given)


def rewritten(at: int = NOW, **given: Any) -> ViewRewritten:
    """A compaction from 80,000 tokens to 20,000."""
    known: dict[str, Any] = {
        "cause": "budget",
        "policy": "codex",
        "opens": True,
        "shown": (("dropped", 12), ("evicted", 3)),
        "compression": 4.0,
        "fidelity": 0.9,
        **given,
    }
    return ViewRewritten(
        SES,
        at,
        1200,
        known.pop("cause"),
        known.pop("policy"),
        known.pop("opens"),
        80_000,
        20_000,
        0.25,
        **known,
    )


def retried(model: str = "m", error: str = "overloaded") -> Retried:
    """A request that is made again."""
    return Retried(SES, NOW, model, error)


def plan_made(seconds: float = 0.03) -> PlanMade:
    """A rewrite that was looked for."""
    return PlanMade(SES, seconds, "codex")


def snapshot_taken(seconds: float = 0.1) -> SnapshotTaken:
    """A snapshot."""
    return SnapshotTaken(SES, seconds)


def restored(seconds: float = 0.5) -> RestoreDone:
    """Files that are as they were."""
    return RestoreDone(SES, seconds)


def closed() -> SessionClosed:
    """The end of a session in its daemon."""
    return SessionClosed(SES)
