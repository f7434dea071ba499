"""A replay as JSON; costs in USD, shares as numbers."""

from collections.abc import Sequence
from statistics import median

from sidecar.core.engine.ladder import LEAST_COMPRESSION
from sidecar.core.parts import Json, JsonObject
from sidecar.replay.compare import PolicyTally, ReplayedSession, Settings, totals
from sidecar.replay.validate import Validity, validity


def as_json(sessions: Sequence[ReplayedSession], settings: Settings, prices: str) -> JsonObject:
    """`{window, prices, policies, sessions, validation}`."""
    kinds = sorted({session.format for session in sessions})
    return {
        "window": settings.window,
        "prices": prices,
        "policies": [policy_json(one) for one in totals(sessions, settings.policies)],
        "sessions": [_session(session) for session in sessions],
        "validation": {
            kind: _validity(
                validity(s.agreement for s in sessions if s.format == kind and s.agreement)
            )
            for kind in kinds
        },
    }


def policy_json(one: PolicyTally) -> JsonObject:
    """Convert one policy's sums."""
    return {
        "policy": one.policy,
        "cost": round(one.cost, 6),
        "recall": {
            "inView": share(one.view, one.far),
            "withLedger": share(one.ledger, one.far),
            "reachable": share(one.reach, one.far),
            "wholeParts": share(one.whole, one.far),
        },
        "failedKept": share(one.failures_kept, one.failures),
        "proseKept": share(one.prose_kept, one.prose),
        "rewrites": one.rewrites,
        "rewritesPer100": round(100 * one.rewrites / max(1, one.requests), 3),
        "requests": one.requests,
        "runway": median(one.runways) if one.runways else None,
        "compression": _compression(one),
        "summaries": one.summaries,
        "peak": one.peak,
        "overWindow": one.over,
        "cacheHit": share(one.read, one.prompt),
        "tokensPerRequest": one.prompt // max(1, one.requests),
        "causes": dict(one.causes),
        "breaks": dict(one.breaks),
    }


def _compression(one: PolicyTally) -> JsonObject | None:
    if not one.compressed:
        return None
    return {
        "median": round(median(one.compressed), 3),
        "least": round(min(one.compressed), 3),
        "belowThree": sum(times < LEAST_COMPRESSION for times in one.compressed),
    }


def share(part: float, whole: float) -> float:
    """Divide, with 1.0 for a share of nothing."""
    return round(part / whole, 4) if whole else 1.0


def _session(session: ReplayedSession) -> JsonObject:
    damaged: list[Json] = [{"line": d.line, "why": d.why} for d in session.damaged]
    rewrites: list[Json] = [
        {
            "step": rewrite.step,
            "cause": rewrite.cause,
            "reason": rewrite.reason,
            "before": rewrite.before,
            "after": rewrite.after,
        }
        for rewrite in session.rewrites
    ]
    agreed = session.agreement
    return {
        "session": session.name,
        "format": session.format,
        "requests": session.requests,
        "recordedCost": None if session.recorded is None else round(session.recorded, 6),
        "costs": {one.policy: round(one.cost, 6) for one in session.tallies},
        "rewrites": rewrites,
        "damaged": damaged,
        "simulated": None
        if agreed is None
        else {
            "prompt": agreed.prompt,
            "promptRecorded": agreed.prompt_recorded,
            "read": agreed.read,
            "readRecorded": agreed.read_recorded,
        },
    }


def _validity(found: Validity | None) -> JsonObject | None:
    if found is None:
        return None
    return {
        "sessions": found.sessions,
        "requests": found.requests,
        "medianPromptDeviation": round(found.prompts, 4),
        "medianReadDeviation": None if found.reads is None else round(found.reads, 4),
        "misses": found.misses,
    }
