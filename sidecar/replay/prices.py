"""Price cards for replays."""

import json
from collections.abc import Mapping
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Usage
from sidecar.core.plans.plan import Rates

MILLION = 1_000_000

FIGURES = ("input", "output", "write", "read")
DEAREST = 1_000_000
"""USD per million tokens, above any model's price."""


def card(input_usd: float, output_usd: float, write_usd: float, read_usd: float) -> Rates:
    """Takes USD per million tokens."""
    return Rates(input_usd / MILLION, output_usd / MILLION, write_usd / MILLION, read_usd / MILLION)


CARDS: Mapping[str, Rates] = {
    "classic": card(3, 15, 3.75, 0.30),
    "opus": card(4, 20, 5, 0.20),
    "nocache": card(3, 15, 3, 3),
}
"""`classic`: Sonnet's since 2024; `opus`: Opus 5.5's, with reads at a twentieth; `nocache`."""


def read_card(name: str) -> Rates:
    """Reads a card by name, or from a JSON file; raises BadRequest.

    The file holds `{input, output, write, read}` in USD per million tokens.
    """
    if name in CARDS:
        return CARDS[name]
    try:
        given = json.loads(Path(name).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _no_card(name, f"{error}") from None
    if not isinstance(given, dict):
        raise _no_card(name, "the file holds no object")
    for key in FIGURES:
        if not _is_price(given.get(key)):
            raise _no_card(name, f'"{key}" is no number from 0 to {DEAREST}')
    return card(*(float(given[key]) for key in FIGURES))


def _is_price(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= DEAREST


def _no_card(name: str, why: str) -> BadRequest:
    return BadRequest(
        f"no price card {name!r:.200} ({why:.200}): use one of {', '.join(CARDS)}, or a JSON file "
        'with "input", "output", "write" and "read" in USD per million tokens',
        "prices",
    )


def recorded_cost(usage: Usage, rates: Rates) -> float:
    """Returns USD."""
    return (
        usage.input * rates.input
        + usage.cache_read * rates.read
        + usage.cache_write_5m * rates.write
        + usage.cache_write_1h * 2 * rates.input
        + usage.output * rates.output
    )
