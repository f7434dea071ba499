"""How the context grew and shrank, as `sidecar inspect` draws it."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from sidecar.commands.inspect.inspect_tables import BAR, drawn
from sidecar.observe.report.course import Course
from tests.observe.courses import LIMIT, course


def trend(given: Course) -> str | None:
    """The line of it, if it is drawn."""
    console = Console(file=StringIO(), width=160)
    for piece in drawn(given):
        console.print(piece)
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    return next((line for line in lines if " at most; " in line), None)


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
