"""Prices and sizes of models. An unknown price is `None`, never another model's."""

from collections.abc import Iterable
from decimal import Decimal

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Usage
from sidecar.core.prompt.cache_rules import MARKED, CacheRules

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """Prices in USD per million tokens."""

    input: Decimal
    output: Decimal
    write_5m: Decimal
    write_1h: Decimal
    read: Decimal


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model's catalogue entry; sizes are in tokens.

    A prompt over `tier_above` is billed wholly at `tier_price`. Estimates of tokens are multiplied
    by `token_factor` until usage was reported. `compaction`: characters that the provider's own
    takes as instructions.
    """

    id: str
    window: int
    max_output: int
    token_factor: float
    price: Price | None = None
    tier_above: int | None = None
    tier_price: Price | None = None
    cache: CacheRules = MARKED
    compaction: int = 0


def in_words(info: ModelInfo) -> str:
    """Tells window, prices in USD per million tokens, and cache."""
    card = info.price
    cost = "price unknown"
    if card is not None:
        cost = f"${money(card.input)} in, ${money(card.read)} cached, ${money(card.output)} out"
    window = f"{info.window / 1e6:g}M" if info.window >= 1e6 else f"{info.window / 1000:g}k"
    return f"{window} tokens · {cost} · cache {info.cache.lifetimes}"


def price(info: ModelInfo, usage: Usage) -> Decimal | None:
    """Returns USD, `None` if the price is unknown."""
    card = info.price
    if info.tier_above is not None and usage.prompt > info.tier_above:
        card = info.tier_price
    if card is None:
        return None
    total: Decimal = (
        usage.input * card.input
        + usage.cache_read * card.read
        + usage.cache_write_5m * card.write_5m
        + usage.cache_write_1h * card.write_1h
        + usage.output * card.output
    ) / MILLION
    return total


def money(amount: Decimal) -> str:
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def total(costs: Iterable[str | None]) -> str | None:
    summed = Decimal(0)
    for cost in costs:
        if cost is None:
            return None
        summed += Decimal(cost)
    return money(summed)


def money_of(amount: float) -> str:
    return money(Decimal(repr(round(amount, 6))))
