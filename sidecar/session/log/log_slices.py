"""A log to replay, from memory, or its unread beginning in slices.

Messages in memory take precedence.
"""

from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import field
from itertools import dropwhile
from typing import Protocol

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, PartId, StepFinishPart, TurnId
from sidecar.session.log.log_fold import Past
from sidecar.session.log.losses import readable
from sidecar.session.log.session_log import SessionLog
from sidecar.store.content.slices import LogRows
from sidecar.store.format.record_codec import LogRecord, named_by, read_all
from sidecar.store.format.values import Stored


class DamagedSlice(Exception):
    """An unreadable slice; reading the whole log reports the damage."""


@dataclass(slots=True)
class SliceTurn:
    """A turn's first message, and its steps' ends."""

    first: MessageId
    ends: list[StepFinishPart] = field(default_factory=list)


class Feed:
    """Messages and records to replay.

    `all_messages`, `all_records`: no more follow.
    """

    def __init__(self) -> None:
        self.messages: deque[Message] = deque()
        self.records: deque[LogRecord] = deque()
        self.all_messages = False
        self.all_records = False
        self.turns: dict[TurnId, SliceTurn] = {}

    def add(self, messages: Iterable[Message]) -> None:
        """Adds messages; open ones count only in their turns."""
        for message in messages:
            self.count(message)
            if message.status != "open":
                self.messages.append(message)

    def count(self, message: Message) -> None:
        turn = self.turns.get(message.turn_id)
        if turn is None:
            turn = self.turns[message.turn_id] = SliceTurn(message.id)
        turn.ends += [part for part in message.parts if isinstance(part, StepFinishPart)]


class LogSource(Protocol):
    """A log as of now, read forward."""

    async def shows(self, part_id: PartId) -> bool: ...

    async def messages(self, feed: Feed) -> None:
        """Raises DamagedSlice."""
        ...

    async def records(self, feed: Feed) -> None:
        """Raises DamagedSlice."""
        ...


def source_of(logs: LogRows, log: SessionLog, after: PartId | None) -> LogSource:
    """Opens a source, at least from the turn of part `after` on."""
    past = log.past
    if past is None:
        return InMemory(log, log.records)
    newest = tuple(dropwhile(lambda m: m.id != past.since, log))
    if after is not None and _has(newest, after):
        return InMemory(newest, dropwhile(lambda r: newest[0].id not in named_by(r), log.records))
    return InSlices(logs, log, past)


class InMemory:
    """A log in memory, fed at once."""

    def __init__(self, messages: Iterable[Message], records: Iterable[LogRecord]) -> None:
        self._messages, self._records = tuple(messages), tuple(records)

    async def shows(self, part_id: PartId) -> bool:
        return _has(self._messages, part_id)

    async def messages(self, feed: Feed) -> None:
        feed.add(self._messages)
        feed.all_messages = True

    async def records(self, feed: Feed) -> None:
        feed.records.extend(self._records)
        feed.all_records = True


class InSlices:
    """Slices from the store, then a window in memory."""

    def __init__(self, logs: LogRows, log: SessionLog, past: Past) -> None:
        self._logs, self._past, self._row, self._left = logs, past, log.row, log.left
        window = frozenset(past.window)
        self._window = {m.id: m for m in log.messages if m.id in window}
        self._newer = tuple(m for m in log if m.id not in window)
        self._newer_records = tuple(r for r in log.records if r.revision > past.revision)
        self._numbers: array[int] | None = None
        self._at, self._begun = 0, False
        self._chain = (0, "")

    async def shows(self, part_id: PartId) -> bool:
        if _has((*self._window.values(), *self._newer), part_id):
            return True
        found = await self._logs.message_of(self._row.id, part_id)
        return found is not None and _is_shown(found) and found.id not in self._left

    async def messages(self, feed: Feed) -> None:
        """Feeds the next slice, at last the messages after the fold."""
        if self._numbers is None:
            # The fold's newest message is in its window, as the newest turns are.
            self._numbers = await self._logs.numbers(self._row.id, self._past.window[-1])
            if not self._numbers:
                raise DamagedSlice
        if self._at == len(self._numbers):
            feed.add(self._newer)
            feed.all_messages = True
            return
        found = await self._logs.messages(self._row.id, self._numbers[self._at :])
        if found.problems or self._is_mended(found.messages):
            raise DamagedSlice
        self._at += found.taken
        feed.add(self._window.get(m.id, m) for m in found.messages if m.id not in self._left)

    def _is_mended(self, messages: tuple[Message, ...]) -> bool:
        """Whether `readable` would mend the beginning."""
        if self._begun:
            return False
        self._begun = any(message.status != "discarded" for message in messages)
        return readable(Stored(self._row, messages, ())).messages != messages

    async def records(self, feed: Feed) -> None:
        until = self._past.revision
        found = await self._logs.records(self._row.id, *self._chain, until)
        if found.problems:
            raise DamagedSlice
        self._chain = (found.revision, found.hash)
        feed.records.extend(read_all(found.records))
        if not found.records:
            feed.records.extend(self._newer_records)
            feed.all_records = True


def _has(messages: Iterable[Message], part_id: PartId) -> bool:
    return any(part.id == part_id for m in messages if _is_shown(m) for part in m.parts)


def _is_shown(message: Message) -> bool:
    return message.status not in ("open", "discarded")
