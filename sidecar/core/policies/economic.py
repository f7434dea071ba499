"""`economic`: rewrite when carrying on has cost more than rebuilding; keep what earns its place.

All after the static prefix is rebuilt.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import (
    OPTIONAL,
    STORY,
    Keeping,
    Plan,
    Situation,
    Standing,
    Summary,
    compression,
    retired_items,
)
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Cause, Dropped

if TYPE_CHECKING:
    from sidecar.core.plans.rebuild import Sifted
    from sidecar.core.summaries.model_summary import SummaryWriter

ROOM = replace(STORY, story=1_000, hunks=700)
"""For the story: longer ones cost more than they keep of what is needed word for word."""
KEEPING = Keeping(keep=8_400, density=3e-4, room=ROOM)
"""`density`: carrying what is worth less costs more than what it saves. Found on one half of the
recordings, and taken from a few values with both in sight."""
BESIDE = 6_600
"""Tokens of the history that a rebuild leaves beside the blocks that are kept, as measured."""
GOAL, RUNWAY = 0.60, 0.58
"""Shares of the limit: what may be left, and what is aimed at, as what notes take is an estimate.
A rewrite that leaves more rebuilds everything, and if that is not enough keeps less."""
SPARE, FULL = 0.10, 0.90
"""Where what must stay takes more than the goal: what may be left beyond the least, as a share of
the limit, and in all. Less would cost the rules and first words of what was typed before."""
LESS = (0.85, 0.7, 0.55, 0.4, 0.3, 0.15)
"""Shares of what is kept otherwise: the largest that leaves no more than may be left is taken."""
NOTHING = 0.0
"""The share where even the least of these cannot be sent."""
LEAST_COMPRESSION = 3.5
"""A rewrite that need not be is left alone where it makes what it changes fewer times smaller; one
that is forced keeps less then. Three is the goal, and a note's tokens are an estimate, which was
off by as much as an eighth."""
SUMMARY_TOKENS = 600
AWAY = 3_600_000
"""Milliseconds after which a session is taken up anew."""
MOST_TOLD = 2 * SUMMARY_TOKENS
"""What a summary may come to: one that is carried on, or longer than was asked for."""


@dataclass(frozen=True, slots=True)
class Economic:
    """Rewrites when carrying on has cost several rebuilds; shares are of the window.

    Fitted on recorded sessions; see the README beside. `most`: history share that forces a rewrite.
    Any other needs `least` tokens added, and is due on a cold cache from the history share `cold`
    on (`whole` for a session imported or resumed after an hour), or once carrying tokens above the
    base has cost `rent` rebuilds as a turn opens, `within` in a turn. `first`: history share that a
    first rebuild should leave. `arrival`: share for new results together. `spacing`: requests
    between rewrites that only pay, as each costs the model its thinking; none at a price cliff,
    with `ahead` requests expected. `said`: tokens of the model's words that must go for a summary;
    `None`: only if asked.
    """

    name: str = "economic"
    keeping: Keeping = KEEPING
    most: float = 0.80
    cold: float = 0.10
    whole: float = 0.50
    rent: float = 8.0
    within: float = 22.0
    least: int = 11_000
    first: float = 0.35
    arrival: float = 0.25
    spacing: int = 20
    ahead: int = 5
    said: int | None = None
    static_ttl: Ttl = "1h"

    def due(self, standing: Standing) -> Cause | None:
        st = standing
        if st.overflow:
            return "overflow"
        if st.asked:
            return "user"
        if self._arrived(st) or st.used >= self._ceiling(st):
            return "budget"
        grown = st.used - st.base
        if grown < self.least or not st.requests:
            return None
        caches = st.rates.read < st.rates.write
        if caches and not st.warm and st.used >= st.static + self.cold * st.window:
            return None if self._taken_up(st) else "cold"
        if st.requests < self.spacing and not self.cliff(st):
            return None
        # Where tokens are free nothing is saved, and a rewrite has them all processed anew.
        pays = self.rent_paid(st) >= self._rebuilds(st) * self.premium(st) and st.rates.input > 0
        return "pays" if pays else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        st = situation.standing
        if cause == "budget" and self._arrived(st):
            from sidecar.core.plans.arrivals import shorten_arrivals  # noqa: PLC0415 - as below

            most = round(self.arrival * st.window)
            cut = shorten_arrivals(situation, most, self.name, together=most)
            if cut is not None:
                return cut
            cause_without = self.due(replace(st, newest=0))
            if cause_without is None and not st.is_over:
                return None
            cause = cause_without or cause
        plan = self._rebuilt(situation, cause)
        if plan is None:
            return None
        plan = self._told(situation, plan)
        if plan.tokens_after >= plan.tokens_before:
            return None
        if cause in OPTIONAL and compression(situation, plan) < LEAST_COMPRESSION:
            return None
        figures = {
            "rentPaidUsd": round(self.rent_paid(st), 6),
            "rebuildPremiumUsd": round(self.premium(st), 6),
            "grown": st.used - st.base,
            "base": st.base,
            "ceiling": self._ceiling(st),
            "compression": round(compression(situation, plan), 2),
            **plan.figures,
        }
        return replace(plan, reason=self._reason(st, cause, plan), figures=figures)

    def _rebuilt(self, situation: Situation, cause: Cause) -> Plan | None:
        # Who only measures a session plans nothing, and need not wait a twentieth of a second.
        from sidecar.core.plans.rebuild import basis_of, rebuild, sift  # noqa: PLC0415 - see above

        st = situation.standing
        basis = basis_of(situation, cause)
        plan = rebuild(sift(basis, self.keeping), cause, self.name)
        most = RUNWAY * st.limit - MOST_TOLD
        if plan is None and cause != "user" and (cause in OPTIONAL or st.used <= most):
            return None
        if plan is not None and self._fits(situation, plan, most):
            return plan

        @cache
        def sifted(share: float) -> "Sifted":
            return sift(basis, less(self.keeping, share))

        @cache
        def wider(share: float) -> Plan | None:
            return rebuild(sifted(share), cause, self.name)

        def fits(share: float) -> bool:
            if not self._may_fit(sifted(share), cause, most):
                return False
            other = wider(share)
            return other is not None and self._fits(situation, other, most)

        # Keeping less leaves less, so the largest fitting share is found by bisection.
        at = bisect_left(LESS, True, key=fits)
        if at < len(LESS):
            return wider(LESS[at])
        known = (one for one in (plan, wider(LESS[-1])) if one is not None)
        least = min(known, key=lambda one: one.tokens_after, default=None)
        if least is None or at_most(least.tokens_after, least.tokens_after) > st.limit:
            return wider(NOTHING) or least
        if least.tokens_after > GOAL * st.limit:
            most = min(least.tokens_after + SPARE * st.limit, FULL * st.limit)
            at = bisect_left(LESS, True, key=fits)
        return wider(LESS[at]) if at < len(LESS) else least

    def _may_fit(self, sifted: "Sifted", cause: Cause, most: float) -> bool:
        if sifted.basis.situation.standing.used - sifted.freed > most:
            return False
        left = max(1, sifted.before - sifted.freed)
        return cause in OPTIONAL or sifted.before / left >= LEAST_COMPRESSION

    def _fits(self, situation: Situation, plan: Plan, most: float) -> bool:
        if plan.tokens_after > most:
            return False
        if plan.cause in OPTIONAL:
            return True
        return compression(situation, self._told(situation, plan)) >= LEAST_COMPRESSION

    def _told(self, situation: Situation, plan: Plan) -> Plan:
        from sidecar.core.summaries.model_summary import summary_in  # noqa: PLC0415 - as above

        notes = [item.unit.text for item in retired_items(situation, plan)]
        before = [(note, text) for note in notes if (text := summary_in(note))]
        if before:
            # A new summary would replace the carried one.
            told = carried(*zip(*before, strict=True))
            plan = replace(plan, told=told, tokens_after=plan.tokens_after + tokens_of(told))
        if not self._worth_asking(situation, plan):
            return plan
        summary = Summary("extension", 0, SUMMARY_TOKENS)
        after = plan.tokens_after + (0 if plan.told else SUMMARY_TOKENS)
        return replace(plan, summary=summary, tokens_after=after)

    def _worth_asking(self, situation: Situation, plan: Plan) -> bool:
        if plan.cause == "user" and situation.instructions:
            return True
        if self.said is None or plan.cause == "overflow" or not situation.standing.warm:
            return False
        own = {i.unit.part_id for i in situation.items if i.unit.kind in ("prose", "reasoning")}
        gone = (c for c in plan.changes if isinstance(c.shown, Dropped) and c.part_id in own)
        return sum(change.tokens_before for change in gone) >= self.said

    def rent_paid(self, standing: Standing) -> float:
        """USD for tokens above the base since the last rewrite, and for a cliff ahead."""
        return standing.rent * standing.rates.read + self.cliff(standing)

    def cliff(self, standing: Standing) -> float:
        """USD that a price cliff adds to coming requests."""
        st, dearer = standing, standing.rates.at(standing.used)
        if dearer is st.rates or st.static + self._rebuilt_tokens(st) > st.rates.above:
            return 0.0
        return self.ahead * st.used * (dearer.read - st.rates.read)

    def premium(self, standing: Standing) -> float:
        """USD that writing the rebuilt part costs beyond reading."""
        rates = standing.rates
        return max(0.0, rates.write - rates.read) * self._rebuilt_tokens(standing)

    def _rebuilt_tokens(self, st: Standing) -> float:
        left = min(self.first * (st.used - st.static), self.keeping.keep + BESIDE)
        return max(st.base - st.static, left)

    def _rebuilds(self, st: Standing) -> float:
        if self.cliff(st):
            return 1.0
        return self.rent if st.opens_turn else self.within

    def _taken_up(self, st: Standing) -> bool:
        """Whether a session was imported or resumed after an hour, with room left."""
        anew = st.guessed >= st.used or st.cooling_ms > AWAY
        return anew and st.base <= st.static and st.used < self.whole * st.window

    def _arrived(self, st: Standing) -> bool:
        return st.newest > self.arrival * st.window

    def _ceiling(self, st: Standing) -> int:
        return min(round(st.static + self.most * st.window), st.limit)

    def _reason(self, st: Standing, cause: Cause, plan: Plan) -> str:
        size = f"{plan.tokens_before} to {plan.tokens_after} tokens"
        match cause:
            case "budget" if st.is_over and st.used < self._ceiling(st):
                return f"{size}: {st.guessed} are estimated, so {st.limit} may not be enough"
            case "budget":
                return f"{size}: at {st.used} the ceiling of {self._ceiling(st)} is reached"
            case "cold":
                away = f"{st.cooling_ms / 60_000:.0f} min" if st.cooling_ms else "a while"
                return f"{size}: the cache went cold {away} ago, so rewriting costs nothing extra"
            case "pays" if self.cliff(st):
                return f"{size}: above {st.rates.above} tokens the whole prompt is dearer"
            case "pays":
                return (
                    f"{size}: carrying {st.used - st.base} tokens above the base over "
                    f"{st.requests} requests has cost {self.rent_paid(st):.4f} USD, "
                    f"{self._rebuilds(st):g} times the {self.premium(st):.4f} USD that rebuilding "
                    "costs"
                )
            case "idle":
                return f"{size}: the next turn would need it, and nobody waits now"
            case "overflow":
                return f"{size}: the provider said that the prompt is too long"
            case _:
                return f"{size}: asked for"


def carried(notes: Sequence[str], summaries: Sequence[str]) -> str:
    if len(notes) == 1:
        return notes[0]
    from sidecar.core.summaries.model_summary import note_of  # noqa: PLC0415 - as above
    from sidecar.core.summaries.sections import shortened  # noqa: PLC0415 - as above

    by: SummaryWriter = (
        "model" if any("written by a model" in note for note in notes) else "extract"
    )
    return note_of(shortened("\n".join(summaries), MOST_TOLD), by)


def less(keeping: Keeping, share: float) -> Keeping:
    if share == 1:
        return keeping
    room = keeping.room
    return replace(
        keeping,
        keep=round(share * keeping.keep),
        tail=0.0,
        first=round(share * keeping.first),
        each=round(share * keeping.each),
        typed=round(share * keeping.typed),
        old=round(share * keeping.old),
        share=share,
        room=replace(room, story=round(share * room.story), hunks=round(share * room.hunks)),
    )


POLICIES = (
    Economic(),
    Economic(
        "economic-lean",
        Keeping(keep=6_000, room=ROOM),
        most=0.60,
        rent=4.0,
        within=6.0,
    ),
    Economic("economic-rich", Keeping(keep=20_000), within=10.0, said=1_200),
)
