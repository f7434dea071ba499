"""Gets the summary that a decision to rewrite needs, and decides again.

If the summary fails or is cancelled, the view stays as it was.
"""

from collections.abc import Callable
from decimal import Decimal

from sidecar.core.conversation.fact import to_json as fact_to_json
from sidecar.core.dataclass import dataclass
from sidecar.core.engine.ladder import Tell, coming
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.pricing import money, money_of
from sidecar.session.compaction.decision import Decision
from sidecar.session.compaction.planner import Planner, Scene
from sidecar.session.compaction.rewrite_commit import told_plan
from sidecar.session.compaction.summariser import Summariser, Told, Way
from sidecar.session.log.progress import Token, Works


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision to carry out, with any wanted summary."""

    decision: Decision
    told: Told | None = None

    def price(self) -> str | None:
        """USD, summary included; `None` if unknown."""
        rewriting = self.decision.recorded.price
        asked = "0" if self.told is None else self.told.cost
        if rewriting is None or asked is None:
            return None
        return money(Decimal(rewriting) + Decimal(asked))

    def as_json(self) -> JsonObject:
        told = self.told
        if told is None:
            return {}
        return {
            "by": told.by,
            "calls": told.calls,
            "cost": told.cost,
            "problem": told.problem,
            "ways": told.figures,
            "facts": [{**fact_to_json(fact)} for fact in told.facts],
        }


class Settlements:
    """Settles decisions; clients see `works`, and can cancel them."""

    def __init__(self, works: Works, summariser: Summariser, planner: Planner) -> None:
        self._works = works
        self._planner = planner
        self._summariser = summariser

    async def settle(
        self,
        scene: Scene,
        draft: Decision,
        again: Callable[[Tell], Decision | None],
        token: Token | None = None,
        *,
        dry: bool = False,
    ) -> Settled | None:
        """Gets a draft's summary, then decides again: the session may have changed."""
        before = draft.recorded.tokens_before
        wanted = draft.plan.summary
        if wanted is None and token is None:
            return Settled(draft)
        with self._works.show("Compacting the context", token) as work:
            if wanted is None:
                work.outcome = f"{before} to {draft.recorded.tokens_after} tokens"
                return Settled(draft)
            work.tell("report", f"summarising: {draft.plan.reason}")
            asking = self._summariser.summarise(scene, draft, logged=not dry)
            told = await work.wait_for(asking)
            await self._planner.look()
            decision = again(told.still_on)
            if decision is None:
                work.outcome = "left as it was"
                return None
            work.outcome = f"{before} to {decision.recorded.tokens_after} tokens"
        return Settled(decision, told)

    def cheapest(self, scene: Scene, draft: Decision) -> Way | None:
        return next(iter(self._summariser.ways(scene, draft)), None)


def told_settled(settled: Settled) -> JsonObject:
    done, told = _told(settled.decision, settled.price(), 0), settled.told
    if told is not None and told.asked:
        done["asked"] = [*told.asked]
    if told is not None and told.problem:
        done["problem"] = told.problem
    return done


def told_draft(draft: Decision, way: Way | None = None) -> JsonObject:
    price = draft.recorded.price
    if way is None:
        return _told(draft, price, coming(draft.plan))
    if price is not None and way.usd is not None:
        price = money(Decimal(price) + way.usd)
    return {**_told(draft, price, coming(draft.plan)), "asked": [way.name]}


def _told(decision: Decision, price: str | None, still: int) -> JsonObject:
    plan = decision.plan
    text = "\n".join(note.text for note in decision.recorded.rewrite.notes)
    told: JsonObject = {
        "plan": told_plan(plan),
        "tokensBefore": plan.tokens_before,
        "tokensAfter": plan.tokens_after + still,
        "price": price,
        "breakEvenRequests": decision.break_even,
    }
    if plan.images:
        rate = None if price is None else decision.situation.standing.rates.write
        told["files"] = [
            {
                "path": one.path,
                "lines": one.lines,
                "tokens": one.tokens,
                "price": None if rate is None else money_of(rate * one.tokens),
            }
            for one in plan.images
        ]
    return {**told, "summary": text} if text else told
