"""Answers by `always`: whom they hold for, and how long."""

import asyncio
from pathlib import Path

import pytest

from sidecar.core.parts import JsonObject, PartId, ToolPart, ToolRunning
from sidecar.session.changes.permissions import Permissions, QuestionOutcome
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.rules.permission import Rules
from sidecar.tools.tool_contract import Access, PermissionOption


def asked(permissions: Permissions, option: str) -> bool:
    """Whether a call of `write_file` is asked about; it is answered so."""
    questions: list[JsonObject] = []

    async def ask(question: JsonObject, _: tuple[PermissionOption, ...]) -> str:
        questions.append(question)
        return option

    found = Access("edit", "Write a.py", ("/w/a.py",), shown=("a.py",))
    call = ToolPart(PartId("part_1"), "c", "write_file", {"path": "a.py"}, ToolRunning(0))
    spec = BY_NAME["write_file"]
    end = asyncio.run(permissions.settle(spec, found, call, ask, trusted=True))
    assert isinstance(end, QuestionOutcome | str)
    return bool(questions)


@pytest.mark.parametrize("answers_first", ["parent", "subtask"])
def test_answers_hold_for_a_subtask_until_that_ends(answers_first: str) -> None:
    """A window may go on in a subtask's session, also once the other one is closed."""
    parent = Permissions(Rules(), Path("/w"))
    subtask = parent.for_subtask()
    first, other = (parent, subtask) if answers_first == "parent" else (subtask, parent)
    assert asked(first, "allow_always")
    assert not asked(other, "reject_once")
    subtask.stand_alone()
    assert asked(subtask, "allow_always")
    assert not asked(parent, "reject_once")


def test_what_was_rejected_stays_so_in_a_subtasks_session() -> None:
    parent = Permissions(Rules(), Path("/w"))
    subtask = parent.for_subtask()
    assert asked(parent, "reject_always")
    subtask.stand_alone()
    assert not asked(subtask, "allow_once")
    assert asked(Permissions(Rules(), Path("/w")), "allow_once")
