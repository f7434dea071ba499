"""Opens sessions from windows of their logs.

The rest is folded; `SessionLog.whole` reads it where needed.
"""

import asyncio
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import assert_never

from sidecar.core.errors import StorageFailed
from sidecar.core.ledger.ledger import Folding
from sidecar.core.parts import Message, MessageId, PartId, SessionId, StepFinishPart
from sidecar.session.lifecycle.fork import AHEAD
from sidecar.session.log import log_fold as pasts
from sidecar.session.log.change_records import newest
from sidecar.session.log.log_fold import Past
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import message_count, newest_branch, opened_by
from sidecar.session.meter.gauge import sized_turns
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import FORESEEN
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views
from sidecar.store.format.log_records import (
    AskedRecord,
    BegunAgainRecord,
    CachingRecord,
    ComparedRecord,
    CreatedRecord,
    CutRecord,
    DelegatedRecord,
    DiscardedRecord,
    ForkedRecord,
    ImportedRecord,
    InheritedRecord,
    LinkedRecord,
    NoticeRecord,
    OptionRecord,
    PatchedRecord,
    PingRecord,
    RefusedRecord,
    SteeredRecord,
    StepFailedRecord,
    StepRecord,
    ToldRecord,
    ToolRecord,
    TurnEndedRecord,
    TurnStartedRecord,
    UnknownRecord,
)
from sidecar.store.format.record_codec import LogRecord, named_by, read_all, write
from sidecar.store.format.values import PutFold, Record
from sidecar.store.format.view_records import (
    DroppedShape,
    EpochRecord,
    FilesRestoredRecord,
    ModelChangedRecord,
    PinRecord,
    ReachedRecord,
    RestoreRecord,
    RewriteRecord,
    TalkRestoredRecord,
    UndoneRecord,
)
from sidecar.store.journal import Store

TURNS = 8
"""Newest turns with sizes and costs in the meter, and one more."""
SPACING = 200
"""Messages between two folds of a log without rewrites."""
GROWN = 20
"""After a rewrite, a fold is due once the log is longer by such a part: each looks through all."""
LEAST = 500
"""Least messages a fold must save reading; fewer are read in a moment."""


def _passes(record: LogRecord) -> bool:
    match record:
        case (
            TurnStartedRecord() | TurnEndedRecord() | SteeredRecord() | StepRecord()
            | StepFailedRecord() | DiscardedRecord() | CutRecord() | ToolRecord()
            | PatchedRecord() | OptionRecord() | AskedRecord() | PingRecord() | NoticeRecord()
        ):  # fmt: skip
            return True
        case (
            CreatedRecord() | BegunAgainRecord() | LinkedRecord() | ForkedRecord()
            | ImportedRecord() | InheritedRecord() | DelegatedRecord() | CachingRecord()
            | ToldRecord() | ComparedRecord() | EpochRecord() | ModelChangedRecord()
            | RefusedRecord() | RewriteRecord() | UndoneRecord() | PinRecord()
            | FilesRestoredRecord() | TalkRestoredRecord() | ReachedRecord() | UnknownRecord()
        ):  # fmt: skip
            return False
        case _:
            assert_never(record)


async def read_window(store: Store, clock: Clock, session_id: SessionId) -> SessionLog | None:
    """Reads the end of a long log; `None` if no usable summary of the rest (a fold) is stored.

    Raises UnknownSession.
    """
    version = await asyncio.to_thread(pasts.version)
    decoded: list[Past] = []

    def choose(body: bytes) -> Sequence[MessageId] | None:
        try:
            decoded.append(pasts.decode(body))
        except (KeyError, TypeError, ValueError):
            # Other code wrote the fold under the same version.
            return None
        return decoded[-1].window

    try:
        found = await store.logs.window(session_id, version, choose)
    except StorageFailed as error:
        if error.failure != "corrupt":
            raise
        # Perhaps only the folds' pages are damaged, and the log can be read whole.
        return None
    if found is None or _reaches_back(read_all(found.stored.records), found.stored.messages):
        return None
    past = decoded[-1]
    stored = replace(found.stored, records=(*past.records, *found.stored.records))
    return SessionLog(store, stored, clock.now, past)


def _reaches_back(records: Sequence[LogRecord], messages: Sequence[Message]) -> bool:
    """Whether a record since the fold may show parts outside the window."""
    known = {part.id for message in messages for part in message.parts}
    places = {None, *(message.id for message in messages)}
    for record in records:
        if isinstance(record, UndoneRecord | RestoreRecord):
            return True
        if isinstance(record, RewriteRecord):
            stands = (record.anchor, *(note.before for note in record.notes))
            if not places.issuperset(stands):
                # A note is sent even if the message behind the note is left out.
                return True
            others = (how for part_id, how in record.shown.items() if part_id not in known)
            if any(not isinstance(how, DroppedShape) for how in others):
                return True
    return False


class Folds:
    """Stores folds of a log; `folding` returns the ledger in the making."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        views: Views,
        store: Store,
        ownership: Ownership,
        folding: Callable[[], Folding],
    ) -> None:
        self._log = log
        self._view = view
        self._views = views
        self._store = store
        self._ownership = ownership
        self._folding = folding
        self._messages = self._revision = 0

    async def fold(self) -> None:
        """Stores a fold if due; a failure only slows the next resume."""
        log = self._log
        count = message_count(log)
        if self._ownership.read_only or log.damaged or not log.is_whole or count < LEAST:
            return
        newest_rewrite = log.last_record(RewriteRecord)
        rewritten = 0 if newest_rewrite is None else newest_rewrite.revision
        spacing = count // GROWN if rewritten > self._revision else SPACING
        if count - self._messages < spacing:
            return
        found, last = gather(log, self._view, self._views, self._folding()), log.messages[-1].id
        self._messages, self._revision = count, log.row.revision
        if found is None or found.messages < LEAST:
            return
        version = await asyncio.to_thread(pasts.version)
        body = await asyncio.to_thread(pasts.encode, found)
        with suppress(StorageFailed):
            await self._store.write(PutFold(log.row.id, found.revision, last, version, body))


def gather(log: SessionLog, view: ModelView, views: Views, folding: Folding) -> Past | None:
    """Folds what a window leaves out; `None` if a window would not suffice."""
    opened, rewrite = views.opened, views.newest_epoch()
    conversation = tuple(log)
    if opened is None or rewrite is None or log.unsettled():
        return None
    since = max(view.since, opened[0])
    if sum(m.created >= since and _ended(m, view.static.model) for m in conversation) < FORESEEN:
        # Too few requests in the view: a restart would replay the former view.
        return None
    begun = _begun(conversation, rewrite.steps)
    cut = _cut(log.records, None if begun is None else conversation[begun])
    if begun is None or cut is None or not in_turns(conversation, log.records, log.left):
        return None
    inside = [
        one.message
        for number, one in enumerate(view.rendering.seen(conversation))
        if number >= begun or one.rendered or one.message.id == view.anchor_message
    ]
    names = {message.id for message in inside}
    parts = frozenset(part.id for message in inside for part in message.parts)
    return Past(
        log.row.revision,
        tuple(message.id for message in inside),
        conversation[begun].id if _begins(log.records, conversation[begun]) else None,
        message_count(log) - len(inside),
        pasts.count_steps(m for m in conversation if m.id not in names),
        newest(log),
        newest_branch(log),
        opened_by(log),
        pasts.hashed_calls(m for m in log.messages if m.id not in names),
        needed_records(log.records, cut, parts, frozenset(view.rendering.shown.notes)),
        pasts.ledger_json(folding),
        tuple((key, content, progress) for key, (content, progress) in folding.todo.items()),
        tuple((key, one.same, tuple(sorted(one.missing))) for key, one in folding.failed.items()),
        folding.changes,
    )


def _ended(message: Message, model: str) -> bool:
    finish = (p for p in message.parts if isinstance(p, StepFinishPart) and p.usage.prompt)
    return message.role == "assistant" and message.model == model and any(finish)


def _begun(conversation: Sequence[Message], steps: int) -> int | None:
    recent = sized_turns(conversation)[-TURNS:]
    if len(recent) < TURNS:
        return None
    first = {recent[0]}
    starts = pasts.step_starts(conversation)
    index = next((i for i, before in enumerate(starts) if before >= steps), len(starts) - 1)
    first.add(conversation[index].turn_id)
    return next(i for i, message in enumerate(conversation) if message.turn_id in first)


def in_turns(
    conversation: Sequence[Message], records: Sequence[LogRecord], left: Container[MessageId]
) -> bool:
    """Whether each turn ends once, after all its steps.

    If not (an imported or mended log, a clock set back), usage needs the whole log.
    """
    ends: dict[str, int] = {}
    for number, message in enumerate(conversation, 1):
        if message.role == "assistant" or message.turn_id not in ends:
            ends[message.turn_id] = number
    named: set[MessageId] = set()
    ended: set[str] = set()
    at, latest, gone = 0, 0, False
    for record in records:
        if isinstance(record, TurnStartedRecord):
            gone = record.message_id in left
        elif isinstance(record, TurnEndedRecord) and not gone:
            turn = record.turn_id
            end = ends.get(turn, 0)
            unnamed = (m.created for m in conversation[at:end] if m.id not in named)
            at, latest = max(at, end), max(latest, *unnamed, 0)
            if turn in ended or not end or latest >= record.at:
                return False
            ended.add(turn)
        named.update(named_by(record))
    return True


def _begins(records: Sequence[LogRecord], first: Message) -> bool:
    before = takewhile(lambda r: first.id not in named_by(r), records)
    return all(record.at <= first.created for record in before)


def _cut(records: Sequence[LogRecord], first: Message | None) -> int | None:
    if first is None:
        return None
    opens = (
        i
        for i in reversed(range(len(records)))
        if isinstance(record := records[i], RewriteRecord | UndoneRecord) and record.opens
    )
    turns = (
        i
        for i, record in enumerate(records)
        if isinstance(record, TurnStartedRecord) and record.turn_id == first.turn_id
    )
    begun = next(turns, None)
    return None if begun is None else min(begun, next(opens, begun))


def needed_records(
    records: Sequence[LogRecord], cut: int, parts: frozenset[PartId], notes: frozenset[PartId]
) -> tuple[Record, ...]:
    kept: list[Record] = []
    ahead = False
    statics = _statics(records)
    breaks = (
        i
        for i in range(cut)
        if isinstance(record := records[i], StepRecord) and record.segment is not None
    )
    broke = max(breaks, default=-1)
    for index, record in enumerate(records):
        if isinstance(record, EpochRecord) and index not in statics:
            continue
        begins = isinstance(record, TurnStartedRecord)
        if index >= cut or index == broke or not _passes(record) or (begins and ahead):
            kept.append(write(pasts.narrowed(record, parts, notes)))
        ahead = isinstance(record, AHEAD) or (ahead and not begins)
    return tuple(kept)


def _statics(records: Sequence[LogRecord]) -> set[int]:
    """Finds the newest epoch's record, and the oldest with the same static part."""
    found = [(i, record) for i, record in enumerate(records) if isinstance(record, EpochRecord)]
    same, newest_one = found[-1]
    for index, record in reversed(found):
        if (record.tools, record.system) != (newest_one.tools, newest_one.system):
            break
        same = index
    return {found[-1][0], same}
