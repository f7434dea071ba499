"""Sends numbered events."""

from collections.abc import Callable, Sequence

from sidecar.core.parts import Message, PartId, SessionId
from sidecar.session.log.events import Event, EventOrigin, Notice, Watcher
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import BegunAgainRecord, NoticeLevel, NoticeRecord

BLOCK = 10_000
"""Sequence numbers reserved on disk at a time, half a block ahead of use."""


class Channel:
    """Sends events to all watchers, in order.

    `reserve` gets a high-water mark to make durable soon.
    """

    def __init__(self, session_id: SessionId, seq: int, reserve: Callable[[int], None]) -> None:
        self._session_id = session_id
        # A daemon that was killed may have used part of its reserved block, so start after it.
        self._seq = seq
        self._reserved = seq
        self._reserve = reserve
        self.watchers: tuple[Watcher, ...] = ()

    def next_seq(self) -> int:
        self._seq += 1
        self.reserve()
        return self._seq

    def reserve(self) -> None:
        """Reserves numbers once less than half a block is left."""
        if self._seq > self._reserved - BLOCK // 2:
            self._reserved = self._seq + BLOCK
            self._reserve(self._reserved)

    def skip_to(self, seq: int) -> None:
        """Skips to another daemon's `seq`, if ahead; a read-only session reserves none."""
        self._seq = max(self._seq, seq)
        self._reserved = seq

    def origin(self, message: Message, part_id: PartId) -> EventOrigin:
        seq = self.next_seq()
        return EventOrigin(self._session_id, message.turn_id, message.id, part_id, seq)

    def publish(self, event: Event) -> None:
        for watcher in self.watchers:
            watcher(event)

    def attach(self, watcher: Watcher) -> None:
        if watcher not in self.watchers:
            self.watchers = (*self.watchers, watcher)

    def detach(self, watcher: Watcher) -> None:
        self.watchers = tuple(one for one in self.watchers if one != watcher)


def give_notice(log: SessionLog, channel: Channel, level: NoticeLevel, text: str) -> None:
    """The record waits for the next commit."""
    seq = channel.next_seq()
    log.writer.put_aside(NoticeRecord(seq=seq, level=level, text=text))
    channel.publish(Notice(log.row.id, seq, level, text))


def notice_of(session_id: SessionId, record: NoticeRecord) -> Notice:
    return Notice(session_id, record.seq, record.level, record.text)


def tell_damage(log: SessionLog, channel: Channel, problems: Sequence[str]) -> None:
    """Warns of damage, once per problem."""
    if log.records and isinstance(log.records[-1], BegunAgainRecord):
        text = (
            "The beginning of this session's log is lost to damage of the store. It goes on with "
            "the built-in tools and today's instructions."
        )
        give_notice(log, channel, "warning", text)
    if not problems:
        return
    text = (
        f"Some of this session cannot be read and is left out: {problems[-1]}. Close all editors "
        "and run `sidecar verify --repair`: it says what is lost and mends the store."
    )
    if not any(isinstance(r, NoticeRecord) and r.text == text for r in log.records):
        give_notice(log, channel, "warning", text)
