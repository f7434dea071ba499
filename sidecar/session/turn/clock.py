"""Time and ids."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import MessageId, Millis, PartId, TurnId


@dataclass(frozen=True, slots=True)
class Clock:
    """`new_id` takes a prefix like `msg`; `sleep`, in seconds, uses another clock than `now`."""

    now: Callable[[], Millis]
    new_id: Callable[[str], str]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def part_id(self) -> PartId:
        return PartId(self.new_id("part"))

    def message_id(self) -> MessageId:
        return MessageId(self.new_id("msg"))

    def turn_id(self) -> TurnId:
        return TurnId(self.new_id("turn"))


def iso(at: Millis) -> str:
    """Writes ISO 8601 in UTC."""
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
