"""A log in memory, for readers; `writer` and `entry` lead to disk."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from sidecar.core.conversation.growing import Growing
from sidecar.core.conversation.turns import is_settled
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import RevisionConflict
from sidecar.core.parts import Message, MessageId, Millis, ToolPart
from sidecar.session.log.held_log import HeldLog, held_of
from sidecar.session.log.log_writer import LogWriter, SessionEntry
from sidecar.session.log.losses import readable
from sidecar.store.format.log_records import RecordHead, TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord, read_all
from sidecar.store.format.values import Stored
from sidecar.store.format.view_records import EpochRecord, UndoneRecord, ViewRecord
from sidecar.store.journal import Store

if TYPE_CHECKING:
    # Folds know the whole ledger, which readers of a log need not.
    from sidecar.session.log.log_fold import Past

_R = TypeVar("_R", bound=RecordHead)


@dataclass(frozen=True, slots=True)
class Rest:
    """What `SessionLog.whole` read, and sentences on unreadable content."""

    messages: frozenset[MessageId]
    problems: Sequence[str]


def _unheard(_: Rest) -> None: ...


class SessionLog(HeldLog):
    """A session's row, messages and records; iterating yields the conversation.

    `messages` has also those left behind. `past` folds the unread log, for this folder; others ask
    `whole_log`, or await `whole`, of which `filled` hears. `readings` counts full readings.
    `damaged`: memory holds more than the store, and than any window.
    """

    def __init__(
        self,
        store: Store,
        stored: Stored,
        now: Callable[[], Millis],
        past: "Past | None" = None,
    ) -> None:
        held = held_of(stored)
        super().__init__(held.row, held.records, held.by_id, held.left)
        self._store = store
        self._reading = asyncio.Lock()
        self.readings = 0
        self.writer = LogWriter(self, store, now)
        self.entry = SessionEntry(self, store)
        self.damaged = bool(stored.problems)
        self.past = past
        self.filled: Callable[[Rest], None] = _unheard
        self._calls = Growing(_calls_of)
        self._unsettled = Growing(_unsettled)
        self._openings = Growing(_opening)
        self._known: dict[type[RecordHead], tuple[int, LogRecord | None, LogRecord | None]] = {}

    @property
    def waiting(self) -> tuple[LogRecord, ...]:
        return tuple(self.aside)

    def become(self, found: Stored) -> Sequence[str]:
        """Takes a stored log's content; returns sentences on what is unreadable."""
        stored = readable(found)
        self.hold(held_of(stored))
        self.writer.forget()
        # A message made up for a lost beginning is not stored.
        self.damaged = bool(found.problems) or stored.messages != found.messages
        self.past = None
        self.readings += 1
        return found.problems

    @property
    def is_whole(self) -> bool:
        return self.past is None

    async def whole(self) -> bool:
        """Reads the rest into memory; returns whether there was any.

        Damaged pieces are left out as in a full read. Raises StorageFailed.
        """
        if self.past is None:
            return False
        async with self._reading:
            if self.past is None:
                return False
            found = readable(await self._store.logs.load(self.row.id))
            self._fill(found, self.past)
            return True

    def _fill(self, stored: Stored, past: "Past") -> None:
        """Adds the rest; messages in memory stay."""
        until, here = past.revision, self.by_id
        before = {m.id: here.get(m.id, m) for m in stored.messages}
        rest = frozenset(name for name in before if name not in here)
        self.damaged = bool(stored.problems)
        self.by_id = {**before, **here}
        # Of what cannot be read any more, it is kept as far as it is known here.
        known = {record.revision: record for record in self.records}
        before_fold = (record for record in stored.records if record.revision <= until)
        known |= {record.revision: record for record in read_all(before_fold)}
        self.records[:] = [known[revision] for revision in sorted(known)]
        self.past = None
        self.filled(Rest(rest, stored.problems))

    def take(self, messages: Iterable[Message]) -> None:
        self.by_id |= {message.id: message for message in messages}

    def has_call(self, call_id: str) -> bool:
        """Whether an ended answer, not discarded, has this call."""
        if self.past is not None and self.past.has_call(call_id):
            return True
        return call_id in self._calls.of(self.by_id.values())

    def unsettled(self) -> list[Message]:
        """Lists messages open, or with an open call."""
        return [*self._unsettled.of(self.by_id.values())]

    def openings(self) -> frozenset[str]:
        return frozenset(self._openings.of(self.records))

    @property
    def messages(self) -> tuple[Message, ...]:
        """Oldest first, withdrawn and left-behind ones included."""
        return tuple(self.by_id.values())

    def __iter__(self) -> Iterator[Message]:
        if not self.left:
            return iter(self.by_id.values())
        return (m for m in self.by_id.values() if m.id not in self.left)

    def last_record(self, kind: type[_R]) -> _R | None:
        """Finds the newest, looking only at records since the last call."""
        records = self.records
        until, newest, found = self._known.get(kind, (0, None, None))
        if until > len(records) or (until and records[until - 1] is not newest):
            until, found = 0, None
        late = (records[at] for at in range(len(records) - 1, until - 1, -1))
        found = next((record for record in late if isinstance(record, kind)), found)
        self._known[kind] = len(records), records[-1] if records else None, found
        return found if isinstance(found, kind) else None

    def last_told(self, kind: type[_R]) -> _R | None:
        """Finds the newest record of a turn not left behind."""
        if not self.left:
            return self.last_record(kind)
        begun: MessageId | None = None
        for record in reversed(self.records):
            if isinstance(record, TurnStartedRecord):
                begun = record.message_id
            elif isinstance(record, kind) and begun not in self.left:
                return record
        return None


def _calls_of(message: Message) -> tuple[str, ...]:
    if message.status in ("open", "discarded"):
        return ()
    return tuple([part.call_id for part in message.parts if isinstance(part, ToolPart)])


def _unsettled(message: Message) -> tuple[Message, ...]:
    return () if is_settled(message) else (message,)


def _opening(record: LogRecord) -> tuple[str, ...]:
    if isinstance(record, EpochRecord) or (isinstance(record, ViewRecord) and record.opens):
        return (f"{isinstance(record, UndoneRecord)} {record.compaction_id}",)
    return ()


def require_revision(log: SessionLog, expected: int | None, advice: str) -> None:
    newest = log.row.revision
    if expected not in (None, newest):
        text = f"the session is at revision {newest}, not {expected}: {advice}"
        raise RevisionConflict(text, revision=newest)
