"""Lists known models.

A test compares prices with `genai-prices`, the source for other models. Other figures: Anthropic's
pages, 2026-11.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from sidecar.config.provider_settings import LOCAL, ProviderKind
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.pricing import ModelInfo, Price
from sidecar.model.vendor_caches import rules_of

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

CURRENT = 1.5
"""Tokens per cl100k token for models since Opus 4.7, until first observed."""
OLDER = 1.2
WINDOW = 200_000
LOCAL_WINDOW = 32_768
"""Of a local server, unless `window` is set: most cut a longer prompt silently."""
OUTPUT = 8_192


def _price(card: str) -> Price:
    """Reads `input output write-5m write-1h read`, in USD per million tokens."""
    return Price(*(Decimal(number) for number in card.split()))


def _model(
    name: str, card: str, window: int, output: int, cacheable: int, factor: float
) -> ModelInfo:
    cache = replace(MARKED, minimum=cacheable)
    return ModelInfo(name, window, output, factor, _price(card), cache=cache)


_M = 1_000_000
_LISTED = (
    _model("claude-opus-5-5", "4 20 5 8 0.20", _M, 128_000, 512, CURRENT),
    _model("claude-sonnet-5-5", "2 10 2.50 4 0.10", _M, 128_000, 512, CURRENT),
    replace(
        _model("claude-haiku-5-5", "0.10 0.50 0.125 0.20 0.01", _M, 128_000, 512, CURRENT),
        tier_above=100_000,
        tier_price=_price("0.50 2.50 0.625 1.00 0.05"),
    ),
    _model("claude-fable-5-2", "8 40 10 16 0.20", _M, 128_000, 512, CURRENT),
    _model("claude-fable-5-1", "10 50 12.50 20 0.25", _M, 128_000, 512, CURRENT),
    _model("claude-fable-5", "10 50 12.50 20 1.00", _M, 128_000, 512, CURRENT),
    _model("claude-opus-5", "5 25 6.25 10 0.50", _M, 128_000, 512, CURRENT),
    _model("claude-sonnet-5", "2 10 2.50 4 0.20", _M, 128_000, 1_024, CURRENT),
    _model("claude-opus-4-8", "5 25 6.25 10 0.50", _M, 128_000, 1_024, CURRENT),
    _model("claude-opus-4-7", "5 25 6.25 10 0.50", _M, 128_000, 2_048, CURRENT),
    _model("claude-opus-4-6", "5 25 6.25 10 0.50", _M, 128_000, 4_096, OLDER),
    _model("claude-sonnet-4-6", "3 15 3.75 6 0.30", _M, 128_000, 1_024, OLDER),
    _model("claude-opus-4-5", "5 25 6.25 10 0.50", WINDOW, 64_000, 4_096, OLDER),
    _model("claude-sonnet-4-5", "3 15 3.75 6 0.30", WINDOW, 64_000, 1_024, OLDER),
    _model("claude-haiku-4-5", "1 5 1.25 2 0.10", WINDOW, 64_000, 4_096, OLDER),
    ModelInfo("offline", WINDOW, OUTPUT, 1.0, _price("0 0 0 0 0")),
)
_COMPACTED = frozenset(
    {
        "claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-fable-5",
        "claude-opus-5", "claude-sonnet-5", "claude-opus-4-8", "claude-opus-4-7",
        "claude-opus-4-6", "claude-sonnet-4-6",
    }
)  # fmt: skip
COMPACTION = 16_384
"""Anthropic, Compaction on demand, 2026-09-30, in beta there, on Vertex and on Foundry."""
MODELS: Mapping[str, ModelInfo] = MappingProxyType(
    {
        info.id: replace(info, compaction=COMPACTION if info.id in _COMPACTED else 0)
        for info in _LISTED
    }
)
KNOWN: tuple[str, ...] = tuple(MODELS)


def _cautious(model_id: str, window: int | None = None) -> ModelInfo:
    cache = replace(MARKED, minimum=1_024)
    return ModelInfo(model_id, window or WINDOW, OUTPUT, CURRENT, cache=cache)


def _other(
    name: str, card: str, window: int = _M, above: int | None = None, tier: str = ""
) -> ModelInfo:
    info = replace(_cautious(name, window), price=_price(card), tier_above=above)
    return replace(info, tier_price=_price(tier)) if tier else info


# Those that pickers of models show: what they say of a model must take no import.
_OTHERS = {
    info.id: info
    for info in (
        _other("gpt-6.1-sol", "2 10 2.50 2.50 0.10", 1_050_000, 272_000, "4 15 5 5 0.20"),
        _other("gpt-6.1-terra", "1 5 1.25 1.25 0.05", 1_050_000, 272_000, "2 7.50 2.50 2.50 0.10"),
        _other("gpt-6-astra", "10 50 12.50 12.50 1", 1_050_000, 272_000, "20 75 25 25 2"),
        _other(
            "gpt-6-luna",
            "0.10 0.50 0.125 0.125 0.01",
            1_050_000,
            272_000,
            "0.20 0.75 0.25 0.25 0.02",
        ),
        _other("gpt-5.5", "5 30 5 5 0.50", _M, 272_000, "10 45 10 10 1"),
        _other("gemini-3.8-flash", "0.75 3.75 0.75 0.75 0.075"),
        _other("gemini-3.1-pro-preview", "2 12 2 2 0.20", _M, 200_000, "4 18 4 4 0.40"),
        _other("gemini-3.5-flash-lite", "0.30 2.50 0.30 0.30 0.03"),
        _other("deepseek-v4-pro", "1.32 3.96 1.32 1.32 0.044"),
        _other("deepseek-v4-flash", "0.30 1.20 0.30 0.30 0.006"),
    )
}
_AT_THEIR_OWN: frozenset[ProviderKind] = frozenset({"openai", "gemini", "deepseek"})
"""Kinds at which those have these prices."""

_CLAUDE: frozenset[ProviderKind] = frozenset({"anthropic", "bedrock", "vertex", "foundry"})
_PRICED_AS: Mapping[ProviderKind, str] = {
    "openai": "openai",
    "gemini": "google",
    "openrouter": "openrouter",
    "deepseek": "deepseek",
    "azure": "azure",
}
"""Providers in `genai-prices`."""
# Anthropic, Pricing, 2026-11: clouds' endpoints but the global cost a tenth more.
REGIONAL = Decimal("1.1")
_PLACE = re.compile(r"^(?:arn:.*/)?(?:[a-z-]+\.)?anthropic\.")
_VERSION = re.compile(r"-v\d+(?::\w+)*$")


@lru_cache(maxsize=256)
def lookup(model_id: str) -> ModelInfo:
    """Finds a model by dated or plain id.

    Unknown models get a cautious window, and no price.
    """
    known = MODELS.get(model_id) or MODELS.get(_undated(model_id))
    if known is not None:
        return replace(known, id=model_id)
    return _from_genai_prices(model_id) or _cautious(model_id)


@lru_cache(maxsize=256)
def lookup_at(
    model_id: str, kind: ProviderKind, window: int | None, region: str = "global"
) -> ModelInfo:
    """Finds a provider's model by its own id; `window` is a local server's, `region` Vertex'."""
    if kind in LOCAL:
        free = ModelInfo(model_id, window or LOCAL_WINDOW, OUTPUT, OLDER, _price("0 0 0 0 0"))
        return replace(free, cache=rules_of(kind, model_id))
    if kind in _CLAUDE:
        dearer = kind == "vertex" and region != "global"
        dearer = dearer or (kind == "bedrock" and "global." not in model_id)
        info = _dearer(lookup(model_id)) if dearer else lookup(model_id)
        return replace(info, compaction=0) if kind == "bedrock" else info
    listed = _OTHERS.get(model_id) if kind in _AT_THEIR_OWN else None
    found = listed or _from_genai_prices(model_id, _PRICED_AS.get(kind)) or _cautious(model_id)
    cache = rules_of(kind, model_id)
    if cache.by == "marks" and not cache.minimum:
        name = model_id.rpartition("/")[2].replace(".", "-")
        cache = replace(cache, minimum=lookup(name).cache.minimum)
    found = replace(found, cache=cache)
    return replace(found, window=_M) if kind == "gemini" and found.window == WINDOW else found


def _dearer(info: ModelInfo) -> ModelInfo:
    cards = [
        card and Price(*(getattr(card, one.name) * REGIONAL for one in fields(card)))
        for card in (info.price, info.tier_price)
    ]
    return replace(info, price=cards[0], tier_price=cards[1])


def _undated(model_id: str) -> str:
    name = _VERSION.sub("", _PLACE.sub("", model_id)).partition("@")[0]
    head, _, tail = name.rpartition("-")
    return head if len(tail) == 8 and tail.isdigit() else name


def _from_genai_prices(model_id: str, provider: str | None = None) -> ModelInfo | None:
    # The import takes 0.25 s: only for models missing in the table.
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - see above
    from genai_prices.types import TimeOfDateConstraint  # noqa: PLC0415 - see above

    try:
        usage = Usage(input_tokens=1, output_tokens=1)
        found = calc_price(usage, model_ref=model_id, provider_id=provider)
    except LookupError:
        return None
    unpriced, card = _cautious(model_id, found.model.context_window), found.model_price
    # Some cost twice as much at some hours.
    prices = found.model.prices
    for one in prices if isinstance(prices, list) else ():
        if isinstance(one.constraint, TimeOfDateConstraint):
            card = max(card, one.prices, key=_output)
    listed = (card.input_mtok, card.output_mtok, card.cache_write_mtok, card.cache_read_mtok)
    starts = {tier.start for one in listed for tier in getattr(one, "tiers", ())}
    if len(starts) > 1:
        # More than one cliff, which no model here has; a wrong price is worse than none.
        return unpriced
    above = next(iter(starts), None)
    return replace(
        unpriced,
        price=_card([getattr(one, "base", one) for one in listed]),
        tier_above=above,
        tier_price=None if above is None else _card([_dearest(one) for one in listed]),
    )


def _output(card: "ModelPrice") -> Decimal:
    return Decimal(str(getattr(card.output_mtok, "base", card.output_mtok) or 0))


def _dearest(price: object) -> object:
    tiers = getattr(price, "tiers", ())
    return tiers[-1].price if tiers else price


def _card(listed: Sequence[object]) -> Price | None:
    given, output, write, read = (None if a is None else Decimal(str(a)) for a in listed)
    if given is None or output is None:
        return None
    written = given if write is None else write
    return Price(given, output, written, written, given if read is None else read)
