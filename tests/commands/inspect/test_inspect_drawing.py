"""What `sidecar inspect` draws: how the context grew and shrank, and its largest notes."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from sidecar.commands.inspect.inspect_tables import BAR, MOST_NOTES, drawn
from sidecar.observe.report.course import Course, CourseNote
from tests.observe.courses import LIMIT, course


def shown(given: Course) -> str:
    console = Console(file=StringIO(), width=160)
    for piece in drawn(given):
        console.print(piece)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def trend(given: Course) -> str | None:
    """The line of it, if it is drawn."""
    return next((line for line in shown(given).splitlines() if " at most; " in line), None)


def held(*shares: float) -> Course:
    """A session whose requests held such shares of the room."""
    made = course(turns=len(shares), steps=1)
    requests = (
        replace(one, held=round(share * LIMIT))
        for one, share in zip(made.requests, shares, strict=True)
    )
    return replace(made, requests=tuple(requests))


def test_each_request_is_a_step_as_high_as_the_room_is_full() -> None:
    said = trend(held(0.0, 0.2, 0.5, 1.0, 0.3))
    assert said is not None
    assert said.startswith("▁▂▅█▃ over 5 requests, 192,000 at most; +")
    assert said.endswith(" tokens a turn of late")


def test_of_a_long_session_each_column_shows_the_most_of_its_requests() -> None:
    said = trend(held(*[0.1] * 3, 0.9, *[0.1] * 96))
    assert said is not None
    assert said.startswith("▁█▁")
    assert len(said.partition(" ")[0]) == BAR


def test_one_request_is_no_trend() -> None:
    assert trend(held(0.5)) is None


def test_of_many_notes_the_largest_are_shown_in_their_order() -> None:
    sizes = [30] * 5 + [900] + [30] * MOST_NOTES + [50]
    notes = tuple(CourseNote(f"note_{n}_", "ledger", size, "-") for n, size in enumerate(sizes))
    said = shown(replace(course(), notes=notes))
    order = [said.find(f"note_{n}_") for n in range(len(sizes))]
    assert 0 < order[0] < order[5] < order[-1]
    assert sum(at > 0 for at in order) == MOST_NOTES
    assert "… and 7 smaller ones, 210 tokens, are in --json" in said
