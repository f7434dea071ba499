"""Reads programs' messages about ended background tasks."""

import re

from sidecar.core.dataclass import dataclass

NEWS = ("<task-notification>", "<subagent_notification>")
"""How they begin."""
_TASK = re.compile(r"<task-id>\s*([^<\s]+)\s*</task-id>")
_STATUS = re.compile(r"<status>\s*(\w+)\s*</status>")
_RESULT = re.compile(r"<result>\s*(.*?)\s*(?:</result>|\Z)", re.S)


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """A background task's end and report; `task_id` was told at its launch."""

    task_id: str
    status: str
    report: str


def task_end(text: str) -> TaskEnd | None:
    """Returns `None` for other texts and for news of running tasks."""
    if not text.startswith(NEWS):
        return None
    task, status, result = (found.search(text) for found in (_TASK, _STATUS, _RESULT))
    if task is None or status is None or status[1] == "running":
        return None
    return TaskEnd(task[1], status[1], result[1] if result else "")
