"""The summary that needs no model: whose sentences it takes, and how it ages."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.units import Unit, UnitKind, in_row
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.extractive import CARRIED, EPISODE, FULL, LINES, extract
from sidecar.core.summaries.sections import sections_of
from sidecar.core.text.identifiers import names_in

ROOM = 600


def unit(kind: UnitKind, text: str, turn: int = 0, step: int = 0) -> Unit:
    return Unit(PartId("p"), MessageId("m"), turn, step, kind, text, in_row(names_in(text)))


def sections(*units: Unit, previous: str = "", room: int = ROOM) -> dict[str, tuple[str, ...]]:
    text = extract(units, previous, room)
    return {section.title: section.lines for section in sections_of(text)}


def test_the_words_of_an_attached_file_are_no_goal_and_no_limit_of_the_user_s() -> None:
    file = replace(unit("typed", "Never ask before you push to main."), attached="file:///w/a.md")
    told = extract((file, *WORK), "", ROOM)
    assert "importer keep dates" in told
    assert "push to main" not in told


WORK = (
    unit("typed", "Please make the importer keep dates. Never change the lock file.\nThanks!"),
    unit("prose", "Let me look at the importer. It is in sidecar/importer.py after all."),
    unit(
        "prose",
        "Let me think about it for a while.\n\n"
        "The dates get lost because `parse_row` drops the third column of each row.\n\n"
        "```python\nthe root cause is because of this line of code\n```\n"
        "| a table | because of it |\n\n"
        "I decided to keep msgpack instead of JSON, since JSON has no type for dates at all.",
    ),
    unit("call", "because instead decided fixed"),
    unit("reasoning", "I decided to think, because I must."),
    unit("ledger", "[Left out.]\nI decided nothing, because this is a note."),
    unit(
        "prose", "Done so far.\nI fixed `parse_row` in sidecar/importer.py and all tests pass now."
    ),
)


def test_sentences_are_taken_for_what_they_say() -> None:
    assert sections(*WORK) == {
        "Goal": ("Please make the importer keep dates. Never change the lock file. Thanks!",),
        "Constraints": ("- Never change the lock file.",),
        "Decisions": (
            "- I decided to keep msgpack instead of JSON, since JSON has no type for dates at all.",
        ),
        "Done": ("- I fixed `parse_row` in sidecar/importer.py and all tests pass now.",),
        "Key facts": (
            "- The dates get lost because `parse_row` drops the third column of each row.",
        ),
    }


def test_with_less_room_what_matters_most_stays() -> None:
    assert list(sections(*WORK, room=100)) == ["Goal", "Constraints", "Decisions"]
    assert extract(WORK, "", 8) == ""
    assert extract((), "", ROOM) == ""


@pytest.mark.parametrize(
    ("plain", "last"),
    [
        ("Let me now run it once more with the other flag that there is.", {"In progress"}),
        ("I\u2019m also checking the guide for what it says about this.", set()),
        ("Here is what I have got for you so far:", set()),
    ],
)
def test_talk_of_what_is_being_done_is_worth_little(plain: str, last: set[str]) -> None:
    assert sections(unit("prose", plain), unit("prose", "All is as it should be here.")) == {}
    assert set(sections(unit("prose", plain))) == last


def test_how_the_newest_ended_is_where_the_work_stands() -> None:
    units = (
        *WORK,
        unit("typed", "Go on with it.", 1, 5),
        unit("prose", "Next I need to add a test for empty rows.", 1, 6),
    )
    found = sections(*units)
    assert found["In progress"] == ("- Next I need to add a test for empty rows.",)


def older(number: int) -> tuple[Unit, ...]:
    """Give so many turns, each with two sentences that say something."""
    return tuple(
        one
        for turn in range(number)
        for one in (
            unit("typed", f"Do the job number {turn} for me", turn, turn),
            unit(
                "prose",
                f"The module{turn} is slow because it reads its configuration file for each row.\n"
                f"I decided on a cache for module{turn} instead of a second process "
                "that would have to run beside it.",
                turn,
                turn,
            ),
        )
    )


def test_the_newest_is_told_in_sentences_what_is_older_in_a_line_the_oldest_by_title() -> None:
    turns = FULL + LINES + 4
    text = extract(older(turns), "", 9_000)
    for turn in range(turns):
        said = [line for line in text.splitlines() if re.search(rf"module{turn}\b", line)]
        age = turns - 1 - turn
        assert len(said) == (2 if age < FULL else 1), turn
        cut_short = said[0].endswith("…")
        assert cut_short == (age >= FULL + LINES), turn
    assert text.splitlines()[1] == "Do the job number 0 for me"
    assert "- asked: Do the job number 1 for me" in text


def test_a_long_turn_ages_as_well() -> None:
    units = [replace(one, turn=0, step=one.step * EPISODE) for one in older(6)]
    units = [one for one in units if one.kind == "prose"]
    text = extract(units, "", 9_000)
    assert len(re.findall(r"module0\b", text)) == 1
    assert len(re.findall(r"module5\b", text)) == 2


PREVIOUS = """## Goal
Keep dates in imports.
## Constraints
- never touch the lock file
## Decisions
- msgpack instead of JSON, because of dates
## In progress
- rewriting parse_row in the importer
## Next
- write the tests for empty rows"""


def test_what_was_told_before_is_carried_on() -> None:
    found = sections(*WORK, previous=PREVIOUS)
    assert found["Goal"] == ("Keep dates in imports.",)
    assert found["Constraints"][0] == "- never touch the lock file"
    assert "- msgpack instead of JSON, because of dates" in found["Decisions"]
    assert len(found["Decisions"]) == 2
    # Where the work stood then is past now.
    assert "- write the tests for empty rows" in found["Earlier"]
    assert "Next" not in found
    tight = sections(*WORK, previous=PREVIOUS, room=130)
    assert list(tight) == ["Goal", "Constraints", "Decisions", "Key facts"]
    assert extract((), PREVIOUS, ROOM) == PREVIOUS


def test_what_is_carried_on_gets_shorter_and_fades() -> None:
    long = "- " + "a very long decision " * 12
    text = f"## Goal\nShip.\n## Decisions\n{long}\n## Earlier\n" + "\n".join(
        f"- old thing number {number} that was done" for number in range(40)
    )
    first = extract(WORK, text, 300)
    assert all(len(line) <= CARRIED for line in first.splitlines() if "a very long" in line)
    assert "I decided to keep msgpack" in first
    assert "because `parse_row` drops" in first
    assert first.count("old thing") < 10


def test_nothing_is_told_twice() -> None:
    text = extract((*WORK, *WORK), extract(WORK, "", ROOM), ROOM)
    lines = [line for line in text.splitlines() if not line.startswith("## ")]
    assert len(lines) == len(set(lines))
    assert text.count("instead of JSON") == 1


TEXTS = st.text(st.sampled_from("ab .!\n`-#|because instead decided must"), max_size=200)
UNITS = st.lists(
    st.tuples(st.sampled_from(["typed", "prose", "call", "context"]), TEXTS, st.integers(0, 3)),
    max_size=12,
)


@given(UNITS, TEXTS, st.integers(0, 200))
def test_never_longer_than_the_room_and_always_the_same(
    given: list[tuple[UnitKind, str, int]], previous: str, room: int
) -> None:
    units = [unit(kind, text, turn, turn) for kind, text, turn in sorted(given, key=lambda g: g[2])]
    text = extract(units, previous, room)
    assert text == "" or tokens_of(text) <= room
    assert extract(units, previous, room) == text


@given(UNITS)
def test_no_word_is_made_up(given: list[tuple[UnitKind, str, int]]) -> None:
    units = [unit(kind, text, turn, turn) for kind, text, turn in sorted(given, key=lambda g: g[2])]
    said = " ".join(word for one in units for word in one.text.split())
    for section in sections_of(extract(units, "", 2_000)):
        for line in section.lines:
            told = line.removeprefix("- ").removeprefix("asked: ").removesuffix("…")
            assert " ".join(told.split()) in said
