"""Summaries as sections: read, written, shortened."""

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.sections import Section, cut, sections_of, shortened, written

SUMMARY = """## Goal
Ship it.

## Decisions
- msgpack, because it is small

**Next:**
- write the tests"""


def test_sections_are_read_with_hashes_or_stars() -> None:
    assert sections_of(SUMMARY) == (
        Section("Goal", ("Ship it.",)),
        Section("Decisions", ("- msgpack, because it is small",)),
        Section("Next", ("- write the tests",)),
    )
    assert sections_of("before\n# A:\n\n# B\nx") == (Section("", ("before",)), Section("B", ("x",)))
    assert sections_of("**bold** words are no title") == (
        Section("", ("**bold** words are no title",)),
    )
    assert sections_of("") == ()


def test_what_is_written_is_read_again() -> None:
    assert sections_of(written(sections_of(SUMMARY))) == sections_of(SUMMARY)


def test_what_fits_stays_as_it_is() -> None:
    assert shortened(SUMMARY, tokens_of(SUMMARY)) == SUMMARY


def test_what_matters_least_and_is_oldest_goes_first() -> None:
    done = "\n".join(f"- step {number} of many" for number in range(40))
    text = f"## Goal\nShip it.\n## Done\n{done}\n## Next\n- write the tests"
    left = shortened(text, 60)
    assert tokens_of(left) <= 60
    assert left.startswith("## Goal\nShip it.\n## Done\n- step 3")
    assert left.endswith("- step 39 of many\n## Next\n- write the tests")
    assert shortened(text, 22) == "## Goal\nShip it.\n## Next\n- write the tests"
    assert shortened(text, 8) == ""


def test_sections_go_in_the_order_of_what_they_matter() -> None:
    titles = ["Goal", "Constraints", "In progress", "Decisions", "Key facts", "Notes", "Done"]
    lightest_first = ["Earlier", *reversed(titles)]
    text = "\n".join(f"## {title}\n- {title.lower()}" for title in [*titles, "Earlier"])
    gone: list[str] = []
    for room in range(tokens_of(text), 0, -1):
        left = {section.title for section in sections_of(shortened(text, room))}
        gone += [title for title in lightest_first if title not in left and title not in gone]
    assert gone == lightest_first


def test_a_long_line_is_cut_between_words() -> None:
    assert cut("one two three four", 12) == "one two…"
    assert cut("x" * 20, 12) == "x" * 11 + "…"
    assert cut("short", 5) == "short"


@given(st.text(max_size=300), st.integers(0, 120))
def test_never_longer_than_there_is_room_for(text: str, room: int) -> None:
    left = shortened(text, room)
    assert left == "" or tokens_of(left) <= room


@given(st.lists(st.sampled_from(["# A", "## Next", "- x y", "text", "", "**B:**"])).map("\n".join))
def test_reading_and_writing_settle(text: str) -> None:
    once = written(sections_of(text))
    assert written(sections_of(once)) == once
