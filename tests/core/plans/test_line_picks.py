"""Which lines of a text hold enough identifiers to be kept by themselves."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.plans.line_picks import LONGEST, NamedLines, lift, lines_of
from sidecar.core.text.identifiers import names_in

END = 3
"""Characters that a kept line costs beside its text."""


def test_only_lines_with_identifiers_are_found_and_equal_ones_once() -> None:
    lines = lines_of("  import some_name\nnothing here\nother_name = 1\nimport some_name  \n\n")
    assert lines.texts == ("import some_name", "other_name = 1")
    assert [lines.order[place] for (place,) in lines.places] == ["some_name", "other_name"]
    assert lines_of("").texts == ()


def test_long_lines_are_cut_before_names_are_looked_for() -> None:
    assert LONGEST == 240
    (text,) = lines_of("some_name " + "x " * 200 + "other_name").texts
    assert text == ("some_name " + "x " * 200)[:LONGEST]
    assert lines_of("x " * 200 + "other_name").texts == ()


def uncovered(lines: NamedLines, worth: dict[str, float], covered: set[str]) -> list[float]:
    return lines.values({**worth, **dict.fromkeys(covered, 0.0)})


WORTH = {"aaa_name": 0.4, "bbb_name": 0.2, "ccc_name": 0.1}


def kept(text: str, least: float, *covered: str) -> list[str]:
    """Give the lines that are lifted, and check the sums."""
    lines = lines_of(text)
    found = lift(lines, uncovered(lines, WORTH, set(covered)), least)
    if found is None:
        return []
    assert list(found.numbers) == sorted(set(found.numbers))
    texts = [lines.texts[number] for number in found.numbers]
    assert found.size == sum(len(line) + END for line in texts)
    assert found.names == frozenset[str]().union(*map(names_in, texts))
    new = found.names - set(covered)
    assert found.worth == pytest.approx(fsum(WORTH.get(name, 0.0) for name in new))
    return texts


def test_lines_worth_enough_a_character_are_lifted_in_their_order() -> None:
    text = "ccc_name = 1\nplain words\naaa_name = 1\nbbb_name = 1"
    assert kept(text, 0.1 / 15) == ["ccc_name = 1", "aaa_name = 1", "bbb_name = 1"]
    assert kept(text, 0.1001 / 15) == ["aaa_name = 1", "bbb_name = 1"]
    assert kept(text, 0.2001 / 15) == ["aaa_name = 1"]
    assert kept(text, 0.4001 / 15) == []


def test_what_is_covered_or_unknown_is_worth_nothing() -> None:
    text = "aaa_name = 1\nunknown_name = 1"
    assert kept(text, 0.001) == ["aaa_name = 1"]
    assert kept(text, 0.001, "aaa_name") == []
    assert lift(lines_of(""), [0.0], 0.0) is None


def test_a_name_counts_on_its_densest_line_only() -> None:
    text = "long line about aaa_name and so on\naaa_name\nbbb_name, aaa_name"
    assert kept(text, 0.01) == ["aaa_name"]
    assert kept(text, 0.008) == ["aaa_name", "bbb_name, aaa_name"]
    assert kept(text, 0.008, "bbb_name") == ["aaa_name"]


NAMES = [f"name_{letter}" for letter in "abcdefgh"]
LINES = st.lists(st.lists(st.sampled_from([*NAMES, "word", "more words"]), max_size=5), max_size=12)


@given(
    LINES,
    st.dictionaries(st.sampled_from(NAMES), st.floats(0.001, 0.5)),
    st.sets(st.sampled_from(NAMES)),
    st.floats(0.0001, 0.02),
)
def test_every_lifted_line_adds_what_it_must(
    words: list[list[str]], worth: dict[str, float], covered: set[str], least: float
) -> None:
    text = "\n".join(" ".join(line) for line in words)
    lines = lines_of(text)
    found = lift(lines, uncovered(lines, worth, covered), least)
    named = [(line, names_in(line)) for line in lines.texts]
    values = [
        (fsum(worth.get(n, 0.0) for n in held - covered), len(line) + END) for line, held in named
    ]
    if found is None:
        assert all(value < least * size or not value for value, size in values)
        return
    assert found.worth >= least * found.size * (1 - 1e-9)
    new = found.names - covered
    assert found.worth == pytest.approx(fsum(worth.get(name, 0.0) for name in new))
    # What was left out would add too little to what was taken.
    for number, (line, held) in enumerate(named):
        if number not in found.numbers:
            more = fsum(worth.get(name, 0.0) for name in held - covered - found.names)
            assert more < least * (len(line) + END) * (1 + 1e-9) or not more


@given(
    LINES,
    st.dictionaries(st.sampled_from(NAMES), st.floats(0.0, 0.5)),
    st.floats(0.0001, 0.02),
)
def test_a_line_is_looked_at_if_its_names_are_worth_enough_whatever_is_covered(
    words: list[list[str]], worth: dict[str, float], least: float
) -> None:
    text = "\n".join(" ".join(line) for line in words)
    lines = lines_of(text, names_in(text))
    found = set(lines.promising(lines.values(worth), least))
    for number, (line, size) in enumerate(zip(lines.texts, lines.sizes, strict=True)):
        value = fsum(worth.get(name, 0.0) for name in names_in(line))
        assert (number in found) is (value >= least * size)


def test_each_name_is_looked_up_once_and_the_last_place_is_worth_nothing() -> None:
    lines = lines_of("aaa_name = bbb_name\naaa_name", frozenset({"aaa_name", "bbb_name", "run it"}))
    assert sorted(lines.order[:2]) == ["aaa_name", "bbb_name"]
    assert lines.order[2:] == ("run it", "")
    values = lines.values({**WORTH, "run it": 0.05})
    assert values[2:] == [0.05, 0.0]
    assert lines.total(values) == pytest.approx(0.65)


def test_what_a_cut_line_ends_in_is_no_name_of_the_text() -> None:
    text = f"{'x ' * 116}aaa_name_is_longer"
    whole = names_in(text)
    lines = lines_of(text, whole)
    assert whole == {"aaa_name_is_longer"}
    assert lines.places == ((0,),)
    assert lines.order[: lines.strays] == ("aaa_name",)
    assert lines.total(lines.values(WORTH)) == 0.0
