"""Groups messages into turns, and closes interrupted messages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    Message,
    MessageStatus,
    Millis,
    Part,
    StepFinishPart,
    TextPart,
    ToolError,
    ToolFailure,
    ToolPart,
    ToolPending,
    ToolRunning,
    TurnId,
    Usage,
)
from sidecar.core.text.visible import mended, whole_letters

TITLE = 80
"""Characters of a title."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A typed message up to the assistant's last answer."""

    id: TurnId
    messages: tuple[Message, ...]


def turns(messages: Iterable[Message]) -> tuple[Turn, ...]:
    grouped: dict[TurnId, list[Message]] = {}
    for message in messages:
        grouped.setdefault(message.turn_id, []).append(message)
    return tuple(Turn(turn_id, tuple(group)) for turn_id, group in grouped.items())


def turn_usage(messages: Iterable[Message]) -> Usage:
    """Includes withdrawn attempts."""
    total = Usage()
    for message in messages:
        for part in message.parts:
            if isinstance(part, StepFinishPart):
                total = total + part.usage
    return total


def tool_parts(message: Message) -> tuple[ToolPart, ...]:
    return tuple([part for part in message.parts if isinstance(part, ToolPart)])


def finished_steps(message: Message) -> tuple[StepFinishPart, ...]:
    return tuple([part for part in message.parts if isinstance(part, StepFinishPart)])


def settle(
    message: Message, now: Millis, failure: ToolFailure, status: MessageStatus = "cut"
) -> Message:
    parts = tuple(_settled(part, now, failure) for part in message.parts)
    ended = status if message.status == "open" else message.status
    if ended == message.status and parts == message.parts:
        return message
    return replace(message, parts=parts, status=ended)


def is_settled(message: Message) -> bool:
    return message.status != "open" and not [
        part
        for part in message.parts
        if isinstance(part, ToolPart) and isinstance(part.state, ToolPending | ToolRunning)
    ]


def first_line(messages: Sequence[Message]) -> str:
    for message in messages:
        for part in message.parts:
            if isinstance(part, TextPart) and part.source == "typed" and part.text.strip():
                return title_of(part.text)
    return ""


def title_of(text: str) -> str:
    line = mended(next(iter(text.strip().splitlines()), "").strip())
    return line if len(line) <= TITLE else f"{whole_letters(line, TITLE - 1).rstrip()}…"


REFUSED = "The user refused permission for this call."
_WHY: dict[ToolFailure, str] = {
    "interrupted": "Interrupted: the daemon stopped before this call ended. "
    "Whether it took effect is unknown.",
    "cancelled": "Cancelled by the user before this call ended.",
    "denied": REFUSED,
    "error": "The call failed.",
}


def _settled(part: Part, now: Millis, failure: ToolFailure) -> Part:
    if not isinstance(part, ToolPart):
        return part
    match part.state:
        case ToolPending():
            return replace(part, state=ToolError(_WHY[failure], failure, now, now))
        case ToolRunning(started=started):
            return replace(part, state=ToolError(_WHY[failure], failure, started, now))
        case _:
            return part
