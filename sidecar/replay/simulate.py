"""Plays one policy over a recorded conversation: what is sent, what it costs, what gets lost.

The recorded answers stay as they are; only what the model would have been shown differs. Prices
and cache follow the provider's rules: breakpoints, lookback, minimum, lifetime from the start of
the request.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sidecar.core.names import NameIndex, names_in
from sidecar.core.parts import MessageId, Millis, PartId
from sidecar.core.plan import Plan, Policy, Rates, Situation, Standing
from sidecar.core.prompt import Ttl
from sidecar.core.summary import summary_in
from sidecar.core.units import Item, Kind, Unit, learn
from sidecar.core.view import Dropped
from sidecar.core.warm import TTL_MS, Entry, predict
from sidecar.replay.conversation import Conversation, Request
from sidecar.replay.measure import Memory

RESERVE_LEAST = 4_000
RESERVE_SHARE = 16
"""The answer's reserve of a simulated window: a sixteenth, at least 4,000 tokens."""
MINIMUM = 1_024
"""Tokens below which a breakpoint writes nothing."""
STRIDE = 15
HISTORY_MARKS = 3
"""Breakpoints that the static prefix leaves."""
NEWEST = 2
"""Steps that a rewrite leaves after what it rebuilt: its result ends before them."""
ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A rewrite: before which request, why, tokens before and after, and USD for a summary.

    `gone` are the tokens of all that it changed, `come` what it left of that, notes included.
    """

    step: int
    cause: str
    reason: str
    before: int
    after: int
    cost: float
    gone: int = 0
    come: int = 0

    @property
    def compression(self) -> float:
        """How many times smaller it made what it changed."""
        return self.gone / max(1, self.come)


@dataclass(frozen=True, slots=True)
class Sent:
    """One simulated request: when it began, and its tokens."""

    step: int
    at: Millis
    prompt: int
    read: int
    write: int
    uncached: int


@dataclass(frozen=True, slots=True)
class Run:
    """One policy over one conversation; `over` counts requests that the window cannot hold.

    `items` are what the last request held, and what each of them looked like.
    """

    policy: str
    cost: float
    sent: tuple[Sent, ...]
    rewrites: tuple[Rewritten, ...]
    summaries: int
    over: int
    memory: Memory
    items: tuple[Item, ...] = ()


Tell: TypeAlias = Callable[[Plan, Situation], Plan]
"""Puts the text of the summary that a plan wants into it, as `told`."""


def simulate(
    conversation: Conversation,
    policy: Policy,
    window: int,
    rates: Rates,
    tell: Tell | None = None,
) -> Run:
    """Play every request of the conversation under a policy.

    Without `tell` a summary is billed, and takes its tokens, but has no words.
    """
    state = _Simulation(conversation, policy, window, rates, tell)
    for request in conversation.requests:
        state.arrive(request)
        state.decide(request)
        state.send(request)
    state.memory.finish(state.items)
    return Run(
        policy.name,
        state.cost,
        tuple(state.sent),
        tuple(state.rewrites),
        state.summaries,
        state.over,
        state.memory,
        tuple(state.items),
    )


class _Simulation:
    """What one run has come to. Segment 0 is the static prefix, segment i the item i - 1."""

    def __init__(
        self,
        conversation: Conversation,
        policy: Policy,
        window: int,
        rates: Rates,
        tell: Tell | None = None,
    ) -> None:
        self._tell = tell
        self._conversation = conversation
        self._policy = policy
        self._window = window
        self._limit = window - max(RESERVE_LEAST, window // RESERVE_SHARE)
        self._rates = rates
        self._static = min(conversation.static, window // 4)
        self._caches = rates.read < rates.input
        self._ttl: Ttl = policy.static_ttl
        self.items: list[Item] = []
        self._hashes: list[int] = [0]
        self._sizes: list[int] = [self._static]
        self._places: list[int] = [0]
        self._run: int | None = None
        self._names = NameIndex()
        self.memory = Memory()
        self._warm: dict[object, Entry] = {}
        self._base = self._static
        self._rent = 0
        self._since = 0
        self._anchored = 0
        self._before = 0
        self._extends = 0
        self._last: Millis | None = None
        self._arrived = 0
        self.cost = 0.0
        self.sent: list[Sent] = []
        self.rewrites: list[Rewritten] = []
        self.summaries = 0
        self.over = 0

    def arrive(self, request: Request) -> None:
        """Take in what came between the last request and this one."""
        talk = self._conversation
        for index in range(self._arrived, request.end):
            unit = talk.units[index]
            self._append(Item(unit, talk.tokens[index], talk.calls[index]))
            learn(self._names, unit)
            self.memory.add(unit)
        self._arrived = request.end

    def decide(self, request: Request) -> None:
        """Ask the policy, and do what it plans; after cutting what is new it is asked again."""
        for _ in range(ATTEMPTS):
            standing = self._standing(request)
            cause = self._policy.due(standing)
            if cause is None:
                return
            sent = min(self._before, len(self.items))
            situation = Situation(
                standing,
                self.items,
                self._names,
                request.step,
                anchored=self._anchored,
                sent=sent,
                factor=self._conversation.factor,
            )
            plan = self._policy.plan(situation, cause)
            if plan is None:
                return
            if self._tell is not None and plan.summary is not None:
                plan = self._tell(plan, situation)
            self._apply(plan, standing, request)
            if plan.first < sent:
                return

    def send(self, request: Request) -> None:
        """Bill the request and remember what the provider now caches."""
        total, rates = self._sizes[-1], self._rates
        read = write_5m = write_1h = 0
        if self._caches:
            marks = self._marks()
            prediction, warm = predict(
                self._warm,
                self._hashes,
                self._sizes,
                self._places,
                marks,
                request.at,
                MINIMUM,
            )
            self._warm = dict(warm)
            read, write_5m, write_1h = prediction.read, prediction.write_5m, prediction.write_1h
        uncached = total - read - write_5m - write_1h
        self.cost += (
            read * rates.read
            + write_5m * rates.write
            + write_1h * 2 * rates.input
            + uncached * rates.input
            + request.output * rates.output
        )
        self.over += total > self._limit
        self.sent.append(Sent(request.step, request.at, total, read, write_5m + write_1h, uncached))
        self._rent += max(0, total - self._base)
        self._since += 1
        self._before = self._extends = len(self.items)
        self._last = request.at
        self.memory.answer(request)

    def _append(self, item: Item) -> None:
        self.items.append(item)
        if isinstance(item.shown, Dropped):
            self._hashes.append(self._hashes[-1])
            self._sizes.append(self._sizes[-1])
            self._places.append(self._places[-1])
            return
        unit = item.unit
        self._hashes.append(hash((self._hashes[-1], unit.part_id, item.tokens)))
        self._sizes.append(self._sizes[-1] + item.tokens)
        is_call = unit.kind == "call"
        joined = is_call and self._run == unit.step
        self._run = unit.step if is_call else None
        self._places.append(self._places[-1] + (0 if joined else 2 if is_call else 1))

    def _standing(self, request: Request) -> Standing:
        last, used = self._last, self._sizes[-1]
        return Standing(
            used=used,
            static=self._static,
            window=self._window,
            limit=self._limit,
            base=self._base,
            rent=self._rent,
            requests=self._since,
            warm=self._caches and last is not None and request.at - last <= TTL_MS["5m"],
            opens_turn=request.opens_turn,
            messages=request.messages,
            rates=self._rates,
            newest=used - self._sizes[min(self._before, len(self._sizes) - 1)],
            now=request.at,
            cooling_ms=0 if last is None else request.at - last,
        )

    def _apply(self, plan: Plan, standing: Standing, request: Request) -> None:
        changes = {change.part_id: change for change in plan.changes}
        retired = set(plan.retired)
        summary = 0 if plan.summary is None else plan.summary.output_tokens
        kept: list[Item] = self.items[: plan.first]
        if plan.told:
            kept.append(self._note(request, "ledger", plan.told, summary))
            summary = 0
        if plan.excerpt:
            kept.append(self._note(request, "excerpt", plan.excerpt, plan.excerpt_tokens))
        if plan.note_tokens or summary:
            kept.append(self._note(request, "ledger", plan.note, plan.note_tokens + summary))
        for item in self.items[plan.first :]:
            change = changes.get(item.unit.part_id)
            if item.unit.part_id in retired:
                continue
            if change is None:
                kept.append(item)
            else:
                size = change.tokens_after
                call = min(item.call, size)
                shown = Item(item.unit, size, call, change.shown, item.pinned, item.tokens_whole)
                kept.append(shown)
        price = self._summarise(plan, standing)
        before = self._sizes[-1]
        touched = retired | changes.keys()
        gone = sum(i.tokens for i in self.items[plan.first :] if i.unit.part_id in touched)
        first_time = plan.first >= self._before and plan.summary is None
        self.items, self._run = [], None
        del self._hashes[1:], self._sizes[1:], self._places[1:]
        for item in kept:
            self._append(item)
        self.memory.rewrite(self.items, covered=bool(plan.note))
        if first_time:
            return
        self._base, self._rent, self._since, self._extends = self._sizes[-1], 0, 0, 0
        self._anchored = self._end_of_rebuilt(request.step)
        after = self._sizes[-1]
        done = (request.step, plan.cause, plan.reason, before, after, price)
        self.rewrites.append(Rewritten(*done, gone, gone - (before - after)))

    def _note(self, request: Request, kind: Kind, text: str, tokens: int) -> Item:
        made = "summary" if text and summary_in(text) is not None else kind
        part_id = PartId(f"{made}{len(self.rewrites)}")
        unit = Unit(part_id, MessageId(""), 0, request.step, kind, text, names_in(text))
        return Item(unit, tokens)

    def _end_of_rebuilt(self, step: int) -> int:
        for index, item in enumerate(self.items):
            if item.unit.kind not in ("ledger", "excerpt") and item.unit.step >= step - NEWEST:
                return index
        return len(self.items)

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
        return price

    def _marks(self) -> list[tuple[int, Ttl]]:
        """Choose the breakpoints as `core/cache.place` does: static, anchor, last, newest."""
        places = self._places
        newest = len(places) - 1
        last = min(self._extends, newest)
        chosen = {self._shown(index) for index in (self._anchored, last, newest)} - {0}
        reach = places[newest] - STRIDE
        while len(chosen) < HISTORY_MARKS and reach > max(places[last], 1):
            chosen.add(self._shown(bisect_right(places, reach) - 1))
            reach -= STRIDE
        return [(0, self._ttl), *((index, "5m") for index in sorted(chosen))]

    def _shown(self, index: int) -> int:
        """Give the last segment up to this one that is not dropped: only that can be marked."""
        while index and self._hashes[index] == self._hashes[index - 1]:
            index -= 1
        return index
