"""Two sessions of one work have the ledger that one session of it would have."""

from dataclasses import replace

import pytest

from sidecar.core.ledger.inheritance import current, merged
from sidecar.core.ledger.ledger import Ledger, LedgerSubtask, Todo, read_ledger
from sidecar.core.parts import Message, PartId, TurnId
from tests.core.ledger.test_ledger import answer, call, typed

LIST = [("Write it", "completed"), ("Test it", "in_progress"), ("Ship it", "pending")]
TODO = {"items": [{"content": what, "status": how} for what, how in LIST]}


def story() -> list[Message]:
    return [
        typed("Build the parser"),
        answer(call("read_file", {"path": "a.py"}, "x\ny\n", metadata={"hash": "h1"})),
        answer(call("todo", TODO)),
        answer(call("write_file", {"path": "b.py", "content": "1"}, metadata={"created": True})),
        answer(call("shell", {"command": "make"}, "E boom", metadata={"exitCode": 1})),
        typed("Use tabs", turn="turn2"),
        answer(call("edit_file", {"path": "a.py", "oldText": "x"}, metadata={"created": False})),
        answer(call("shell", {"command": "make"}, "E boom", metadata={"exitCode": 1})),
        answer(call("shell", {"command": "pytest"}, "ok", metadata={"exitCode": 0})),
        answer(call("shell", {"command": "rm c.py"}, metadata={"exitCode": 0})),
        answer(call("read_file", {"path": "b.py"}, "1\n", metadata={"hash": "h2"})),
    ]


@pytest.mark.parametrize("cut", range(12))
def test_it_is_as_if_nothing_had_been_cut(cut: int) -> None:
    messages = story()
    whole = read_ledger(messages)
    both = merged(read_ledger(messages[:cut]), read_ledger(messages[cut:]))
    assert (both.goal, both.directives) == (whole.goal, whole.directives)
    assert both.todo == whole.todo
    assert both.commands == whole.commands
    assert [(f.tool, f.tried, f.error) for f in both.failures] == [
        (f.tool, f.tried, f.error) for f in whole.failures
    ]
    assert [replace(f, state="read") for f in both.files] == [
        replace(f, state="read") for f in whole.files
    ]
    assert {f.path for f in both.changed} == {f.path for f in whole.changed}


def test_a_list_that_was_made_anew_counts() -> None:
    earlier = Ledger(todo=Todo(planned=("a",)))
    assert merged(earlier, Ledger()).todo == earlier.todo
    assert merged(earlier, Ledger(todo=Todo(done=("b",)))).todo == Todo(done=("b",))


def test_what_was_deleted_and_is_read_again_is_there() -> None:
    gone = [typed("x"), answer(call("shell", {"command": "rm c.py"}, metadata={"exitCode": 0}))]
    back = [answer(call("read_file", {"path": "c.py"}, "1\n"))]
    [file] = merged(read_ledger(gone), read_ledger(back)).files
    assert (file.state, file.operations) == ("read", ("deleted", "read"))


def test_what_the_work_is_at() -> None:
    running = LedgerSubtask("look", "running", "", TurnId("t"), PartId("p"))
    todo = Todo(planned=("next",), in_progress=("now",), done=("before",))
    assert current(Ledger(todo=todo, subtasks=(running,))) == "now"
    assert current(Ledger(todo=replace(todo, in_progress=()), subtasks=(running,))) == "look"
    assert current(Ledger(todo=replace(todo, in_progress=()))) == "next"
    assert current(Ledger()) == ""
