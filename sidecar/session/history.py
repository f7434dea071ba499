"""A session's log as updates, for a client that opens it or catches up."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from sidecar.core.parts import (
    FilePart,
    Message,
    MessageId,
    Part,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.core.prompt import ToolSpec
from sidecar.session.blocks import content_of
from sidecar.session.channel import Channel
from sidecar.session.events import ContentChunk, Event, Origin, PlanChanged, TextChunk, ToolChanged
from sidecar.session.retelling import Beside, Told, told, written
from sidecar.session.state import State
from sidecar.tools.todo import shown_items

Shown: TypeAlias = tuple[Message, Part] | Beside


async def replay(
    state: State, after: PartId | None, emit: Callable[[Event], Awaitable[None]]
) -> Callable[[], Iterator[Event]]:
    """Show the log through `emit`, oldest first: one update a part, and what came beside.

    Only what follows `after` is shown, where that is given and known: showing something twice is
    better than losing it. Withdrawn attempts and the daemon's own context blocks are not shown.
    Gives what gives the rest: what streams right now, and what has come while this was shown.
    """
    settled = tuple(m for m in state.log if m.status != "open")
    until = len(state.log.records)
    for event in _events(state, settled, (t for t in told(state) if t.records < until), after):
        await emit(event)
    known = {message.id for message in settled}

    def rest() -> Iterator[Event]:
        late = tuple(m for m in state.log if m.id not in known)
        return _events(state, late, (t for t in told(state) if t.records >= until), None)

    return rest


def _events(
    state: State, messages: Iterable[Message], beside: Iterable[Told], after: PartId | None
) -> Iterator[Event]:
    shown = list(_in_order(messages, beside, written(state.log.records)))
    ids = [one[1].id if isinstance(one, tuple) else None for one in shown]
    start = 0 if after is None or after not in ids else ids.index(after) + 1
    tools = {tool.name: tool for tool in state.view.static.tools}
    for one in shown[start:]:
        if isinstance(one, tuple):
            message, part = one
            event = _event(message, part, state.channel, tools)
            if event is not None:
                yield event
            if isinstance(part, ToolPart) and _is_plan(part, tools.get(part.name)):
                yield PlanChanged(_origin(message, part, state.channel), shown_items(part.input))
        else:
            yield replace(one, seq=state.channel.next_seq())


def _in_order(
    messages: Iterable[Message], beside: Iterable[Told], named: dict[MessageId, int]
) -> Iterator[Shown]:
    """Put what came beside between the messages; records say better than clocks what was first."""
    waiting = deque(beside)
    for message in messages:
        while waiting and not _follows(waiting[0], message, named):
            yield waiting.popleft().event
        if message.status != "discarded":
            yield from ((message, part) for part in message.parts)
    yield from (one.event for one in waiting)


def _follows(one: Told, message: Message, named: dict[MessageId, int]) -> bool:
    number = named.get(message.id)
    return one.at > message.created or (number is not None and number < one.records)


def user_event(channel: Channel, message: Message, part: Part) -> Event | None:
    """Give the update that echoes a part of a user's message; the context block is not shown."""
    origin = channel.origin(message.turn_id, message.id, part.id)
    match part:
        case TextPart(source="typed" | "steer", text=text):
            return TextChunk(origin, "user", text)
        case FilePart():
            return ContentChunk(origin, "user", content_of(part))
        case _:
            return None


def _is_plan(part: ToolPart, spec: ToolSpec | None) -> bool:
    ours = spec is not None and spec.origin == "builtin"
    return part.name == "todo" and ours and isinstance(part.state, ToolCompleted)


def _event(
    message: Message, part: Part, channel: Channel, tools: dict[str, ToolSpec]
) -> Event | None:
    match part:
        case TextPart(source="context"):
            return None
        case TextPart(text=text) if text:
            speaker = "user" if message.role == "user" else "agent"
            return TextChunk(_origin(message, part, channel), speaker, text)
        case ReasoningPart(text=text) if text:
            return TextChunk(_origin(message, part, channel), "thought", text)
        case FilePart():
            return ContentChunk(_origin(message, part, channel), "user", content_of(part))
        case ToolPart():
            return _tool(_origin(message, part, channel), part, tools.get(part.name))
        case _:
            return None


def _origin(message: Message, part: Part, channel: Channel) -> Origin:
    return channel.origin(message.turn_id, message.id, part.id)


def _tool(origin: Origin, part: ToolPart, spec: ToolSpec | None) -> ToolChanged:
    kind = "other" if spec is None else spec.kind
    known = part.input is not None
    match part.state:
        case ToolPending() | ToolRunning():
            running = isinstance(part.state, ToolRunning)
            return ToolChanged(
                origin,
                part.call_id,
                "in_progress" if running else "pending",
                first=True,
                title=part.name,
                kind=kind,
                has_input=known,
                raw_input=part.input,
            )
        case ToolCompleted(output=output, title=title, metadata=metadata):
            return ToolChanged(
                origin,
                part.call_id,
                "failed" if metadata.get("isError") is True else "completed",
                first=True,
                title=title or part.name,
                kind=kind,
                has_input=True,
                raw_input=part.input,
                output=output.text,
                metadata=metadata,
            )
        case ToolError(message=message, title=title, metadata=metadata, failure=failure):
            return ToolChanged(
                origin,
                part.call_id,
                "failed",
                first=True,
                title=title or part.name,
                kind=kind,
                has_input=known,
                raw_input=part.input,
                output=message,
                metadata={**metadata, "failure": failure},
            )
