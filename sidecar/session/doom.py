"""A model that repeats itself: three identical calls in a row, by call and by result."""

from collections.abc import Sequence

from sidecar.core.parts import JsonObject, Message, ToolCompleted, ToolError, ToolPart
from sidecar.session.context import TurnContext
from sidecar.tools.contract import PermissionOption

IN_A_ROW = 3

OPTIONS = (
    PermissionOption("continue", "Let it continue", "allow_once"),
    PermissionOption("stop", "Stop this turn", "reject_once"),
    PermissionOption("always", "Do not ask again in this session", "allow_always"),
)


def repeated(calls: Sequence[ToolPart]) -> bool:
    """Whether the last three calls are the same and had the same result.

    The same call with a new result (a test run after an edit, a poll) is no loop.
    """
    last = calls[-IN_A_ROW:]
    return len(last) == IN_A_ROW and all(_signature(c) == _signature(last[0]) for c in last[1:])


def _signature(call: ToolPart) -> tuple[str, str, str]:
    match call.state:
        case ToolCompleted(output=output):
            result = output.text
        case ToolError(message=message):
            result = message
        case _:
            result = ""
    return call.name, repr(call.input), result


async def ask_to_go_on(turn: TurnContext, message: Message, call: ToolPart) -> bool:
    """Ask the user whether the model may go on; `always` is remembered for the session."""
    question: JsonObject = {
        "toolCallId": call.call_id,
        "title": f"{call.name} was called {IN_A_ROW} times in a row with the same result. "
        "Let it continue?",
        "kind": "other",
        "status": "pending",
        "rawInput": call.input,
        "_meta": {"sidecar": {"reason": "doom_loop", "partId": call.id, "messageId": message.id}},
    }
    answer = await turn.ask(question, OPTIONS)
    if answer == "always":
        turn.permissions.loops_allowed = True
    return answer in ("continue", "always")
