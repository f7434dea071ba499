"""Price cards: USD per million tokens in, USD per token out."""

from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Usage
from sidecar.core.plans.plan import Rates
from sidecar.replay.prices import CARDS, read_card, recorded_cost

GOOD = '{"input": 2, "output": 8, "write": 2.5, "read": 0.5}'


def test_a_named_card_is_per_token() -> None:
    rates = read_card("classic")
    assert rates == CARDS["classic"]
    found = [rates.input, rates.output, rates.write, rates.read]
    assert found == pytest.approx([3e-6, 15e-6, 3.75e-6, 0.3e-6])
    assert read_card("nocache").read == read_card("nocache").input


def test_a_card_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(GOOD)
    assert read_card(str(path)) == Rates(2e-6, 8e-6, 2.5e-6, 5e-7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        "null",
        '{"input": 2}',
        GOOD.replace("8", '"dear"'),
        GOOD.replace("8", "null"),
        GOOD.replace("8", "-1"),
        GOOD.replace("8", "NaN"),
        GOOD.replace("8", "Infinity"),
        GOOD.replace("8", "1e999"),
        GOOD.replace("8", "true"),
        GOOD.replace("8", "false"),
        GOOD.replace("8", "9" * 400),
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_file_that_is_no_card_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadRequest, match="no price card") as refused:
        read_card(str(path))
    assert refused.value.data["path"] == "prices"
    assert "classic, opus, nocache" in refused.value.message
    assert len(refused.value.message) < 600


@pytest.mark.parametrize("name", ["", "dear", ".", "no/such/file", "a\0b", "x" * 5_000])
def test_a_name_that_is_neither_is_refused_in_words(name: str) -> None:
    with pytest.raises(BadRequest, match="no price card") as refused:
        read_card(name)
    assert len(refused.value.message) < 600


def test_recorded_usage_is_billed_with_an_hour_at_twice_the_input() -> None:
    usage = Usage(1, 10, 100, 1_000, 10_000)
    cost = recorded_cost(usage, Rates(1.0, 5.0, 1.25, 0.1))
    assert cost == pytest.approx(1 + 1 + 125 + 2_000 + 50_000)
