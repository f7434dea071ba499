"""Cutting outputs: within the limits, at code points, and saying what is missing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.truncate import Cut, Keep, cut, cut_to_tokens

KEEPS: tuple[Keep, ...] = ("head", "tail", "both")
TEXTS = st.text(alphabet=st.sampled_from("ab\n\né漢😀"), max_size=200)


def check(text: str, keep: Keep, shown: str, **limits: int) -> None:
    assert cut(text, keep=keep, **limits).text == shown


def test_short_text_is_untouched() -> None:
    assert cut("a\nb", max_lines=2) == Cut("a\nb", cut=False, total_lines=2, total_bytes=3)
    assert cut("") == Cut("", cut=False, total_lines=0, total_bytes=0)


def test_lines_are_left_out_at_the_head_the_tail_or_between() -> None:
    text = "1\n2\n3\n4\n5\n"
    check(text, "head", "1\n2\n[… 3 lines (6 bytes) left out …]", max_lines=2)
    check(text, "tail", "[… 3 lines (6 bytes) left out …]\n4\n5\n", max_lines=2)
    check(text, "both", "1\n[… 3 lines (6 bytes) left out …]\n5\n", max_lines=2)
    check(text, "both", "1\n2\n[… 2 lines (4 bytes) left out …]\n5\n", max_lines=3)


def test_one_long_line_is_cut_inside() -> None:
    check("é" * 10, "head", "éé\n[… 1 line (16 bytes) left out …]", max_bytes=5)
    check("é" * 10, "tail", "[… 1 line (16 bytes) left out …]\néé", max_bytes=5)


def test_the_note_says_how_to_read_on() -> None:
    shown = cut("1\n2\n3\n", max_lines=1, part_id="part_7").text
    assert 'recall {"id": "part_7", "offset": 2}' in shown


def test_lone_surrogates_survive() -> None:
    assert cut("\ud800" * 9, max_bytes=3).text.startswith("\ud800\n")


@given(TEXTS, st.integers(1, 12), st.integers(1, 40), st.sampled_from(KEEPS))
def test_kept_ends_are_ends_and_within_limits(
    text: str, max_lines: int, max_bytes: int, keep: Keep
) -> None:
    result = cut(text, max_lines=max_lines, max_bytes=max_bytes, keep=keep)
    assert result.total_bytes == len(text.encode())
    assert result.total_lines == len(re.findall(r"[^\n]*\n|[^\n]+$", text))
    fits = result.total_bytes <= max_bytes and result.total_lines <= max_lines
    assert result.cut is not fits
    if fits:
        assert result.text == text
        return
    found = re.search(r"\[… ([\d,]+) lines? \(([\d,]+) bytes\) left out …\]", result.text)
    assert found is not None
    left_out = int(found[2].replace(",", ""))
    head, tail = result.text[: found.start()], result.text[found.end() + 1 :]
    kept = len(text.encode()) - left_out
    # Where the cut is inside a line, a newline of ours stands before the note.
    assert text.startswith((head, head[:-1]))
    head = head if len((head + tail).encode()) == kept else head[:-1]
    assert len((head + tail).encode()) == kept <= max_bytes
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head.count("\n") + tail.count("\n") <= max_lines
    assert not (keep == "head" and tail)
    assert not (keep == "tail" and head)


@pytest.mark.parametrize("keep", KEEPS)
def test_much_text_is_cut_fast(keep: Keep) -> None:
    result = cut("x" * 99 + "\n" + ("y" * 99 + "\n") * 100_000, keep=keep)
    assert len(result.text) <= 50 * 1024 + 200
    assert result.total_lines == 100_001


@given(TEXTS, st.integers(20, 60), st.sampled_from(KEEPS))
def test_tokens_are_a_limit_of_the_note_too(text: str, most: int, keep: Keep) -> None:
    result = cut_to_tokens(text, most, len, keep=keep)
    if len(text) <= most:
        assert result == cut(text)
    else:
        assert result.cut
        # The note alone may be longer than a limit as small as this.
        assert len(result.text) <= max(most, 45)


def test_what_is_cut_to_tokens_says_how_to_read_on() -> None:
    shown = cut_to_tokens("some words\n" * 400, 200, len, part_id="part_7").text
    assert shown.startswith("some words\n")
    assert shown.endswith("some words\n")
    assert 120 < len(shown) <= 200
    assert 'recall {"id": "part_7", "offset": ' in shown
