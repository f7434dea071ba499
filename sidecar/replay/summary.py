"""Writes a replay as JSON; costs in USD, shares as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from sidecar.core.engine.ladder import LEAST_COMPRESSION
from sidecar.core.parts import Json, JsonObject
from sidecar.replay.compare import PolicyTally, ReplayedSession, Settings, totals
from sidecar.replay.headline import Compared, Comparison, Headline, headline, told
from sidecar.replay.validate import Validity, foresight, validity


def as_json(
    sessions: Sequence[ReplayedSession], found: Comparison, settings: Settings, prices: str
) -> JsonObject:
    kinds = sorted({session.format for session in sessions})
    money = {id(one.session): one for one in found.sessions}
    return {
        "headline": _headline(headline(found)),
        "window": settings.window,
        "prices": prices,
        "policies": [policy_json(one) for one in totals(sessions, settings.policies)],
        "sessions": [_session(session, money.get(id(session))) for session in sessions],
        "validation": {
            kind: _validity(
                validity(s.agreement for s in sessions if s.format == kind and s.agreement)
            )
            for kind in kinds
        },
        "foresight": {
            one.vendor: {
                "sessions": one.sessions,
                "readForeseen": one.foreseen,
                "readReported": one.reported,
            }
            for one in foresight(s.agreement for s in sessions if s.agreement)
        },
    }


LEGEND: Mapping[str, str] = {
    "cost $": "simulated, without re-reads",
    "ratio": (
        "the cost in parts of opencode's, with what it costs to read again text that an edit "
        "needed and that was gone, and each policy's own lifetimes in the cache"
    ),
    "alike": "the same with one lifetime for all, an hour for tools and system text",
    "edits": (
        "of the texts that the recorded agent replaced, the share that stood in view word for word"
    ),
    "far edits": "of those last shown 15 or more requests before",
    "far lines": "of the lines that the agent wrote again so much later",
    "whole": "of the names needed so much later, the share in blocks that are shown whole",
    "rw/100": "rewrites per 100 requests",
    "near": "of the 15 lines around an edit, the share in view",
    "re-reads": "per 100 requests",
    "names": "of the names needed 15 or more requests later, the share in view",
    "+ledger": "the same, or in a note",
    "prose": "of what the model had said to the user, the share of sentences in view",
    "peak": "the largest prompt, in tokens; over: requests above the limit",
    "read": "of all prompts' tokens, the share read from the cache",
    "runway": "requests between rewrites (median)",
    "smaller": "how many times smaller a rewrite made what it changed (median)",
}
"""What the figures of a policy are."""


def legend(columns: Iterable[str], told: Mapping[str, str] = LEGEND) -> str:
    """Explains the columns that are shown, and no others."""
    return "; ".join(f"{name}: {told[name]}" for name in columns if name in told) + "."


def reference_of(sums: Iterable[PolicyTally]) -> PolicyTally | None:
    return next((one for one in sums if one.policy == "opencode"), None)


def figures(one: PolicyTally, reference: PolicyTally | None) -> Mapping[str, str]:
    kept, requests = one.verbatim, max(1, one.requests)
    over = f" ({one.over} over)" if one.over else ""
    return {
        "cost $": f"{one.cost:.2f}",
        **({} if reference is None else _ratios(one, reference)),
        "edits": f"{share(kept.edits_kept, kept.edits):.3f}",
        "far edits": f"{share(kept.far_edits_kept, kept.far_edits):.3f}",
        "far lines": f"{share(kept.lines_kept, kept.lines):.3f}",
        "whole": f"{share(one.whole, one.far):.3f}",
        "rw/100": f"{100 * one.rewrites / requests:.1f}",
        "near": f"{share(kept.around_kept, kept.around):.3f}",
        "re-reads": f"{100 * kept.rereads / requests:.2f}",
        "names": f"{share(one.view, one.far):.3f}",
        "+ledger": f"{share(one.ledger, one.far):.3f}",
        "prose": f"{share(one.prose_kept, one.prose):.2f}",
        "peak": f"{one.peak // 1000}k{over}",
        "read": f"{share(one.read, one.prompt):.1%}",
        "runway": f"{median(one.runways):.0f}" if one.runways else "-",
        "smaller": f"{median(one.compressed):.1f}" if one.compressed else "-",
    }


def _ratios(one: PolicyTally, reference: PolicyTally) -> Mapping[str, str]:
    alike = (tally.alike + tally.verbatim.reread_cost for tally in (one, reference))
    return {"ratio": _ratio(one.with_rereads, reference.with_rereads), "alike": _ratio(*alike)}


def _ratio(own: float, other: float) -> str:
    return f"{own / other:.3f}" if other else "-"


def policy_json(one: PolicyTally) -> JsonObject:
    return {
        "policy": one.policy,
        "cost": round(one.cost, 6),
        "recall": {
            "inView": share(one.view, one.far),
            "withLedger": share(one.ledger, one.far),
            "reachable": share(one.reach, one.far),
            "wholeParts": share(one.whole, one.far),
        },
        "verbatim": _verbatim(one),
        "failedKept": share(one.failures_kept, one.failures),
        "constraintsKept": share(one.constraints_kept, one.constraints),
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


def _verbatim(one: PolicyTally) -> JsonObject:
    found = one.verbatim
    return {
        "edits": share(found.edits_kept, found.edits),
        "farEdits": share(found.far_edits_kept, found.far_edits),
        "farLines": share(found.lines_kept, found.lines),
        "neighbourhood": share(found.around_kept, found.around),
        "continuation": share(found.stood, found.later),
        "restoration": share(found.came_back, found.later - found.stood),
        "rereadsPer100": round(100 * found.rereads / max(1, one.requests), 3),
        "costWithRereads": round(one.with_rereads, 6),
        "costAlike": round(one.alike + found.reread_cost, 6),
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
    return round(part / whole, 4) if whole else 1.0


def _headline(head: Headline | None) -> JsonObject | None:
    if head is None:
        return None
    return {
        "told": told(head),
        "sessions": head.sessions,
        "paid": round(head.paid, 6),
        "here": round(head.here, 6),
        "change": round(head.change, 4),
        "error": round(head.error, 4),
        "recordedWaySimulated": round(head.theirs, 6),
        "hereSimulated": round(head.ours, 6),
        "subagents": round(head.aside, 6),
        "copies": head.copies,
        "dearer": head.dearer,
    }


def _usd(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)


def _session(session: ReplayedSession, money: Compared | None) -> JsonObject:
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
        "recordedCost": _usd(session.recorded),
        "paid": _usd(None if money is None else money.paid + money.aside),
        "here": _usd(None if money is None else money.here + money.aside),
        "recordedWaySimulated": _usd(None if money is None else money.theirs),
        "hereSimulated": _usd(None if money is None else money.ours),
        "subagents": _usd(None if money is None else money.aside),
        "copy": money is not None and not money.share,
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
