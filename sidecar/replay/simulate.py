"""Simulates a policy over a recorded conversation."""

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.engine import ATTEMPTS
from sidecar.core.engine.ladder import Tell as Ways
from sidecar.core.engine.ladder import coming
from sidecar.core.engine.outline import anchor_after, shared_before
from sidecar.core.ledger.units import Item, Unit, UnitKind
from sidecar.core.parts import MessageId, Millis, PartId
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.plan import Plan, Policy, Rates, Situation, Standing, rent_of
from sidecar.core.plans.preserve import NAMED_SHARE, preserved
from sidecar.core.prompt.budget import budget
from sidecar.core.prompt.cache.lifetime import is_kept
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prompt import Prompt, Ttl
from sidecar.core.prompt.visibility import Dropped, Shown
from sidecar.core.summaries.model_summary import without_summary
from sidecar.replay.conversation import Conversation, Request
from sidecar.replay.measures.measure import Memory
from sidecar.replay.measures.needs import Needs
from sidecar.replay.measures.verbatim import VerbatimMeasure, VerbatimTally
from sidecar.replay.replay_decision import Decided, Decider, placed_notes
from sidecar.replay.simulated_cache import USUAL, Bill, Segments, SimulatedCache, StaticLifetime

RESERVE_SHARE = 16
"""The reserve is a sixteenth of a simulated window, unless too small."""
ALIKE: Ttl = "1h"
"""The static text's lifetime by which all policies are compared like for like."""
ANSWERED: frozenset[UnitKind] = frozenset({"prose", "reasoning", "opaque"})
"""Kinds of units that only answers hold."""
NO_NEEDS: Mapping[int, Needs] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SimulatedRewrite:
    """A rewrite before request `step`, in tokens; `cost`: USD for a summary.

    Changed parts had `gone` tokens before, and have `come` after, with notes.
    """

    step: int
    cause: str
    reason: str
    before: int
    after: int
    cost: float
    gone: int = 0
    come: int = 0
    policy: str = ""
    shown: Mapping[PartId, Shown | None] = field(default_factory=dict)

    @property
    def compression(self) -> float:
        return self.gone / max(1, self.come)


@dataclass(frozen=True, slots=True)
class Sent:
    """A simulated request's start and tokens."""

    step: int
    at: Millis
    prompt: int
    read: int
    write: int
    uncached: int


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """One policy's run over one conversation.

    `over`: requests above the limit; `items`: the last request's content; `alike`: USD with the
    lifetime `ALIKE`.
    """

    policy: str
    cost: float
    sent: tuple[Sent, ...]
    rewrites: tuple[SimulatedRewrite, ...]
    summaries: int
    over: int
    memory: Memory
    verbatim: VerbatimTally
    items: tuple[Item, ...] = ()
    alike: float = 0.0


TellSummary: TypeAlias = Callable[[Plan, Situation], Plan]
"""Adds a summary's text to a plan, as `told`."""


def _ways(tell: TellSummary) -> Ways:
    # Without its summary, where the plan with the summary's words is not admitted.
    return lambda plan, situation: (tell(plan, situation), without_summary(plan))


def simulate(
    conversation: Conversation,
    policy: Policy,
    window: int,
    rates: Rates,
    tell: TellSummary | None = None,
    needs: Mapping[int, Needs] = NO_NEEDS,
    rules: CacheRules = USUAL,
) -> SimulatedRun:
    """Plays a policy over a conversation; `needs`: by step.

    Without `tell`, a summary has cost and tokens, but no words.
    """
    state = _played(_Simulation(conversation, policy, window, rates, tell, needs, rules))
    state.memory.finish(state.items)
    return SimulatedRun(
        policy.name,
        state.cost,
        tuple(state.sent),
        tuple(state.rewrites),
        state.summaries,
        state.over,
        state.memory,
        state.verbatim.tally,
        tuple(state.items),
        state.alike,
    )


def static_of(conversation: Conversation, window: int) -> int:
    """Tokens of system text and tools in a simulated prompt."""
    return min(conversation.static, window // 4)


def last_prompt(
    conversation: Conversation,
    policy: Policy,
    window: int,
    rates: Rates,
    rules: CacheRules = USUAL,
) -> Prompt:
    state = _played(_Simulation(conversation, policy, window, rates, rules=rules))
    return state.decider.prompt(state.items)


def _played(state: "_Simulation") -> "_Simulation":
    for request in state.conversation.requests:
        state.arrive(request)
        state.decide(request)
        state.send(request)
    return state


class _Simulation:
    def __init__(
        self,
        conversation: Conversation,
        policy: Policy,
        window: int,
        rates: Rates,
        tell: TellSummary | None = None,
        needs: Mapping[int, Needs] = NO_NEEDS,
        rules: CacheRules = USUAL,
    ) -> None:
        ways = None if tell is None else _ways(tell)
        self.decider = Decider(conversation, policy, ways)
        self.conversation = conversation
        self._window = window
        self._limit = budget(window, window // RESERVE_SHARE).limit
        self._rates = rates
        self._static = static_of(conversation, window)
        self._rules = rules
        self._caches = rates.read < rates.input
        self._kept = StaticLifetime(policy.static_ttl, self._static, rates, rules)
        self._lasting: Ttl = ALIKE if rules.long else "5m"
        self.items: list[Item] = []
        self._prompt = Segments(self._static)
        self.memory = Memory()
        sizes = zip(conversation.units, conversation.tokens, strict=True)
        self.verbatim = VerbatimMeasure(needs, {u.part_id: n for u, n in sizes}, rates)
        self._cache, self._alike = SimulatedCache(rules), SimulatedCache(rules)
        self._base = self._static
        self._rent = 0
        self._since = 0
        self._anchored = 0
        self._calls: dict[PartId, int] = {}
        self._called: set[MessageId] = set()
        self._said: set[MessageId] = set()
        self._reported = False
        self._before = 0
        self._extends = 0
        self._starts: list[Millis] = []
        self._arrived = 0
        self.cost = self.alike = 0.0
        self.sent: list[Sent] = []
        self.rewrites: list[SimulatedRewrite] = []
        self.summaries = 0
        self.over = 0

    def arrive(self, request: Request) -> None:
        talk = self.conversation
        for index in range(self._arrived, request.end):
            unit = talk.units[index]
            if not talk.tokens[index]:
                continue
            self._calls[unit.part_id] = talk.calls[index]
            self._append(Item(unit, talk.tokens[index], talk.calls[index]))
            self.decider.hear(unit)
            self.memory.add(unit)
        self._arrived = request.end

    def decide(self, request: Request) -> None:
        for _ in range(ATTEMPTS):
            standing = self._standing(request)
            cause = self.decider.cause(standing)
            if cause is None:
                return
            situation = Situation(
                standing,
                self.items,
                self.decider.names,
                request.step,
                sent=self._before if self._reported else 0,
                preserved=preserved(
                    self.items,
                    room=NAMED_SHARE * self._window,
                    stale=self.decider.files.is_stale,
                ),
                factor=self.conversation.factor,
                files=self.decider.files,
            )
            done = self.decider.decide(situation, cause)
            if done is None:
                return
            self._apply(done, situation)
            if done.opens:
                return

    def send(self, request: Request) -> None:
        rates = self._rates.at(total := self._prompt.sizes[-1])
        bill = alike = Bill(0, 0, 0, total)
        if self._caches:
            marks = self._prompt.marks(self._extends, self._anchored, self._rules)
            ttl = self._kept.choose(self._starts, request.at, self.cost)
            bill = self._cache.send(self._prompt, [(0, ttl), *marks], request.at)
            alike = self._alike.send(self._prompt, [(0, self._lasting), *marks], request.at)
        self.cost += bill.cost(rates) + request.output * rates.output
        self.alike += alike.cost(rates) + request.output * rates.output
        self.over += total > self._limit
        wrote = bill.write_5m + bill.write_1h
        self.sent.append(Sent(request.step, request.at, total, bill.read, wrote, bill.uncached))
        self._rent += rent_of((total,), self._base, self._rates)
        self._since += 1
        self._before = self._extends = len(self.items)
        self._reported = True
        self._starts.append(request.at)
        self.memory.answer(request)
        self.verbatim.answer(request.step, total)

    def _append(self, item: Item) -> None:
        self.items.append(item)
        self._prompt.append(item)
        unit = item.unit
        if isinstance(item.shown, Dropped):
            return
        if unit.kind == "call":
            self._called.add(unit.message_id)
        if unit.kind not in (*NOTES, "reasoning"):
            self._said.add(unit.message_id)

    def _newest(self) -> int:
        if not self._reported:
            return 0
        came = (item for item in self.items[self._before :] if item.unit.kind not in ANSWERED)
        return sum(item.result for item in came)

    def _standing(self, request: Request) -> Standing:
        used, newest = self._prompt.sizes[-1], self._newest()
        return Standing(
            used=used,
            static=self._static,
            window=self._window,
            limit=self._limit,
            base=self._base,
            rent=self._rent,
            requests=self._since,
            warm=self._caches and is_kept(self._rules.short, self._last, request.at),
            opens_turn=request.opens_turn,
            messages=len(self._said) + len(self._called),
            rates=self._rates,
            newest=newest,
            guessed=newest if self._reported else used,
            now=request.at,
            cooling_ms=0 if self._last is None else request.at - self._last,
        )

    def _apply(self, done: Decided, situation: Situation) -> None:
        plan, standing = done.plan, situation.standing
        changes = {change.part_id: change for change in plan.changes}
        retired = set(plan.retired)
        front, placed = placed_notes(self._notes(done), self.items[plan.first :])
        kept: list[Item] = [*self.items[: plan.first], *front]
        for item in self.items[plan.first :]:
            kept += placed.pop(item.unit.message_id, ())
            change = changes.get(item.unit.part_id)
            if item.unit.part_id in retired:
                continue
            if change is None:
                kept.append(item)
            else:
                size = change.tokens_after
                call = min(self._calls[item.unit.part_id], size)
                shown = Item(item.unit, size, call, change.shown, item.pinned, item.tokens_whole)
                kept.append(shown)
        price = self._summarise(done.billed or plan, standing)
        before, touched = self._prompt.sizes[-1], retired | changes.keys()
        gone = sum(i.tokens for i in self.items[plan.first :] if i.unit.part_id in touched)
        anchor = anchor_after(situation)
        self._extends = min(self._extends, shared_before(self.items, plan.first))
        self.decider.install(done)
        self.items, self._said, self._called = [], set(), set()
        self._prompt = Segments(self._static)
        for item in kept:
            self._append(item)
        self.memory.rewrite(self.items, covered=bool(plan.note))
        self.verbatim.rewrite(self.items)
        if not done.opens:
            return
        self._base, self._reported = self._prompt.sizes[-1], False
        self._rent = self._since = 0
        places = (n for n, i in enumerate(self.items) if i.unit.message_id == anchor)
        self._anchored = next(places, 0)
        after = self._prompt.sizes[-1]
        made = (situation.step, plan.cause, plan.reason, before, after, price)
        by = (plan.policy, done.rewrite.shown)
        self.rewrites.append(SimulatedRewrite(*made, gone, gone - (before - after), *by))

    def _notes(self, done: Decided) -> tuple[Item, ...]:
        # A summary without words takes its tokens in the last note.
        left = coming(done.plan)
        if not left:
            return done.notes
        if not done.notes:
            unit = Unit(PartId("coming"), MessageId(""), 0, 0, "ledger", "")
            return (Item(unit, left),)
        *others, last = done.notes
        return (*others, Item(last.unit, last.tokens + left))

    def _summarise(self, plan: Plan, standing: Standing) -> float:
        asked = plan.summary
        if asked is None:
            return 0.0
        rates = self._rates
        self.summaries += asked.calls
        price = asked.output_tokens * rates.output * asked.calls
        if asked.asking == "fresh":
            price += asked.input_tokens * rates.input * asked.calls
        else:
            price += standing.used * (rates.read if standing.warm else rates.input)
        self.cost += price
        self.alike += price
        return price

    @property
    def _last(self) -> Millis | None:
        return self._starts[-1] if self._starts else None
