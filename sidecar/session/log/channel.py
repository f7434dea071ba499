"""Who watches a session, and the sequence numbers of what they are told."""

from collections.abc import Callable

from sidecar.core.parts import MessageId, PartId, SessionId, TurnId
from sidecar.session.log.events import Event, EventOrigin, Notice, Watcher
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import NoticeLevel, NoticeRecord

BLOCK = 10_000
"""Sequence numbers are reserved on disk this many at a time, half a block ahead of their use."""


class Channel:
    """Publishes a session's events, in order, to all who watch it.

    `reserve` is called with a new high-water mark that must become durable soon.
    """

    def __init__(self, session_id: SessionId, seq: int, reserve: Callable[[int], None]) -> None:
        self._session_id = session_id
        # A daemon that was killed may have used part of its reserved block, so start after it.
        self._seq = seq
        self._reserved = seq
        self._reserve = reserve
        self._watchers: list[Watcher] = []

    def next_seq(self) -> int:
        """Give the next sequence number."""
        self._seq += 1
        self.reserve()
        return self._seq

    def reserve(self) -> None:
        """Have more numbers reserved where less than half a block is left."""
        if self._seq > self._reserved - BLOCK // 2:
            self._reserved = self._seq + BLOCK
            self._reserve(self._reserved)

    def skip_to(self, seq: int) -> None:
        """Go on after `seq`, which another daemon had reserved, if it is ahead of ours.

        What a session that only read has counted on was reserved by nobody.
        """
        self._seq = max(self._seq, seq)
        self._reserved = seq

    def origin(self, turn_id: TurnId, message_id: MessageId, part_id: PartId) -> EventOrigin:
        """Say where an update belongs, with a sequence number of its own."""
        return EventOrigin(self._session_id, turn_id, message_id, part_id, self.next_seq())

    def publish(self, event: Event) -> None:
        """Tell everyone."""
        for watcher in tuple(self._watchers):
            watcher(event)

    def attach(self, watcher: Watcher) -> None:
        """Let a watcher see what comes from now on; twice is once."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)

    def detach(self, watcher: Watcher) -> None:
        """Forget a watcher."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    @property
    def watched(self) -> bool:
        """Whether anybody watches."""
        return bool(self._watchers)


def give_notice(log: SessionLog, channel: Channel, level: NoticeLevel, text: str) -> None:
    """Tell watchers something, at level info, warning or error; it is durable with what follows."""
    seq = channel.next_seq()
    log.writer.put_aside(NoticeRecord(seq=seq, level=level, text=text))
    channel.publish(Notice(log.row.id, seq, level, text))


def notice_of(session_id: SessionId, record: NoticeRecord) -> Notice:
    """Give a notice as it was told."""
    return Notice(session_id, record.seq, record.level, record.text)
