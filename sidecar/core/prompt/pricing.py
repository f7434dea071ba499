"""What models cost and hold. A price that is unknown is `None`, never another model's."""

from dataclasses import dataclass
from decimal import Decimal

from sidecar.core.parts import Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens."""

    input: Decimal
    output: Decimal
    write_5m: Decimal
    write_1h: Decimal
    read: Decimal


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the catalogue knows of a model.

    `window`, `max_output` and `min_cacheable` are tokens. Requests whose prompt is larger than
    `tier_above` cost `tier_price` as a whole. `token_factor` is where calibration starts.
    """

    id: str
    window: int
    max_output: int
    min_cacheable: int
    token_factor: float
    price: Price | None = None
    tier_above: int | None = None
    tier_price: Price | None = None


def price(info: ModelInfo, usage: Usage) -> Decimal | None:
    """Give what one request costs in USD, or `None` when the model's price is unknown."""
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
    """Write an amount of USD in plain digits, without exponent or trailing zeros."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def money_of(amount: float) -> str:
    """Write a computed amount of USD, to a millionth."""
    return money(Decimal(repr(round(amount, 6))))
