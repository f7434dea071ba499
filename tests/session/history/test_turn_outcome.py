"""What a finished turn is said to have come to."""

import pytest

from sidecar.session.history.turn_outcome import may_have_got_on
from tests.fakes.scripted_model import calls, says, shell, write
from tests.session import inside
from tests.session.conftest import Desk

READ = ("r", "read_file", {"path": "notes.txt"})
TODO = ("t", "todo", {"items": [{"content": "a", "status": "pending"}]})


@pytest.mark.parametrize(
    ("call", "got_on"),
    [(READ, False), (TODO, True), (write("a.txt", "a\n"), True), (shell("true"), True)],
)
async def test_only_a_turn_that_wrote_ran_or_planned_may_have_got_on(
    desk: Desk, call: tuple[str, str, object], got_on: bool
) -> None:
    session = await desk.open()
    assert not may_have_got_on(inside.log(session))
    desk.script(calls(call), says("done"))
    await desk.ask(session, "go")
    assert may_have_got_on(inside.log(session)) == got_on


async def test_a_turn_that_only_reads_has_not_got_on_by_what_was_done_before(desk: Desk) -> None:
    session = await desk.open()
    desk.script(calls(write("a.txt", "a\n")), says("done"), calls(READ), says("done"))
    await desk.ask(session, "write")
    await desk.ask(session, "read")
    assert not may_have_got_on(inside.log(session))
