"""Writes a log: changes hold in memory at once; `commit` stores them as one unit.

No history is edited: parts advance, and a change of the view is a record.
"""

import asyncio
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

from msgspec import structs

from sidecar.core.conversation.fact import Fact
from sidecar.core.conversation.growing import unchanged
from sidecar.core.errors import StorageFailed
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Part
from sidecar.core.prompt.pricing import money
from sidecar.core.text.digest import digest
from sidecar.session.log.held_log import HeldLog
from sidecar.store.format.log_records import TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord, read, write
from sidecar.store.format.values import (
    AppendRecord,
    PutBlob,
    PutFacts,
    PutMessage,
    PutPart,
    PutSession,
    StoreChange,
)
from sidecar.store.journal import Store


def _message_of(change: StoreChange) -> MessageId | None:
    put = change.message.id if isinstance(change, PutMessage) else None
    return change.message_id if isinstance(change, PutPart) else put


def _nobody(_: LogRecord) -> None: ...


class LogWriter:
    """Writes a log; `durable` hears committed records in order, and must not raise."""

    def __init__(self, log: HeldLog, store: Store, now: Callable[[], Millis]) -> None:
        self._log = log
        self._store = store
        self._now = now
        self.durable: Callable[[LogRecord], None] = _nobody
        self.forget()

    def forget(self) -> None:
        """Drops unwritten changes of a log read anew."""
        self._pending: list[StoreChange] = []
        self._untold: list[LogRecord] = []
        self._unsaved: dict[MessageId, set[int]] = {}
        self._streamed: dict[MessageId, set[int]] = {}

    def put(self, message: Message) -> None:
        """Adds or updates a message; only differences are written."""
        before = self._log.by_id.get(message.id)
        self._log.by_id[message.id] = message
        if before is None or replace(before, parts=()) != replace(message, parts=()):
            self._pending.append(PutMessage(self._log.row.id, replace(message, parts=())))
        known = () if before is None else before.parts
        self._unsaved.pop(message.id, None)
        streamed = self._streamed.pop(message.id, set())
        for position, part in enumerate(message.parts):
            if (
                position in streamed
                or position >= len(known)
                or (known[position] is not part and known[position] != part)
            ):
                self._pending.append(PutPart(self._log.row.id, message.id, position, part))

    def stream(self, message: Message) -> None:
        """Grows an open message; `save` or `put` writes."""
        known = self._log.by_id[message.id].parts
        changed = self._unsaved.setdefault(message.id, set())
        for position in range(unchanged(known, message.parts), len(message.parts)):
            if position >= len(known) or known[position] is not message.parts[position]:
                changed.add(position)
        self._streamed.setdefault(message.id, set()).update(changed)
        self._log.by_id[message.id] = message

    def put_part(self, message_id: MessageId, part: Part) -> None:
        """Replaces by id, or appends; looks at no other part."""
        message = self._log.by_id[message_id]
        position = self._log.position(message, part.id)
        parts = (*message.parts[:position], part, *message.parts[position + 1 :])
        self._log.by_id[message_id] = replace(message, parts=parts)
        self._unsaved.pop(message_id, None)
        for changed in sorted(self._streamed.pop(message_id, set()) | {position}):
            put = PutPart(self._log.row.id, message_id, changed, parts[changed])
            self._pending.append(put)

    def put_blob(self, data: bytes) -> str:
        name = digest(data)
        self._pending.append(PutBlob(name, data))
        return name

    def save(self) -> None:
        """Writes streamed parts without waiting; a crash loses little."""
        if not self._unsaved:
            return
        gathered, self._pending = tuple(self._pending), []
        if gathered:
            # A part can be written only after its message.
            written = self._store.write(*gathered)
            written.add_done_callback(lambda done: self._ended(done, gathered))
        for message_id, positions in self._unsaved.items():
            message = self._log.by_id[message_id]
            self._store.save(
                *(
                    PutPart(
                        self._log.row.id, message_id, position, message.parts[position], final=False
                    )
                    for position in sorted(positions)
                )
            )
        self._unsaved.clear()

    def commit(
        self,
        record: LogRecord,
        first: LogRecord | None = None,
        facts: tuple[Fact, ...] = (),
    ) -> "asyncio.Future[None]":
        """Raises the revision and writes all pending as one unit.

        `first` precedes `record`. The future resolves once durable, or raises StorageFailed.
        """
        gathered = tuple(self._pending)
        beside = (PutFacts(self._log.row.id, self._log.row.cwd, facts),) if facts else ()
        written = self._store.write(*self.unit(record, first), *beside)
        records, self._untold = tuple(self._untold), []
        written.add_done_callback(lambda done: self._ended(done, gathered, records))
        return written

    def unit(self, record: LogRecord, first: LogRecord | None = None) -> tuple[StoreChange, ...]:
        """Raises the revision and takes all pending, for the caller to write.

        After a failure, call `withdraw`.
        """
        self._number_aside()
        now = self._now()
        ahead: tuple[StoreChange, ...] = ()
        if first is not None:
            ahead = (self._append(first, now),)
        last = self._append(record, now)
        self._log.row = replace(self._log.row, updated=now)
        gathered, self._pending = tuple(self._pending), []
        return PutSession(self._log.row), *gathered, *ahead, last

    def withdraw(self, unit: tuple[StoreChange, ...], own: int = 1) -> None:
        """Drops a failed unit's last `own` records; queues the rest."""
        # Another commit may have gone to the disk behind it, and taken it along.
        self._forget({c.record.revision for c in unit[-own:] if isinstance(c, AppendRecord)})
        self._gather(unit[1:-own])

    def take_back(self, message_id: MessageId, notes: tuple[type[LogRecord], ...]) -> None:
        """Drops an unwritten first message, its record and `notes`."""
        del self._log.by_id[message_id]
        waiting = {c.record.revision for c in self._pending if isinstance(c, AppendRecord)}
        gone = {
            record.revision
            for record in self._log.records
            if (isinstance(record, notes) and record.revision in waiting)
            or (isinstance(record, TurnStartedRecord) and record.message_id == message_id)
        }
        self._pending = [
            change
            for change in self._pending
            if _message_of(change) != message_id
            and not (isinstance(change, AppendRecord) and change.record.revision in gone)
        ]
        self._forget(gone)

    def owe(self, record: LogRecord) -> None:
        """Queues `record` in place of its type's newest unwritten one."""
        self._forget(
            {next(r.revision for r in reversed(self._log.records) if type(r) is type(record))}
        )
        self.note(record)

    def _append(self, record: LogRecord, at: Millis) -> AppendRecord:
        placed = structs.replace(record, revision=self._log.row.revision + 1, at=at)
        self._log.row = replace(self._log.row, revision=placed.revision)
        self._log.records.append(placed)
        self._untold.append(placed)
        return AppendRecord(self._log.row.id, write(placed))

    def _forget(self, revisions: Container[int]) -> None:
        self._log.records[:] = [one for one in self._log.records if one.revision not in revisions]
        self._untold = [one for one in self._untold if one.revision not in revisions]

    def _ended(
        self,
        written: "asyncio.Future[None]",
        gathered: tuple[StoreChange, ...],
        records: tuple[LogRecord, ...] = (),
    ) -> None:
        if written.cancelled() or written.exception() is not None:
            self._gather(gathered)
            return
        for record in records:
            self.durable(record)

    def _gather(self, changes: Iterable[StoreChange]) -> None:
        for change in changes:
            match change:
                case PutMessage(message=message) if message.id in self._log.by_id:
                    now = replace(self._log.by_id[message.id], parts=())
                    self._pending.append(PutMessage(self._log.row.id, now))
                case PutPart(message_id=message_id, position=position):
                    part = self._log.by_id[message_id].parts[position]
                    self._pending.append(PutPart(self._log.row.id, message_id, position, part))
                case PutBlob():
                    self._pending.append(change)
                case AppendRecord(record=record):
                    self._forget({record.revision})
                    self.note(read(record))
                case _:
                    pass

    def note(self, record: LogRecord) -> None:
        self._pending.append(self._append(record, self._now()))

    @property
    def unwritten(self) -> bool:
        return bool(self._log.aside or self._pending)

    def put_aside(self, record: LogRecord) -> None:
        """Adds a record without effect; the next commit numbers it."""
        self._log.aside.append(structs.replace(record, at=self._now()))

    async def write_aside(self) -> None:
        """Call if no commit follows; ignores failure."""
        self._number_aside()
        gathered, self._pending = tuple(self._pending), []
        with suppress(StorageFailed):
            await self._store.write(PutSession(self._log.row), *gathered)

    def _number_aside(self) -> None:
        aside, self._log.aside = self._log.aside, []
        for record in aside:
            self._pending.append(self._append(record, record.at))


class SessionEntry:
    """Changes a session's row; all but reserved numbers await a commit."""

    def __init__(self, log: HeldLog, store: Store) -> None:
        self._log = log
        self._store = store
        self._reserving: asyncio.Future[None] | None = None

    def reserve(self, seq: int) -> None:
        """Reserves numbers up to `seq`; failures show at the next commit."""
        self._log.row = replace(self._log.row, seq=seq)
        self._reserving = self._store.write(PutSession(self._log.row))
        self._reserving.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def reserved(self) -> None:
        if self._reserving is not None:
            await asyncio.wait((self._reserving,))

    def spend(self, cost: str | None) -> None:
        """One unknown price makes the sum unknown."""
        before = self._log.row.cost
        known = None if before is None or cost is None else money(Decimal(before) + Decimal(cost))
        self._log.row = replace(self._log.row, cost=known)

    async def rename(self, title: str) -> None:
        """Durable by itself; the session counts as used when before. Raises StorageFailed."""
        before = self._log.row.title
        self.change(title=title)
        try:
            await self._store.write(PutSession(self._log.row))
        except StorageFailed:
            self.change(title=before)
            raise

    def change(self, **fields: str | int) -> None:
        self._log.row = replace(self._log.row, **fields)  # type: ignore[arg-type]

    def configure(self, settings: JsonObject) -> None:
        self._log.row = replace(self._log.row, settings=settings)
