"""Converts parts to events."""

from collections.abc import Iterator, Mapping

from sidecar.core.parts import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.log.channel import Channel
from sidecar.session.log.content_blocks import content_of
from sidecar.session.log.events import (
    ContentChunk,
    Event,
    EventOrigin,
    PlanChanged,
    TextChunk,
    ToolChanged,
)
from sidecar.tools.todo import shown_items


def updates_of(
    message: Message, part: Part, channel: Channel, tools: Mapping[str, ToolSpec]
) -> Iterator[Event]:
    """Yields a part's events; none for context blocks."""
    event = _event(message, part, channel, tools)
    if event is not None:
        yield event
    if isinstance(part, ToolPart) and _is_plan(part, tools.get(part.name)):
        yield PlanChanged(channel.origin(message, part.id), shown_items(part.input))


def user_event(channel: Channel, message: Message, part: Part, author: object) -> Event | None:
    origin = channel.origin(message, part.id)
    match part:
        case TextPart(source="typed" | "steer", text=text):
            return TextChunk(origin, "user", text, author)
        case FilePart():
            return ContentChunk(origin, "user", content_of(part), author)
        case _:
            return None


def _is_plan(part: ToolPart, spec: ToolSpec | None) -> bool:
    ours = spec is not None and spec.origin == "builtin"
    return part.name == "todo" and ours and isinstance(part.state, ToolCompleted)


def _event(
    message: Message, part: Part, channel: Channel, tools: Mapping[str, ToolSpec]
) -> Event | None:
    match part:
        case TextPart(source="context"):
            return None
        case TextPart(text=text) if text:
            speaker = "user" if message.role == "user" else "agent"
            return TextChunk(channel.origin(message, part.id), speaker, text)
        case ReasoningPart(text=text) if text:
            return TextChunk(channel.origin(message, part.id), "thought", text)
        case FilePart():
            return ContentChunk(channel.origin(message, part.id), "user", content_of(part))
        case ToolPart():
            return _tool(channel.origin(message, part.id), part, tools.get(part.name))
        case _:
            return None


def _tool(origin: EventOrigin, part: ToolPart, spec: ToolSpec | None) -> ToolChanged:
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
