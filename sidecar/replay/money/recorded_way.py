"""Simulates what the recorded agent did, by the rules and sizes by which a policy is played."""

from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prompt import Ttl
from sidecar.replay.conversation import Conversation, Request
from sidecar.replay.simulated_cache import USUAL, Bill, Segments, SimulatedCache

SMALLER = 0.9
SLACK = 2_000
"""A reported prompt this much smaller than the messages so far was cut by the agent, marked or not.
"""


def cost_recorded_way(
    conversation: Conversation,
    static: int,
    rates: Rates,
    rules: CacheRules = USUAL,
    ttl: Ttl = "5m",
) -> float:
    """Returns USD. All is sent until the agent cut it; then as much as the next report says.

    `ttl`: for which the agent had all written. No recording has the calls that wrote summaries.
    """
    way = _Way(conversation, static, rules, ttl)
    cost = 0.0
    for request in conversation.requests:
        total, bill = way.send(request, caches=rates.read < rates.input)
        now = rates.at(total)
        cost += bill.cost(now) + request.output * now.output
    return cost


class _Way:
    def __init__(
        self, conversation: Conversation, static: int, rules: CacheRules, ttl: Ttl
    ) -> None:
        self._talk = conversation
        self._static = static
        self._rules = rules
        self._ttl = ttl
        self._cache = SimulatedCache(rules)
        self._prompt = Segments(static)
        self._cuts = set(conversation.compacted)
        self._arrived = 0
        self._shared = 0

    def send(self, request: Request, *, caches: bool) -> tuple[int, Bill]:
        arrived = [
            Item(self._talk.units[index], tokens, self._talk.calls[index])
            for index in range(self._arrived, request.end)
            if (tokens := self._talk.tokens[index])
        ]
        self._arrived = request.end
        reported = request.usage.prompt if request.usage is not None else 0
        total = self._prompt.sizes[-1] + sum(item.tokens for item in arrived)
        smaller = 0 < reported < SMALLER * total - SLACK
        if request.step in self._cuts or smaller:
            self._cut(arrived, reported, request.step)
        for item in arrived:
            self._prompt.append(item)
        return self._prompt.sizes[-1], self._billed(request, caches=caches)

    def _cut(self, arrived: list[Item], reported: int, step: int) -> None:
        self._prompt, self._shared = Segments(self._static), 0
        room = max(0, reported - self._static)
        while arrived and sum(item.tokens for item in arrived) > room:
            arrived.pop(0)
        if left := room - sum(item.tokens for item in arrived):
            unit = Unit(PartId(f"cut {step}"), MessageId(""), 0, 0, "ledger", "")
            self._prompt.append(Item(unit, left))

    def _billed(self, request: Request, *, caches: bool) -> Bill:
        if not caches:
            return Bill(0, 0, 0, self._prompt.sizes[-1])
        marks = self._prompt.marks(self._shared, 0, self._rules)
        ttl: Ttl = self._ttl if self._rules.long else "5m"
        all_marks = [(0, ttl), *((index, ttl) for index, _ in marks)]
        self._shared = len(self._prompt.sizes) - 1
        return self._cache.send(self._prompt, all_marks, request.at)
