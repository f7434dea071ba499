"""What identifiers are worth: the chance that the agent uses them again."""

import pytest

from sidecar.core.plans.value import AGES, CHANCE, USES, chances
from sidecar.core.text.identifiers import Name, NameIndex, NameSource

SOURCES: list[NameSource] = ["result", "call", "prose", "typed"]


def chance(name: Name, step: int) -> float:
    return chances({"name": name}, step)["name"]


def test_the_table_has_a_row_for_each_use_and_a_column_for_each_age() -> None:
    assert set(CHANCE) == set(SOURCES)
    for rows in CHANCE.values():
        assert len(rows) == len(USES) + 1
        for row in rows:
            assert len(row) == len(AGES) + 1
            assert all(0 < p < 1 for p in row)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("uses", "row"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (99, 3)])
def test_rows_are_for_0_1_2_to_3_and_more_uses(source: NameSource, uses: int, row: int) -> None:
    assert chance(Name(0, 10, source, 10, uses), 10) == CHANCE[source][row][0]


@pytest.mark.parametrize(
    ("ago", "column"),
    [(0, 0), (3, 0), (4, 1), (8, 1), (9, 2), (16, 3), (30, 3), (31, 4), (61, 5), (121, 6)],
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
