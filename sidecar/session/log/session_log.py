"""A session's log in memory and its way to disk.

Changes are applied at once, gathered, and written as one unit by `commit`; what a client is told
is complete is committed first. Nothing here edits what was logged: a part only ever moves on in
its own state machine, and everything that changes the view is a record.
"""

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from msgspec import structs

from sidecar.core.errors import StorageFailed
from sidecar.core.ledger.facts import Fact
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Part, ToolPart
from sidecar.core.prompt.pricing import money
from sidecar.core.text.digest import digest
from sidecar.session.log.past import Past
from sidecar.store.format.log_records import RecordHead, TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord, read, read_all, write
from sidecar.store.format.values import (
    AppendRecord,
    PutBlob,
    PutFacts,
    PutMessage,
    PutPart,
    PutSession,
    SessionRow,
    StoreChange,
    Stored,
)
from sidecar.store.format.view_records import FilesRestoredRecord, TalkRestoredRecord
from sidecar.store.journal import Store

_R = TypeVar("_R", bound=RecordHead)


def left_behind(records: Iterable[LogRecord]) -> frozenset[MessageId]:
    """Name the messages that are not in the conversation any more, because it went back."""
    gone: set[MessageId] = set()
    for record in records:
        if isinstance(record, FilesRestoredRecord | TalkRestoredRecord):
            gone = (gone | {*record.left}) - {*record.back}
    return frozenset(gone)


def _message_of(change: StoreChange) -> MessageId | None:
    put = change.message.id if isinstance(change, PutMessage) else None
    return change.message_id if isinstance(change, PutPart) else put


def _nobody(_: LogRecord) -> None:
    """Nobody is told of a session that is only read."""


class SessionLog:
    """The messages of one session, its row and its records.

    Iterating gives the conversation; `messages` has those too that it left behind. Where only a
    window of it was read, `past` says what the rest comes to; `heard` are the messages here that
    the ledger of a past has heard already.
    """

    def __init__(
        self,
        store: Store,
        stored: Stored,
        now: Callable[[], Millis],
        past: Past | None = None,
    ) -> None:
        self._store = store
        self._now = now
        self.row: SessionRow = stored.session
        self.records: list[LogRecord] = list(read_all(stored.records))
        self._messages: dict[MessageId, Message] = {m.id: m for m in stored.messages}
        self._left = left_behind(self.records)
        self.damaged = bool(stored.problems)
        self.past = past
        self.heard = frozenset(() if past is None else past.window)
        self._pending: list[StoreChange] = []
        self._untold: list[LogRecord] = []
        self.durable: Callable[[LogRecord], None] = _nobody
        """Hears of each record that a commit has made durable, in order; must not raise."""
        self._aside: list[LogRecord] = []
        self._reserving: asyncio.Future[None] | None = None
        self._unsaved: dict[MessageId, set[int]] = {}
        self._streamed: dict[MessageId, set[int]] = {}

    def fill(self, stored: Stored) -> None:
        """Take in all that was not read; what is here already stays as it is."""
        if self.past is None:
            return
        until, here = self.past.revision, self._messages
        before = {m.id: here.get(m.id, m) for m in stored.messages}
        self.damaged = bool(stored.problems)
        self.heard |= {name for name in before if name not in here}
        self._messages = {**before, **here}
        # Of what cannot be read any more, it is kept as far as it is known here.
        known = {record.revision: record for record in self.records}
        before_fold = (record for record in stored.records if record.revision <= until)
        known |= {record.revision: record for record in read_all(before_fold)}
        self.records[:] = [known[revision] for revision in sorted(known)]
        self.past = None

    def take(self, messages: Iterable[Message]) -> None:
        """Let messages that are here stand so from now on; nothing of it is stored."""
        self._messages |= {message.id: message for message in messages}

    @property
    def count(self) -> int:
        """How many messages there are, those that were not read included."""
        return len(self._messages) + (0 if self.past is None else self.past.messages)

    def has_call(self, call_id: str) -> bool:
        """Whether a call that a prompt may hold has this id."""
        if self.past is not None and self.past.has_call(call_id):
            return True
        return any(
            isinstance(part, ToolPart) and part.call_id == call_id
            for message in self._messages.values()
            if message.status != "discarded"
            for part in message.parts
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first, withdrawn ones and those left behind included."""
        return tuple(self._messages.values())

    def __iter__(self) -> Iterator[Message]:
        if not self._left:
            return iter(self._messages.values())
        return (m for m in self._messages.values() if m.id not in self._left)

    @property
    def left(self) -> frozenset[MessageId]:
        """The messages that the conversation left behind."""
        return self._left

    def look_again(self) -> None:
        """The conversation went back, or forth again, or that failed."""
        self._left = left_behind(self.records)

    def message(self, message_id: MessageId) -> Message:
        """Give one message as it stands."""
        return self._messages[message_id]

    def newest_first(self) -> Iterator[Message]:
        """Give all messages, the newest first, without a copy: look at a few and stop."""
        return reversed(self._messages.values())

    def put(self, message: Message) -> None:
        """Add a message, or let one move on; only what differs is written."""
        before = self._messages.get(message.id)
        self._messages[message.id] = message
        if before is None or replace(before, parts=()) != replace(message, parts=()):
            self._pending.append(PutMessage(self.row.id, replace(message, parts=())))
        known = () if before is None else before.parts
        self._unsaved.pop(message.id, None)
        streamed = self._streamed.pop(message.id, set())
        for position, part in enumerate(message.parts):
            if position in streamed or position >= len(known) or known[position] != part:
                self._pending.append(PutPart(self.row.id, message.id, position, part))

    def stream(self, message: Message) -> None:
        """Let an open message grow without writing it yet; `save` or `put` does."""
        known = self._messages[message.id].parts
        changed = self._unsaved.setdefault(message.id, set())
        for position, part in enumerate(message.parts):
            if position >= len(known) or known[position] is not part:
                changed.add(position)
        self._streamed.setdefault(message.id, set()).update(changed)
        self._messages[message.id] = message

    def put_part(self, message_id: MessageId, part: Part) -> None:
        """Let one part of a message move on, or add it at the end."""
        message = self._messages[message_id]
        ids = [existing.id for existing in message.parts]
        if part.id in ids:
            position = ids.index(part.id)
            parts = (*message.parts[:position], part, *message.parts[position + 1 :])
        else:
            parts = (*message.parts, part)
        self.put(replace(message, parts=parts))

    def put_blob(self, data: bytes) -> str:
        """Keep a complete output; gives its content hash."""
        name = digest(data)
        self._pending.append(PutBlob(name, data))
        return name

    def save(self) -> None:
        """Write what has streamed so far, unacknowledged: newest wins, a crash keeps most of it."""
        if not self._unsaved:
            return
        gathered, self._pending = tuple(self._pending), []
        if gathered:
            # A part can be written only after its message.
            written = self._store.write(*gathered)
            written.add_done_callback(lambda done: self._keep_unwritten(done, gathered))
        for message_id, positions in self._unsaved.items():
            message = self._messages[message_id]
            self._store.save(
                *(
                    PutPart(self.row.id, message_id, position, message.parts[position], final=False)
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
        """Raise the revision and write everything gathered as one unit.

        `first` is written before `record`, and `facts` with it. The future resolves when the unit
        is durable, and raises StorageFailed when it cannot be.
        """
        gathered = tuple(self._pending)
        beside = (PutFacts(self.row.id, self.row.cwd, facts),) if facts else ()
        written = self._store.write(*self.unit(record, first), *beside)
        records, self._untold = tuple(self._untold), []
        written.add_done_callback(lambda done: self._ended(done, gathered, records))
        return written

    def unit(self, record: LogRecord, first: LogRecord | None = None) -> tuple[StoreChange, ...]:
        """Raise the revision and give everything gathered as one unit, to be written elsewhere.

        Where that fails, `withdraw` takes it back.
        """
        self._number_aside()
        now = self._now()
        ahead: tuple[StoreChange, ...] = ()
        if first is not None:
            ahead = (self._append(first, now),)
        last = self._append(record, now)
        self.row = replace(self.row, updated=now)
        gathered, self._pending = tuple(self._pending), []
        return PutSession(self.row), *gathered, *ahead, last

    def withdraw(self, unit: tuple[StoreChange, ...], own: int = 1) -> None:
        """Take back a unit that was not written; what it had gathered beside its own is kept."""
        # Another commit may have gone to the disk behind it, and taken it along.
        self._forget({c.record.revision for c in unit[-own:] if isinstance(c, AppendRecord)})
        self._gather(unit[1:-own])

    def take_back(self, message_id: MessageId, notes: tuple[type[LogRecord], ...]) -> None:
        """Forget a turn's first message, which was not written, with its record and its notes."""
        del self._messages[message_id]
        waiting = {c.record.revision for c in self._pending if isinstance(c, AppendRecord)}
        gone = {
            record.revision
            for record in self.records
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
        """Gather this instead of the newest record of its type, which was not written."""
        self._forget({next(r.revision for r in reversed(self.records) if type(r) is type(record))})
        self.note(record)

    def _append(self, record: LogRecord, at: Millis) -> AppendRecord:
        """Give a record its revision and its time, and the log the record."""
        placed = structs.replace(record, revision=self.row.revision + 1, at=at)
        self.row = replace(self.row, revision=placed.revision)
        self.records.append(placed)
        self._untold.append(placed)
        return AppendRecord(self.row.id, write(placed))

    def _forget(self, revisions: Container[int]) -> None:
        self.records[:] = [one for one in self.records if one.revision not in revisions]
        self._untold = [one for one in self._untold if one.revision not in revisions]

    def _ended(
        self,
        written: "asyncio.Future[None]",
        gathered: tuple[StoreChange, ...],
        records: tuple[LogRecord, ...],
    ) -> None:
        self._keep_unwritten(written, gathered)
        if not written.cancelled() and written.exception() is None:
            for record in records:
                self.durable(record)

    def _keep_unwritten(
        self, written: "asyncio.Future[None]", gathered: tuple[StoreChange, ...]
    ) -> None:
        """Gather again what a failed unit held, as it stands now, for the next one."""
        if written.cancelled() or written.exception() is not None:
            self._gather(gathered)

    def _gather(self, changes: Iterable[StoreChange]) -> None:
        for change in changes:
            match change:
                case PutMessage(message=message) if message.id in self._messages:
                    now = replace(self._messages[message.id], parts=())
                    self._pending.append(PutMessage(self.row.id, now))
                case PutPart(message_id=message_id, position=position):
                    part = self._messages[message_id].parts[position]
                    self._pending.append(PutPart(self.row.id, message_id, position, part))
                case PutBlob():
                    self._pending.append(change)
                case AppendRecord(record=record):
                    self._forget({record.revision})
                    self.note(read(record))
                case _:
                    pass

    def note(self, record: LogRecord) -> None:
        """Gather a record of its own; the next commit writes it, with a revision of its own."""
        self._pending.append(self._append(record, self._now()))

    @property
    def waiting(self) -> tuple[LogRecord, ...]:
        """The records that were put aside and have no revision yet."""
        return tuple(self._aside)

    @property
    def unwritten(self) -> bool:
        """Whether anything waits for the next commit."""
        return bool(self._aside or self._pending)

    def put_aside(self, record: LogRecord) -> None:
        """Keep a record that changes nothing: it gets its revision with the next commit."""
        self._aside.append(structs.replace(record, at=self._now()))

    async def write_aside(self) -> None:
        """Write what was put aside, where no commit follows; a failure loses no more than that."""
        self._number_aside()
        gathered, self._pending = tuple(self._pending), []
        with suppress(StorageFailed):
            await self._store.write(PutSession(self.row), *gathered)

    def _number_aside(self) -> None:
        aside, self._aside = self._aside, []
        for record in aside:
            self._pending.append(self._append(record, record.at))

    def reserve(self, seq: int) -> None:
        """Reserve sequence numbers up to `seq`; the next commit reports what fails here."""
        self.row = replace(self.row, seq=seq)
        self._reserving = self._store.write(PutSession(self.row))
        self._reserving.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def reserved(self) -> None:
        """Wait until what was reserved last is durable, or cannot be."""
        if self._reserving is not None:
            await asyncio.wait((self._reserving,))

    def spend(self, cost: str | None) -> None:
        """Add to what the session has cost; an unknown price makes the sum unknown for good."""
        before = self.row.cost
        known = None if before is None or cost is None else money(Decimal(before) + Decimal(cost))
        self.row = replace(self.row, cost=known)

    def change(self, **fields: str | int) -> None:
        """Change fields of the session's row (`title`, `turns`)."""
        self.row = replace(self.row, **fields)  # type: ignore[arg-type]

    def configure(self, settings: JsonObject) -> None:
        """Replace the session's settings."""
        self.row = replace(self.row, settings=settings)

    def last_record(self, kind: type[_R]) -> _R | None:
        """Return the newest record of a type."""
        return next((r for r in reversed(self.records) if isinstance(r, kind)), None)

    def last_told(self, kind: type[_R]) -> _R | None:
        """Return the newest record of a type that came with a message that is not left behind."""
        begun: MessageId | None = None
        for record in reversed(self.records):
            if isinstance(record, TurnStartedRecord):
                begun = record.message_id
            elif isinstance(record, kind) and begun not in self._left:
                return record
        return None
