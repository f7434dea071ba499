"""`economic`: rewrite when carrying on has cost more than rebuilding; keep what earns its place.

A rewrite rebuilds everything after the static prefix anyway, so what stays need not be the
newest: it is what is worth its tokens (`core/rebuild`). Three dials: lean, balanced, rich.
"""

from dataclasses import dataclass, field, replace

from sidecar.core.plan import Plan, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.rebuild import Keeping, rebuild, shorten_arrivals
from sidecar.core.view import Cause

RUNWAY = 0.85
"""A forced rewrite that leaves more than this share of the ceiling rebuilds everything instead."""


@dataclass(frozen=True, slots=True)
class Economic:
    """Shares are of the window. Fitted on recorded sessions; ARCHITECTURE.md has the study.

    `most`: at the latest when the history takes this share. `cold`: when the cache is cold
    anyway and the history takes this share. `rent`: when what was paid for carrying tokens above
    the base is this many times what rebuilding costs, and `least` tokens have come on top.
    `first`: the share of the history that a first rebuild is expected to leave. `arrival`: what
    has just come may take this share, each result at most `each`. `generations`: the result of
    earlier rewrites is left as it is, while cached, up to this share. `spacing`: requests between
    rewrites that only pay; each one costs the model its thinking, which no price shows.
    """

    name: str = "economic"
    keeping: Keeping = field(default_factory=Keeping)
    most: float = 0.80
    cold: float = 0.10
    rent: float = 2.8
    least: int = 11_000
    first: float = 0.35
    arrival: float = 0.10
    each: float = 0.06
    generations: float = 0.30
    spacing: int = 24
    static_ttl: Ttl = "1h"

    def due(self, standing: Standing) -> Cause | None:
        """Say whether a rewrite is forced, free, or pays; the first that holds."""
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
            return "cold"
        if st.requests < self.spacing:
            return None
        return "pays" if self.rent_paid(st) >= self.rent * self.premium(st) else None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Shorten what has just come, if that is what is too much; else rebuild the history."""
        st = situation.standing
        if cause == "budget" and self._arrived(st):
            each, together = round(self.each * st.window), round(self.arrival * st.window)
            shortened = shorten_arrivals(situation, each, self.name, together=together)
            if shortened is not None:
                return shortened
            cause_without = self.due(replace(st, newest=0))
            if cause_without is None:
                return None
            cause = cause_without
        left = sum(item.tokens for item in situation.items[: situation.anchored])
        forced = cause in ("user", "overflow")
        stays = st.warm and not forced and left <= self.generations * st.window
        start = situation.anchored if stays else 0
        plan = rebuild(situation, start, self.keeping, cause, self.name)
        cramped = plan is None or plan.tokens_after > RUNWAY * self._ceiling(st)
        if start and cause == "budget" and cramped:
            wider = rebuild(situation, 0, self.keeping, cause, self.name)
            if wider is not None and (plan is None or wider.tokens_after < plan.tokens_after):
                plan = wider
        if plan is None:
            return None
        figures = {
            "rentPaidUsd": round(self.rent_paid(st), 6),
            "rebuildPremiumUsd": round(self.premium(st), 6),
            "grown": st.used - st.base,
            "base": st.base,
            "ceiling": self._ceiling(st),
            **plan.figures,
        }
        return replace(plan, reason=self._reason(st, cause, plan), figures=figures)

    def rent_paid(self, standing: Standing) -> float:
        """Give what carrying tokens above the base has cost since the last rewrite, in USD."""
        return standing.rent * standing.rates.read

    def premium(self, standing: Standing) -> float:
        """Give what writing the rebuilt part costs more than reading it, in USD."""
        rebuilt = max(
            standing.base - standing.static, self.first * (standing.used - standing.static)
        )
        return max(0.0, standing.rates.write - standing.rates.read) * rebuilt

    def _arrived(self, st: Standing) -> bool:
        return st.newest > self.arrival * st.window

    def _ceiling(self, st: Standing) -> int:
        return min(round(st.static + self.most * st.window), st.limit)

    def _reason(self, st: Standing, cause: Cause, plan: Plan) -> str:
        size = f"{plan.tokens_before} to {plan.tokens_after} tokens"
        match cause:
            case "budget":
                return f"{size}: at {st.used} the ceiling of {self._ceiling(st)} is reached"
            case "cold":
                away = f"{st.cooling_ms / 60_000:.0f} min" if st.cooling_ms else "a while"
                return f"{size}: the cache went cold {away} ago, so rewriting costs nothing extra"
            case "pays":
                return (
                    f"{size}: carrying {st.used - st.base} tokens above the base over "
                    f"{st.requests} requests has cost {self.rent_paid(st):.4f} USD, "
                    f"{self.rent:g} times the {self.premium(st):.4f} USD that rebuilding costs"
                )
            case "overflow":
                return f"{size}: the provider said that the prompt is too long"
            case _:
                return f"{size}: asked for"


POLICIES = (
    Economic(),
    Economic(
        "economic-lean",
        Keeping(density=2.0e-3, listed=2.2e-3),
        most=0.60,
        rent=2.0,
    ),
    Economic("economic-rich", Keeping(keep=0.20, density=0.7e-3, listed=0.8e-3)),
)
