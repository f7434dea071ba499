"""What identifiers are worth, and which lines of a text hold enough of it."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.names import Name, NameIndex, Source
from sidecar.core.value import AGES, CHANCE, LONGEST, USES, chances, lift, lines_of

SOURCES: list[Source] = ["result", "call", "prose", "typed"]
END = 3
"""Characters that a kept line costs beside its text."""


def chance(name: Name, step: int) -> float:
    return chances(["name"], {"name": name}, step)["name"]


def test_the_table_has_a_row_for_each_use_and_a_column_for_each_age() -> None:
    assert set(CHANCE) == set(SOURCES)
    for rows in CHANCE.values():
        assert len(rows) == len(USES) + 1
        for row in rows:
            assert len(row) == len(AGES) + 1
            assert all(0 < p < 1 for p in row)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("uses", "row"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (99, 3)])
def test_rows_are_for_0_1_2_to_3_and_more_uses(source: Source, uses: int, row: int) -> None:
    assert chance(Name(0, 10, source, 10, uses), 10) == CHANCE[source][row][0]


@pytest.mark.parametrize(
    ("ago", "column"),
    [(-1, 0), (0, 0), (3, 0), (4, 1), (8, 1), (9, 2), (16, 3), (30, 3), (31, 4), (61, 5), (121, 6)],
)
def test_columns_are_for_requests_since_the_last_use(ago: int, column: int) -> None:
    assert chance(Name(0, 199, "call", 50, 1), 50 + ago) == CHANCE["call"][1][column]
    assert chance(Name(0, 50, "call"), 50 + ago) == CHANCE["call"][0][column]


def test_what_was_used_is_likelier_than_what_was_seen_at_the_same_time() -> None:
    for rows in CHANCE.values():
        for column in range(len(AGES) + 1):
            assert rows[1][column] >= rows[0][column]


def test_the_index_tells_the_chance() -> None:
    index = NameIndex()
    index.see(["some_name"], 0)
    index.use(["some_name"], 4)
    assert chance(index["some_name"], 5) == CHANCE["result"][1][0]


def test_only_lines_with_identifiers_are_found_and_equal_ones_once() -> None:
    lines = lines_of("  import some_name\nnothing here\nother_name = 1\nimport some_name  \n\n")
    assert lines.texts == ("import some_name", "other_name = 1")
    assert [set(names) for names in lines.names] == [{"some_name"}, {"other_name"}]
    assert lines_of("").texts == ()


def test_long_lines_are_cut_before_names_are_looked_for() -> None:
    assert LONGEST == 240
    (text,) = lines_of("some_name " + "x " * 200 + "other_name").texts
    assert text == ("some_name " + "x " * 200)[:LONGEST]
    assert lines_of("x " * 200 + "other_name").texts == ()


WORTH = {"aaa_name": 0.4, "bbb_name": 0.2, "ccc_name": 0.1}


def kept(text: str, least: float, *covered: str) -> list[str]:
    """Give the lines that are lifted, and check the sums."""
    found = lift(text, WORTH, set(covered), least)
    if found is None:
        return []
    lines = lines_of(text)
    assert list(found.numbers) == sorted(set(found.numbers))
    texts = [lines.texts[number] for number in found.numbers]
    assert found.size == sum(len(line) + END for line in texts)
    assert found.names == frozenset[str]().union(*(lines.names[n] for n in found.numbers))
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
    assert lift("", WORTH, set(), 0.0) is None


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
    found = lift(text, worth, covered, least)
    lines = lines_of(text)
    values = [
        (fsum(worth.get(n, 0.0) for n in held - covered), len(line) + END)
        for line, held in zip(lines.texts, lines.names, strict=True)
    ]
    if found is None:
        assert all(value < least * size or not value for value, size in values)
        return
    assert found.worth >= least * found.size * (1 - 1e-9)
    new = found.names - covered
    assert found.worth == pytest.approx(fsum(worth.get(name, 0.0) for name in new))
    # What was left out would add too little to what was taken.
    for number, (line, held) in enumerate(zip(lines.texts, lines.names, strict=True)):
        if number not in found.numbers:
            more = fsum(worth.get(name, 0.0) for name in held - covered - found.names)
            assert more < least * (len(line) + END) * (1 + 1e-9) or not more
