"""A session's money: what was paid, and what a simulation of the recorded agent's way comes to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Usage
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prompt import Ttl
from sidecar.replay.bill import BilledRequest, bill_of
from sidecar.replay.conversation import Conversation
from sidecar.replay.money.recorded_way import cost_recorded_way
from sidecar.replay.prices import recorded_cost

PriceOf: TypeAlias = Callable[[str], Rates | None]


@dataclass(frozen=True, slots=True)
class Charge:
    """A request's `usd`, by the agent's own words or else by prices."""

    keys: tuple[str, ...]
    usd: float
    aside: bool = False


@dataclass(frozen=True, slots=True)
class SessionMoney:
    """USD. `listed`: what was reported at prices; `theirs`: the recorded agent's way, simulated.

    Both are without subagents, whose requests are no part of the conversation. `prices`: of each
    model that was paid for, `None` if unknown; `own`: whether the agent told costs. `hour`: share
    of what was written to the cache for an hour. `unsaid`: USD of output that is in the recording
    but not in its counts.
    """

    charges: tuple[Charge, ...]
    listed: float
    theirs: float
    prices: Mapping[str, Rates | None]
    own: bool
    hour: float
    unsaid: float


@dataclass(frozen=True, slots=True)
class Pricing:
    """`usual`: for models that `of` does not know, or for all without `of`."""

    usual: Rates
    of: PriceOf | None = None

    def find(self, model: str) -> Rates | None:
        return self.usual if self.of is None else self.of(model)

    def rates(self, model: str) -> Rates:
        return self.find(model) or self.usual


def model_of(conversation: Conversation) -> str:
    """The model of most answers, or empty."""
    asked = Counter(one.model for one in conversation.messages if one.role == "assistant")
    return asked.most_common(1)[0][0] if asked else ""


def session_money(
    conversation: Conversation,
    bill: Sequence[BilledRequest],
    pricing: Pricing,
    rules: CacheRules,
    static: int,
) -> SessionMoney | None:
    """`None` where nothing tells what was used."""
    bill = bill or bill_of(conversation.messages)
    if not bill:
        return None
    main = [one for one in bill if not one.aside]
    listed = sum(_listed(one, pricing) for one in main)
    wrote = sum((one.usage for one in main), Usage())
    hour = wrote.cache_write_1h / max(1, wrote.cache_write_1h + wrote.cache_write_5m)
    ttl: Ttl = "1h" if hour > 1 / 2 else "5m"
    rates = pricing.rates(model_of(conversation))
    return SessionMoney(
        charges(bill, pricing),
        listed,
        cost_recorded_way(conversation, static, rates, rules, ttl),
        {one.model: pricing.find(one.model) for one in bill},
        pricing.of is not None and any(one.cost is not None for one in bill),
        hour,
        _unsaid(conversation, rates),
    )


def charges(bill: Sequence[BilledRequest], pricing: Pricing) -> tuple[Charge, ...]:
    return tuple(_charge(one, pricing) for one in bill)


def _charge(one: BilledRequest, pricing: Pricing) -> Charge:
    # Who asks for other prices asks what these would have come to.
    believed = one.cost if pricing.of is not None else None
    usd = _listed(one, pricing) if believed is None else believed
    return Charge(one.keys, usd, one.aside)


def _listed(one: BilledRequest, pricing: Pricing) -> float:
    return recorded_cost(one.usage, pricing.rates(one.model).at(one.usage.prompt))


def _unsaid(conversation: Conversation, rates: Rates) -> float:
    return sum(
        (request.output - request.usage.output) * rates.at(request.usage.prompt).output
        for request in conversation.requests
        if request.usage is not None and request.output > request.usage.output
    )
