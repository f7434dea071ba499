"""Mends a damaged log's losses, so a provider takes its messages."""

from dataclasses import replace

from sidecar.core.parts import (
    FilePart,
    Message,
    MessageId,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
)
from sidecar.store.format.values import Stored

LOST = "[What was said here is lost, because the store was damaged.]"


def readable(stored: Stored) -> Stored:
    """Strips thinking's signatures; a user text replaces a lost beginning."""
    messages = list(stored.messages)
    if stored.problems:
        messages = [unsigned(message) for message in messages]
    at = next((n for n, m in enumerate(messages) if m.status != "discarded"), None)
    if at is None or _is_asking(messages[at]):
        return replace(stored, messages=tuple(messages))
    # A conversation must begin with the user.
    first = messages[at]
    lost = TextPart(PartId(f"{first.id}_lost"), LOST, "typed")
    if first.role == "user":
        messages[at] = replace(first, parts=(lost, *first.parts))
    else:
        name = MessageId(f"{first.id}_lost")
        messages.insert(at, Message(name, first.turn_id, "user", (lost,), first.created))
    return replace(stored, messages=tuple(messages))


def _is_asking(message: Message) -> bool:
    return message.role == "user" and any(isinstance(p, TextPart | FilePart) for p in message.parts)


def unsigned(message: Message) -> Message:
    """Providers refuse signatures after a gap."""
    parts = (
        replace(p, metadata={}) if isinstance(p, ReasoningPart | TextPart | ToolPart) else p
        for p in message.parts
    )
    return replace(message, parts=tuple(parts))
