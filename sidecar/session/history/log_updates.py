"""Replays a log as events."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

from sidecar.core.parts import Message, MessageId, Part, PartId
from sidecar.session.history.side_updates import Beside, Ended, Telling
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Event
from sidecar.session.log.log_slices import DamagedSlice, Feed, source_of
from sidecar.session.log.part_updates import updates_of
from sidecar.session.log.session_log import SessionLog
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views
from sidecar.store.content.slices import LogRows
from sidecar.store.format.log_records import TurnEndedRecord, TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord

ShownUpdate: TypeAlias = tuple[Message, Part] | Beside
Want: TypeAlias = Literal["messages", "records"]
"""Kind of content to read before the replay can go on."""

BREATH = 64
"""Updates between pauses for other tasks."""


class LogReplay:
    """Tells a session's history."""

    def __init__(
        self, log: SessionLog, view: ModelView, views: Views, channel: Channel, logs: LogRows
    ) -> None:
        self.log = log
        self.view = view
        self.views = views
        self.channel = channel
        self.logs = logs

    async def tell(
        self, after: PartId | None, emit: Callable[[Event], Awaitable[None]]
    ) -> Callable[[], Iterator[Event]]:
        """Emits the history behind part `after`, oldest first; returns what came meanwhile.

        Withdrawn attempts and context blocks are skipped. Raises UnknownSession if deleted
        meanwhile, StorageFailed.
        """
        one = _Replay(self, after, emit)
        try:
            await one.run()
        except DamagedSlice:
            # What is amiss is known of the whole log; it begins with all that was shown by now.
            await self.log.whole()
            one = _Replay(self, after, emit, one.shown)
            await one.run()
        return one.rest


class _Replay:
    """Replays the log as of creation, skipping the first `told` updates."""

    def __init__(
        self,
        of: LogReplay,
        after: PartId | None,
        emit: Callable[[Event], Awaitable[None]],
        told: int = 0,
    ) -> None:
        log = of.log
        self._of, self._after, self._emit, self._told = of, after, emit, told
        self._source = source_of(of.logs, log, after)
        self._telling = Telling(log, of.views)
        self._tools = {tool.name: tool for tool in of.view.static.tools}
        self._until = log.row.revision
        self._settled = frozenset(m.id for m in log if m.status != "open")
        self._open = frozenset(m.id for m in log.messages if m.status == "open")
        self.shown = 0

    async def run(self) -> None:
        after = self._after
        known = after is not None and await self._source.shows(after)
        wanted, feed = after if known else None, Feed()
        for one in in_order(feed, self._telling):
            if one == "messages":
                await self._source.messages(feed)
            elif one == "records":
                await self._source.records(feed)
            elif wanted is not None:
                if isinstance(one, tuple) and one[1].id == wanted:
                    wanted = None
            else:
                await self._show(one)

    async def _show(self, one: ShownUpdate) -> None:
        self.shown += 1
        if self.shown % BREATH == 0:
            await asyncio.sleep(0)
        if self.shown > self._told:
            for event in self._events(one):
                await self._emit(event)

    def _events(self, one: ShownUpdate) -> Iterator[Event]:
        channel = self._of.channel
        if isinstance(one, tuple):
            return updates_of(*one, channel, self._tools)
        return iter((replace(one, seq=channel.next_seq()),))

    def rest(self) -> Iterator[Event]:
        log, feed = self._of.log, Feed()
        feed.all_messages = feed.all_records = True
        feed.records.extend(_records_since(log, self._until))
        ended = {r.turn_id for r in feed.records if isinstance(r, TurnEndedRecord)}
        for message in log:
            if message.turn_id in ended:
                feed.count(message)
        feed.messages.extend(m for m in self._late(log) if m.id not in log.left)
        for one in in_order(feed, Telling(log, self._of.views, self._until)):
            if not isinstance(one, str):
                yield from self._events(one)

    def _late(self, log: SessionLog) -> list[Message]:
        # What is not in memory is older than all that was open: it is not come to.
        missing, late = set(self._open), list[Message]()
        for message in reversed(log.by_id.values()):
            if message.id not in self._settled:
                missing.discard(message.id)
                late.append(message)
            elif not missing:
                break
        return late[::-1]


def _records_since(log: SessionLog, revision: int) -> Iterator[LogRecord]:
    records = log.records
    turns = (n for n in reversed(range(len(records))) if isinstance(records[n], TurnStartedRecord))
    begun = next((n for n in turns if records[n].revision <= revision), 0)
    yield from records[begun:]
    yield from log.waiting


def in_order(feed: Feed, telling: Telling) -> Iterator[ShownUpdate | Want]:
    """Merges records' events by what records name rather than clocks.

    Yields the kind of content that is missing.
    """
    beside = _Beside(feed, telling)
    while True:
        while not feed.messages and not feed.all_messages:
            yield "messages"
        message = feed.messages.popleft() if feed.messages else None
        yield from beside.before(message)
        if message is None:
            return
        if message.status != "discarded":
            yield from ((message, part) for part in message.parts)


class _Beside:
    """Yields records' events that precede a message."""

    def __init__(self, feed: Feed, telling: Telling) -> None:
        self._feed, self._telling = feed, telling
        self._next: tuple[LogRecord, Beside | Ended] | None = None
        self._named: set[MessageId] = set()
        self._gone_by: set[MessageId] = set()

    def before(self, message: Message | None) -> Iterator[Beside | Want]:
        while message is None or message.id not in self._named:
            if self._next is None:
                if not self._feed.records:
                    if self._feed.all_records:
                        break
                    yield "records"
                    continue
                self._read(self._feed.records.popleft())
            elif message is not None and self._next[0].at > message.created:
                break
            else:
                yield from self._tell(*self._next)
        if message is not None:
            self._named.discard(message.id)
            self._gone_by.add(message.id)

    def _read(self, record: LogRecord) -> None:
        told = self._telling.read(record)
        feed = self._feed
        if isinstance(told, Ended) and feed.all_messages and told.turn_id not in feed.turns:
            told = None
        if told is None:
            self._named.update(self._telling.names(record) - self._gone_by)
        else:
            self._next = record, told

    def _tell(self, record: LogRecord, told: Beside | Ended) -> Iterator[Beside]:
        feed = self._feed
        if isinstance(told, Ended):
            turn = feed.turns.get(told.turn_id)
            if turn is not None:
                yield self._telling.ended(told, turn)
            if not feed.all_messages:
                feed.turns.pop(told.turn_id, None)
        else:
            yield told
        self._next = None
        # Those that went by are named again by what follows their step, within their turn.
        self._gone_by.clear()
        self._named.update(self._telling.names(record))
