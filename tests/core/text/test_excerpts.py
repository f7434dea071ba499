"""Lines of a text with marks where others were left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.truncate import lines_kept, quoted

TEXT = "one\ntwo\nthree\nfour\nfive\nsix"


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(1, 6)], TEXT),
        ([(1, 2)], "one\ntwo\n…\n[4 of 6 lines left out: recall p1]"),
        ([(5, 6)], "…\nfive\nsix\n[4 of 6 lines left out: recall p1]"),
        ([(2, 2), (5, 5)], "…\ntwo\n…\nfive\n…\n[4 of 6 lines left out: recall p1]"),
        ([(1, 2), (3, 6)], TEXT),
        ([(4, 99)], "…\nfour\nfive\nsix\n[3 of 6 lines left out: recall p1]"),
        ([], "…\n[6 of 6 lines left out: recall p1]"),
    ],
)
def test_gaps_are_marked_and_the_rest_is_named(
    ranges: list[tuple[int, int]], expected: str
) -> None:
    assert lines_kept(TEXT, ranges, "p1") == expected


@pytest.mark.parametrize("text", ["", "one"])
def test_a_text_that_is_kept_whole_stays_as_it_is(text: str) -> None:
    assert lines_kept(text, [(1, 1)], "p1") == text


@given(st.sets(st.integers(1, 30), min_size=1), st.integers(0, 30))
def test_what_was_chosen_is_there_and_the_count_is_right(chosen: set[int], length: int) -> None:
    lines = [f"line {number}" for number in range(1, length + 1)]
    ranges = [(number, number) for number in sorted(chosen)]
    shown = lines_kept("\n".join(lines), ranges, "p1").splitlines()
    kept = [line for line in shown if line.startswith("line ")]
    assert kept == [line for line in lines if line in kept]
    assert {f"line {number}" for number in chosen if number <= length} <= set(kept)
    left = length - len(kept)
    told = f"[{left} of {length} lines left out: recall p1]"
    assert (told in shown) is bool(left)
    assert sum(last - first + 1 for first, last in ranges) <= 2 * len(chosen)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 3)], "one\n⋯ lines 2-6 left out"),
        ([(0, 7), (24, 27)], "one\ntwo\n⋯ lines 3-5 left out\nsix"),
        ([(8, 13), (14, 18)], "⋯ lines 1-2 left out\nthree\nfour\n⋯ lines 5-6 left out"),
        ([(0, 13), (19, 27)], "one\ntwo\nthree\n⋯ line 4 left out\nfive\nsix"),
        ([(0, 4), (6, 27)], "one\n [⋯ 2 characters left out] o\nthree\nfour\nfive\nsix"),
        ([], "⋯ lines 1-6 left out"),
    ],
)
def test_what_is_left_out_between_quoted_stretches_is_counted(
    spans: list[tuple[int, int]], expected: str
) -> None:
    assert quoted(TEXT, spans, "p1") == f"{expected}\n[shortened: recall p1 reads all of it]"
