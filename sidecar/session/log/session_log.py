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

from sidecar.core.errors import StorageFailed
from sidecar.core.ledger.facts import Fact
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Part, ToolPart
from sidecar.core.prompt.pricing import money
from sidecar.core.text.digest import digest
from sidecar.session.log.past import Past
from sidecar.store.format.values import (
    AppendRecord,
    PutBlob,
    PutFacts,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
    Stored,
)
from sidecar.store.journal import Store

RESTORED = "restored"
"""The record of going back; see `session/log/restore_records`."""
IMPORTED = "imported"
"""The record that ends what was taken in from a file: `{format, from?, redacted?}`."""
FORKED = "forked"
"""The record that ends what a fork took over from its parent: `{from, atMessageId}`."""


def left_behind(records: Iterable[Record]) -> frozenset[MessageId]:
    """Name the messages that are not in the conversation any more, because it went back."""
    gone: set[object] = set()
    for record in records:
        if record.kind == RESTORED:
            left, back = record.body.get("left"), record.body.get("back")
            gone |= set(left if isinstance(left, list) else ())
            gone -= set(back if isinstance(back, list) else ())
    return frozenset(MessageId(str(name)) for name in gone)


def _message_of(change: StoreChange) -> MessageId | None:
    put = change.message.id if isinstance(change, PutMessage) else None
    return change.message_id if isinstance(change, PutPart) else put


def _nobody(_: Record) -> None:
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
        self.records: list[Record] = list(stored.records)
        self._messages: dict[MessageId, Message] = {m.id: m for m in stored.messages}
        self._left = left_behind(self.records)
        self.damaged = bool(stored.problems)
        self.past = past
        self.heard = frozenset(() if past is None else past.window)
        self._pending: list[StoreChange] = []
        self._untold: list[Record] = []
        self.durable: Callable[[Record], None] = _nobody
        """Hears of each record that a commit has made durable, in order; must not raise."""
        self._aside: list[Record] = []
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
        known |= {record.revision: record for record in stored.records if record.revision <= until}
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
        cause: str,
        body: JsonObject | None = None,
        first: tuple[str, JsonObject] | None = None,
        facts: tuple[Fact, ...] = (),
    ) -> "asyncio.Future[None]":
        """Raise the revision and write everything gathered as one unit.

        `cause` and `body` become a record of the log, and so does `first`, before it; `facts` are
        kept with it. The future resolves when it is durable and raises StorageFailed when it
        cannot be.
        """
        gathered = tuple(self._pending)
        beside = (PutFacts(self.row.id, self.row.cwd, facts),) if facts else ()
        written = self._store.write(*self.unit(cause, body, first), *beside)
        records, self._untold = tuple(self._untold), []
        written.add_done_callback(lambda done: self._ended(done, gathered, records))
        return written

    def unit(
        self,
        cause: str,
        body: JsonObject | None = None,
        first: tuple[str, JsonObject] | None = None,
    ) -> tuple[StoreChange, ...]:
        """Raise the revision and give everything gathered as one unit, to be written elsewhere.

        Where that fails, `withdraw` takes it back.
        """
        self._number_aside()
        now = self._now()
        ahead: tuple[StoreChange, ...] = ()
        if first is not None:
            opening = Record(self.row.revision + 1, first[0], now, first[1])
            self.row = replace(self.row, revision=opening.revision)
            self._append(opening)
            ahead = (AppendRecord(self.row.id, opening),)
        record = Record(self.row.revision + 1, cause, now, body or {})
        self.row = replace(self.row, revision=record.revision, updated=now)
        self._append(record)
        gathered, self._pending = tuple(self._pending), []
        return PutSession(self.row), *gathered, *ahead, AppendRecord(self.row.id, record)

    def withdraw(self, unit: tuple[StoreChange, ...], own: int = 1) -> None:
        """Take back a unit that was not written; what it had gathered beside its own is kept."""
        for change in unit[-own:]:
            assert isinstance(change, AppendRecord)
            self.records.remove(change.record)
            # Another commit may have gone to the disk behind it, and taken it along.
            with suppress(ValueError):
                self._untold.remove(change.record)
        self._gather(unit[1:-own])

    def take_back(self, message_id: MessageId, kinds: Container[str]) -> None:
        """Forget a turn's first message, which was not written, with its record and its notes."""
        del self._messages[message_id]
        notes = [c for c in self._pending if isinstance(c, AppendRecord) and c.record.kind in kinds]
        pending = (change for change in self._pending if change not in notes)
        self._pending = [change for change in pending if _message_of(change) != message_id]
        gone = {id(note.record) for note in notes}
        begun = [r for r in self.records if r.kind == "turn_started"]
        gone |= {id(record) for record in begun if record.body["messageId"] == message_id}
        self.records[:] = [record for record in self.records if id(record) not in gone]
        self._untold = [record for record in self._untold if id(record) not in gone]

    def owe(self, kind: str, body: JsonObject) -> None:
        """Gather the newest record of a kind anew, which was not written, with this body."""
        at = max(number for number, record in enumerate(self.records) if record.kind == kind)
        del self.records[at]
        self.note(kind, body)

    def _append(self, record: Record) -> None:
        self.records.append(record)
        self._untold.append(record)

    def _ended(
        self,
        written: "asyncio.Future[None]",
        gathered: tuple[StoreChange, ...],
        records: tuple[Record, ...],
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
                    self.records[:] = [known for known in self.records if known is not record]
                    self.note(record.kind, record.body)
                case _:
                    pass

    def note(self, kind: str, body: JsonObject) -> None:
        """Gather a record of its own; the next commit writes it, with a revision of its own."""
        self._number(Record(0, kind, self._now(), body))

    def _number(self, record: Record) -> None:
        record = replace(record, revision=self.row.revision + 1)
        self.row = replace(self.row, revision=record.revision)
        self._append(record)
        self._pending.append(AppendRecord(self.row.id, record))

    @property
    def waiting(self) -> tuple[Record, ...]:
        """The records that were put aside and have no revision yet."""
        return tuple(self._aside)

    @property
    def unwritten(self) -> bool:
        """Whether anything waits for the next commit."""
        return bool(self._aside or self._pending)

    def put_aside(self, kind: str, body: JsonObject) -> None:
        """Keep a record that changes nothing: it gets its revision with the next commit."""
        self._aside.append(Record(0, kind, self._now(), body))

    async def write_aside(self) -> None:
        """Write what was put aside, where no commit follows; a failure loses no more than that."""
        self._number_aside()
        gathered, self._pending = tuple(self._pending), []
        with suppress(StorageFailed):
            await self._store.write(PutSession(self.row), *gathered)

    def _number_aside(self) -> None:
        aside, self._aside = self._aside, []
        for record in aside:
            self._number(record)

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

    def last_record(self, kind: str) -> Record | None:
        """Give the newest record of a kind."""
        return next((r for r in reversed(self.records) if r.kind == kind), None)

    def last_told(self, kind: str) -> Record | None:
        """Give the newest record of a kind that came with a message that is not left behind."""
        begun: object = None
        for record in reversed(self.records):
            if record.kind == "turn_started":
                begun = record.body.get("messageId")
            elif record.kind == kind and begun not in self._left:
                return record
        return None
