"""Subtasks in the note: those that run, were only started, and what became of the others."""

import pytest

from sidecar.core.ledger.units import Item
from sidecar.core.plans.note import Room
from tests.core.plans.test_note import did, in_turn, items, lines, touched
from tests.core.plans.test_story import answered

STARTED = "Async agent launched successfully.\nagentId: {}"


def asked(task: str, result: str, *, waits: bool = False) -> Item:
    """Give the call that hands on a task."""
    given = {"prompt": task, **({"run_in_background": True} if waits else {})}
    return answered(items("C9")[0], "Agent", given, result)


def ended(task_id: str, report: str, status: str = "completed") -> Item:
    """Give what a program says of the task's end."""
    said = f"<task-id>{task_id}</task-id>\n<status>{status}</status>\n<result>{report}</result>"
    news = items("U9 X9", p1=f"<task-notification>\n{said}\n</task-notification>")[1]
    return in_turn(news, 0)


def test_a_subtask_that_was_only_started_is_told_in_its_turn_alone() -> None:
    given = [asked("look", STARTED.format("a71")), in_turn(items("X9 A9")[1], 1)]
    assert lines(given[:1]) == ["Subtasks:", "- look → started in the background (recall p0)"]
    assert not any("look" in line for line in lines(given, ["p0"]))


@pytest.mark.parametrize(
    ("status", "told"), [("completed", "Both are"), ("failed", "failed Both are")]
)
@pytest.mark.parametrize(("begun", "waits"), [(STARTED, False), ("Task {} was begun.", True)])
def test_a_subtask_that_a_notice_says_ended_is_told_with_its_report(
    begun: str, waits: bool, status: str, told: str
) -> None:
    task = asked("look", begun.format("a71"), waits=waits)
    report = "# Report\n\nBoth are in `a.py`."
    told_of = lines([task, ended("a71", report, status)], ["p0"])
    assert told_of == ["Subtasks:", f"- look → {told} in `a.py`. (recall p1)"]
    for other in (ended("b2", report, status), ended("a71", report, "running")):
        assert not any("Both" in line for line in lines([task, other], ["p0"]))


def test_where_there_is_no_room_the_newest_turns_subtasks_are_told_in_brief() -> None:
    tasks = [asked(f"look {n}", STARTED.format(f"a7{n}")) for n in (1, 2)]
    news = [ended(f"a7{n}", f"Found {n}. {'It stands in a file there. ' * 8}") for n in (1, 2)]
    room = Room(subtasks=100)
    first, second = lines([*tasks, *news], ["p0"], room)[1:]
    assert first.startswith("- look 2 → Found 2. It stands")
    assert len(first) > 200
    assert second.startswith("- look 1 → Found 1. It stands")
    assert len(second) < 140
    later = in_turn(items("X9 A9")[1], 1)
    assert len(lines([*tasks, *news, later], ["p0"], room)) == 2


def test_subtasks_that_still_run_are_told_whatever_room_there_is() -> None:
    given = [asked("look for it", "found"), asked("write it", "It was begun.", waits=True)]
    running = "- write it (still running)"
    assert lines(given) == ["Subtasks:", running, "- look for it → found (recall p0)"]
    assert lines(given, room=Room(subtasks=0)) == ["Subtasks:", running]


@pytest.mark.parametrize(
    ("changed", "mark"),
    [
        ("/w/src/a.py", " [as of then: a.py changed since]"),
        ("D:\\w\\a.py", " [as of then: a.py changed since]"),
        ("/w/src/ba.py", ""),
    ],
)
def test_a_report_is_as_of_then_where_a_file_that_it_names_was_changed_since(
    changed: str, mark: str
) -> None:
    before, after = (
        did(item, *touched(changed)) for item in items("C9:edit(x) U9 C9:edit(x)")[::2]
    )
    task = answered(
        items("U9 C9")[1], "Agent", {"prompt": "look"}, "Found a fault in `src/a.py:7`."
    )
    told = "- look → Found a fault in `src/a.py:7`.{} (recall p1)"
    assert told.format("") in lines([before, task], ["p1"])
    assert told.format(mark) in lines([task, after], ["p1"])
