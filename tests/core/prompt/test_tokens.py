"""Estimates, and how they learn."""

import base64
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.config.provider_settings import ProviderKind
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
    SMALLEST,
    Calibration,
    checked,
    count_block,
    count_media,
    observe,
)
from sidecar.model import catalogue
from sidecar.model.catalogue import KNOWN, MODELS, lookup, lookup_at


def words(text: str) -> int:
    return len(text.split())


COUNTS = st.integers(0, 400_000)


@given(
    st.floats(0.3, 3.0),
    COUNTS,
    st.lists(st.tuples(st.integers(1, 400_000), st.integers(1, 900_000)), min_size=1),
)
def test_the_two_parts_of_a_prompt_sum_to_what_was_reported(
    start: float, static: int, answers: list[tuple[int, int]]
) -> None:
    calibration = Calibration(start)
    for history, reported in answers:
        before = calibration
        calibration = observe(before, static=static, history=history, reported=reported)
        assert calibration.factor > 0
        assert calibration == before or calibration.static(static) >= 0
        if calibration != before and min(static, history) >= SMALLEST:
            summed = calibration.static(static) + calibration.factor * history
            assert summed == pytest.approx(reported, abs=1)


@given(st.floats(0.3, 2.5), st.integers(600, 30_000), st.lists(st.integers(600, 300_000)))
def test_a_model_that_counts_evenly_is_known_after_its_first_answer(
    factor: float, static: int, histories: list[int]
) -> None:
    """But for the fractions of tokens that no report has: two in all."""
    calibration = Calibration(1.5)
    for history in (1_000, *histories):
        reported = round(factor * (static + history))
        calibration = observe(calibration, static=static, history=history, reported=reported)
        assert calibration.factor == pytest.approx(factor, abs=2 / history)
        assert calibration.static(static) == pytest.approx(factor * static, abs=2)


def test_what_a_vendor_adds_to_the_tools_is_no_history() -> None:
    first = observe(Calibration(1.5), static=500, history=500, reported=9_000)
    assert first == Calibration(3.0, 1, 6_000)
    later = observe(first, static=500, history=50_000, reported=57_500)
    assert later == Calibration(1.0, 2, 7_000)
    assert observe(first, static=500, history=100, reported=9_000) == first


def test_a_report_that_does_not_count_the_text_teaches_nothing() -> None:
    known = Calibration(1.5, 2, 900)
    assert observe(known, static=1_000, history=3_000, reported=999) == known
    assert observe(known, static=1_000, history=3_000, reported=1_000) != known


def test_a_static_part_that_leaves_nothing_for_the_history_is_divided_anew() -> None:
    known = Calibration(1.0, 3, 3_000)
    divided = observe(known, static=5_000, history=5_000, reported=6_000)
    assert divided == Calibration(0.6, 4, 0)


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        (TextBlock("one two"), 2 + 4),
        (ReasoningBlock("one two", {"data": "x" * 400}), 2 + 100 + 4),
        (ReasoningBlock("one two", {"encrypted_content": "x" * 400}), 2 + 100 + 4),
        (CallBlock("c", "look", {"a": "b"}), 1 + 2 + 12),
        (ResultBlock("c", "one two three"), 3 + 12),
        (OpaqueBlock({"type": "thing"}), 2 + 4),
        (MediaBlock(Media("image/png", "")), 1_600),
    ],
)
def test_a_block_counts_by_its_text_and_what_frames_it(content: Content, tokens: int) -> None:
    assert count_block(Block(content, "user"), words) == tokens


def test_a_total_that_no_tokenizer_would_give_is_told() -> None:
    agreed = "as the provider reported it"
    assert [checked(total, 1_000, 1.0) for total in (901, 1_099)] == [agreed, agreed]
    assert all("estimated at 1000" in checked(total, 1_000, 1.0) for total in (899, 1_101))
    assert "estimated at 800" in checked(100, 1_000, 0.1)
    assert "estimated at 3000" in checked(9_000, 1_000, 9.0)


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


@pytest.mark.parametrize(
    ("model", "above", "read"),
    [("gemini-2.5-pro", 200_000, "0.25"), ("gpt-5.4", 272_000, "0.5")],
)
def test_tiers_of_other_vendors_models_are_known(model: str, above: int, read: str) -> None:
    known = lookup(model)
    assert known.tier_above == above
    assert known.price is not None
    assert known.tier_price is not None
    assert (known.tier_price.read, known.price.read) == (Decimal(read), Decimal(read) / 2)


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


CLAUDE = [name for name in KNOWN if name != "offline"]
AT_CLOUDS: list[tuple[ProviderKind, str, str, str]] = [
    ("anthropic", "{}", "anthropic", "global"),
    ("bedrock", "global.anthropic.{}-v1:0", "aws", "global"),
    ("bedrock", "us.anthropic.{}-v1:0", "aws", "global"),
    ("bedrock", "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.{}", "aws", "global"),
    ("vertex", "{}@20251101", "google", "global"),
]


AT_VENDORS: dict[str, ProviderKind] = {"gpt": "openai", "gemini": "gemini", "deepseek": "deepseek"}


@pytest.mark.parametrize(("kind", "spelt", "provider", "region"), AT_CLOUDS)
@pytest.mark.parametrize("name", CLAUDE)
def test_our_prices_are_those_of_the_catalogue(
    name: str, kind: ProviderKind, spelt: str, provider: str, region: str
) -> None:
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    found = lookup_at(spelt.format(name), kind, None, region)
    ours, asked = found.price, spelt.format(name).rpartition("/")[2]
    assert ours is not None
    assert found.window == MODELS[name].window
    for field, card in (
        (Priced(input_tokens=1_000), ours.input),
        (Priced(output_tokens=1_000), ours.output),
        (Priced(input_tokens=1_000, cache_read_tokens=1_000), ours.read),
        (Priced(input_tokens=1_000, cache_write_tokens=1_000), ours.write_5m),
    ):
        try:
            theirs = calc_price(field, model_ref=asked, provider_id=provider)
        except LookupError:
            pytest.skip(f"genai-prices does not know {asked}")
        assert theirs.total_price == card / 1_000, (name, field)


@pytest.mark.parametrize("name", catalogue._OTHERS)
def test_what_pickers_say_of_a_model_is_what_the_catalogue_knows(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = AT_VENDORS[name.partition("-")[0]]
    ours = lookup_at.__wrapped__(name, kind, None)
    monkeypatch.setattr(catalogue, "_OTHERS", {})
    assert ours == lookup_at.__wrapped__(name, kind, None)
    assert ours.price is not None


def test_a_region_at_vertex_costs_a_tenth_more() -> None:
    info = lookup_at("claude-haiku-5-5@20261001", "vertex", None, "us-east5")
    plain = lookup("claude-haiku-5-5")
    for card, base in ((info.price, plain.price), (info.tier_price, plain.tier_price)):
        assert card is not None
        assert base is not None
        assert card.input == base.input * Decimal("1.1")
