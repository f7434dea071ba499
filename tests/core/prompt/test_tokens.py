"""Estimates, and how they learn."""

import base64
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Media, Usage
from sidecar.core.prompt.pricing import money, price
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    Content,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)
from sidecar.core.prompt.tokens import (
    Calibration,
    checked,
    count_block,
    count_media,
    observe,
)
from sidecar.model.catalogue import KNOWN, MODELS, lookup


def words(text: str) -> int:
    return len(text.split())


@given(st.floats(0.8, 3.0), st.lists(st.tuples(st.integers(-10, 50_000), st.integers(-10, 90_000))))
def test_factors_stay_in_bounds(start: float, pairs: list[tuple[int, int]]) -> None:
    calibration = Calibration(start)
    for raw, reported in pairs:
        calibration = observe(calibration, raw_delta=raw, reported_delta=reported)
        assert 0.8 <= calibration.factor <= 3.0


def test_it_learns_fast_and_ignores_small_deltas() -> None:
    calibration = observe(Calibration(1.5), raw_delta=1_000, reported_delta=1_200)
    assert calibration == Calibration(1.2, 1)
    assert observe(calibration, raw_delta=100, reported_delta=900) == calibration
    for _ in range(40):
        calibration = observe(calibration, raw_delta=1_000, reported_delta=1_400)
    assert calibration.factor == pytest.approx(1.4, abs=0.01)


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        (TextBlock("one two"), 2 + 4),
        (ReasoningBlock("one two", {"data": "x" * 400}), 2 + 100 + 4),
        (CallBlock("c", "look", {"a": "b"}), 1 + 2 + 12),
        (ResultBlock("c", "one two three"), 3 + 12),
        (OpaqueBlock({"type": "thing"}), 2 + 4),
        (MediaBlock(Media("image/png", "")), 1_600),
    ],
)
def test_a_block_counts_by_its_text_and_what_frames_it(content: Content, tokens: int) -> None:
    assert count_block(Block(content, "user"), words) == tokens


def test_what_is_learned_from_is_500_tokens_or_more() -> None:
    known = Calibration(1.5, 1)
    assert observe(known, raw_delta=499, reported_delta=499) == known
    assert observe(known, raw_delta=500, reported_delta=500).factor == 1.25


def test_an_estimate_that_is_off_by_more_than_a_tenth_is_told() -> None:
    agreed = "as the provider reported it"
    assert [checked(total, 1_000) for total in (901, 1_099)] == [agreed, agreed]
    assert all("estimated at 1000" in checked(total, 1_000) for total in (899, 1_101))


def test_images_are_counted_by_size() -> None:
    header = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 300, 250)
    image = Media("image/png", base64.b64encode(header + b"\0" * 50).decode())
    assert count_media(image) == 100
    assert count_media(Media("image/webp", "AAAA")) == 1_600
    assert count_media(Media("image/png", "-0")) == 1_600
    assert count_media(Media("application/pdf", "A" * 200_000)) == 6_000


def test_a_request_costs_what_its_parts_cost() -> None:
    usage = Usage(input=5, cache_read=2048, cache_write_5m=100, cache_write_1h=200, output=7)
    cost = price(lookup("claude-opus-5-5"), usage)
    assert cost == Decimal("0.0026696")


def test_the_tier_is_for_the_whole_request() -> None:
    haiku = lookup("claude-haiku-5-5")
    assert price(haiku, Usage(input=100_000)) == Decimal("0.01")
    assert price(haiku, Usage(input=60_000, cache_read=40_001)) == Decimal("0.03200005")


def test_an_unknown_price_is_unknown() -> None:
    assert price(lookup("llama-local-7b"), Usage(input=5)) is None
    assert lookup("claude-opus-9").price is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0E-6", "0"), ("1E+2", "100"), ("0.00000010", "0.0000001"), ("1.50", "1.5"), ("20", "20")],
)
def test_money_is_plain_digits(amount: str, text: str) -> None:
    assert money(Decimal(amount)) == text


def test_dated_ids_stand_for_their_model() -> None:
    dated = lookup("claude-haiku-4-5-20251001")
    assert (dated.price, dated.window) == (lookup("claude-haiku-4-5").price, 200_000)
    assert lookup("anthropic.claude-opus-5-5").price == lookup("claude-opus-5-5").price


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "offline"])
def test_our_prices_are_those_of_the_catalogue(name: str) -> None:
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    ours = MODELS[name].price
    assert ours is not None
    for field, card in (
        (Priced(input_tokens=1_000), ours.input),
        (Priced(output_tokens=1_000), ours.output),
        (Priced(input_tokens=1_000, cache_read_tokens=1_000), ours.read),
        (Priced(input_tokens=1_000, cache_write_tokens=1_000), ours.write_5m),
    ):
        try:
            theirs = calc_price(field, model_ref=name, provider_id="anthropic")
        except LookupError:
            pytest.skip(f"genai-prices does not know {name}")
        assert theirs.total_price == card / 1_000, (name, field)
