"""`evict-…`: old tool results become lines with ids, the least valuable first.

Evicts when forced, or free on a cold cache; if that frees too little, summarises on the warm
prefix.
"""

from collections.abc import Mapping

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.draft import Edits, draft, evicted, forced, leave_out, tail_start
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Change, Plan, Situation, Standing, Summary
from sidecar.core.policies.scorers import SCORERS, WEIGHTS, check_weights, last_uses, scorer
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

HYBRID = "evict-hybrid"
TRIGGER = 0.90
"""Share of the limit at which eviction is forced."""
PROTECTED = 40_000
LEAST = 20_000
PROTECTED_SHARE, LEAST_SHARE = 5, 10
"""The same shares of a window below 200,000 tokens: a fifth protected, a tenth at least."""
TURNS = 2
"""The newest turns stay, once there are more: a task given in one turn must not fill the window."""
RECENTLY = 20
"""Steps for which a use protects the result that it came from. Of recorded results nearly all
(97 per cent of tokens) hold a name that is used again, two fifths brought it, a fifth lately."""
FORCED_LEFT = 0.60
"""A forced eviction, which breaks a warm prefix, goes on until this share of the limit is left."""
COLD_LEFT = 0.21
"""A free one goes on until the history takes this share of the window: the study's target."""

TAIL_SHARE = 0.10
"""Share of the window that stays word for word when all else is summarised: the study's."""


@dataclass(frozen=True, slots=True)
class Evict:
    """Evicts by weighted scorers; spares newest, failed, pinned and referenced results."""

    name: str
    weights: tuple[tuple[str, float], ...]
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        """Gives `budget` near the limit, `cold` if a cold cache has enough history to evict."""
        cause = forced(standing)
        if cause is not None:
            return cause
        if standing.used >= trigger(standing):
            return "budget"
        enough = protected_tokens(standing) + least_tokens(standing)
        cold = not standing.warm and standing.requests > 0
        return "cold" if cold and standing.used - standing.static >= enough else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        plan = self._evicted(situation, cause)
        if cause not in ("budget", "overflow", "idle"):
            return plan
        if plan is not None and plan.tokens_after < trigger(situation.standing):
            return plan
        return self._summarised(situation, cause) or plan

    def _evicted(self, situation: Situation, cause: Cause) -> Plan | None:
        standing = situation.standing
        score = scorer(situation, dict(self.weights))
        free = cause in ("cold", "user")
        target = standing.static + COLD_LEFT * standing.window
        goal = standing.used - (target if free else FORCED_LEFT * standing.limit)
        candidates = evictable(situation)
        ranked = sorted((score(item), index, item) for index, item in enumerate(candidates))
        least = least_tokens(standing)
        changes: list[Change] = []
        freed = 0
        for worth, _, item in ranked:
            if freed >= max(goal, least):
                break
            change = evicted(item, f"evicted, worth {worth:.2f} by {self.name}")
            if change is not None:
                changes.append(change)
                freed += change.tokens_before - change.tokens_after
        if freed < least:
            return None
        why = f"{len(changes)} of {len(candidates)} evictable results evicted, {freed} tokens"
        figures = {"evictable": len(candidates), "least": least}
        return draft(situation, self.name, cause, Edits(tuple(changes)), why, figures=figures)

    def _summarised(self, situation: Situation, cause: Cause) -> Plan | None:
        standing, items = situation.standing, situation.items
        room = round(TAIL_SHARE * standing.window)
        head = items[: tail_start(items, room)]
        edits = leave_out(head, untouchable(situation), "summarised")
        why = f"too few results to evict, all but a tail of {room} tokens summarised"
        summary = Summary("extension", standing.used)
        return draft(situation, self.name, cause, edits, why, summary=summary)


def trigger(standing: Standing) -> int:
    """Gives the tokens from which eviction no longer waits for a cold cache."""
    return round(TRIGGER * standing.limit)


def protected_tokens(standing: Standing) -> int:
    return min(PROTECTED, standing.window // PROTECTED_SHARE)


def least_tokens(standing: Standing) -> int:
    return min(LEAST, standing.window // LEAST_SHARE)


def evictable(situation: Situation) -> list[Item]:
    spared = untouchable(situation)
    newest_turn = max((item.unit.turn for item in situation.items), default=0)
    last_turn = newest_turn - TURNS if newest_turn >= TURNS else newest_turn
    room = protected_tokens(situation.standing)
    may_go = []
    seen = 0
    for item in reversed(situation.items):
        unit = item.unit
        if unit.kind != "call" or item.shown is not None:
            continue
        seen += item.result
        if (
            seen > room
            and unit.turn <= last_turn
            and not unit.failed
            and unit.tool not in situation.protected_tools
            and unit.part_id not in spared
        ):
            may_go.append(item)
    needed = referred_to(situation, may_go)
    return [item for item in reversed(may_go) if item.unit.part_id not in needed]


def referred_to(situation: Situation, items: list[Item]) -> frozenset[PartId]:
    """Gives results whose findings the agent used in the last `RECENTLY` steps.

    A finding is a name that first came with the result, and is not in its call.
    """
    since = situation.step - RECENTLY
    uses = {name: at for name, at in last_uses(situation.items).items() if at >= since}
    written = uses.keys()
    index = situation.names
    return frozenset(
        item.unit.part_id
        for item in items
        if any(
            uses[name] > item.unit.step and name in index and index[name].first >= item.unit.step
            for name in (written & item.unit.names).difference(item.unit.call_names)
        )
    )


def weighed(weights: Mapping[str, float], name: str = HYBRID) -> Evict:
    """Raises `ValueError` as `check_weights` does."""
    check_weights(weights)
    return Evict(name, tuple(weights.items()))


POLICIES = (weighed(WEIGHTS), *(weighed({name: 1.0}, f"evict-{name}") for name in SCORERS))
