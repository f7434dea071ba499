"""Where words stand in a text, and what is shown of it."""

import pytest

from sidecar.session.history.found_words import snippet, words_of


def shown(text: str, query: str) -> str:
    """The snippet, its match in brackets."""
    found = snippet(text, words_of(query))
    return "" if found is None else f"{found.before}[{found.match}]{found.after}"


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("one two three", "TWO", "one [two] three"),
        ("One two three", "three one", "[One] two three"),
        ("one two three", '"two three" one', "[one] two three"),
        ("one two\n  three", '"two three"', "one [two three]"),
        ("one twothree", '"two three"', ""),
        ("one two\nthree", "two three", "one [two three]"),
        ("two, three", '" two"', "[two], three"),
        ("one", '" "', ""),
        ("a one b one two", "one two", "a one b [one two]"),
        ("one", "one missing", ""),
        ("", "one", ""),
        ("one", " ", ""),
        ('say "one two"', '"one', 'say ["one] two"'),
        ("a\n\n  one\ttwo\n", "one", "a [one] two"),
        ("İİİ one", "ONE", "İİİ [one]"),
        ("\x1b[2J one \ud800", "one", "␛[2J [one] \\ud800"),
        ("x" * 100 + " one", "one", "…" + "x" * 31 + " [one]"),
        ("one " + "y" * 200, "one", "[one] " + "y" * 159 + "…"),
        ("z" * 300, "z" * 300, "[" + "z" * 120 + "]"),
    ],
)
def test_a_match_is_shown_in_one_line(text: str, query: str, expected: str) -> None:
    assert shown(text, query) == expected
