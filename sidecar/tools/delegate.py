"""`delegate`: a task for a child session, which reports back."""

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import TITLE
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.core.text.json_text import kind
from sidecar.tools.inputs import optional_text, text
from sidecar.tools.tool_contract import Subtask, SubtaskEnd, ToolAnswer, ToolContext

MOST_TOKENS = 2_000
"""Of a report: subtasks are to spare the context."""


async def delegate(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """Returns the report, or an error.

    `metadata`: `{sessionId, cost, steps}`, with USD as text or `None`. Raises BadRequest.
    """
    subtask = read_subtask(given)
    if context.delegate is None:
        raise BadRequest("Nothing can be delegated here: do it yourself.")
    end = await context.delegate(subtask, context.call_id, context.progress)
    return ToolAnswer(
        end.report if not end.failed else _told(end),
        is_error=bool(end.failed),
        title=title_of(subtask),
        metadata={"sessionId": end.session_id, "cost": end.cost, "steps": end.steps},
        most_tokens=MOST_TOKENS,
    )


def read_subtask(given: JsonObject) -> Subtask:
    """Raises BadRequest for an empty task or a wrong type."""
    task = text(given, "task").strip()
    if not task:
        raise BadRequest("`task` is empty: say what to do and what to report.", "input.task")
    context = (optional_text(given, "context") or "").strip()
    return Subtask(task, context, _names(given))


def title_of(subtask: Subtask) -> str:
    return f"Delegate {one_line(subtask.task, TITLE)}"


def _names(given: JsonObject) -> tuple[str, ...] | None:
    names = given.get("tools")
    if names is None:
        return None
    if not isinstance(names, list):
        raise BadRequest(f"`tools` must be an array of names, not {kind(names)}.", "input.tools")
    for index, name in enumerate(names):
        if not isinstance(name, str):
            message = f"`tools` must hold names, not {kind(name)}."
            raise BadRequest(message, f"input.tools[{index}]")
    return tuple(str(name) for name in names)


def _told(end: SubtaskEnd) -> str:
    found = f"\n\nWhat it had found so far:\n{end.report}" if end.report else ""
    return f"The subtask did not end well: {end.failed}{found}"
