"""Forks a session at a message.

Ids are copied, so that equal bytes read the provider's cache.
"""

from collections.abc import Sequence
from dataclasses import replace

from sidecar.core.conversation.turns import is_settled
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, SessionId
from sidecar.session.turn.clock import Clock
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.log_records import (
    ComparedRecord,
    ForkedRecord,
    ToldRecord,
    ToolRecord,
    TurnEndedRecord,
    TurnStartedRecord,
)
from sidecar.store.format.record_codec import LogRecord, comes_with, read_all, write
from sidecar.store.format.values import (
    AppendRecord,
    CopyLog,
    PutSession,
    SessionRow,
    Stored,
)
from sidecar.store.format.view_records import EpochRecord, PinRecord
from sidecar.store.journal import Store

SUFFIX = " (fork)"

AHEAD = (ToldRecord, ComparedRecord)
"""Records of the user message that follows."""


@dataclass(frozen=True, slots=True)
class ForkCut:
    """What to copy: messages, and records up to revision `until`.

    `before` is the time of the first message left out.
    """

    messages: tuple[Message, ...]
    until: int
    before: Millis | None


async def fork(
    store: Store, clock: Clock, source: SessionId, at_message: MessageId | None
) -> SessionId:
    """Makes a durable fork, up to a message or of all.

    Raises UnknownSession, BadRequest for an unknown message, or StorageFailed; nothing was made
    then.
    """
    stored = await store.logs.load(source)
    cut = cut_at(stored, at_message)
    now = clock.now()
    row = _row(stored, cut, SessionId(clock.new_id("ses")), now)
    last = cut.messages[-1].id if cut.messages else None
    record = ForkedRecord(revision=row.revision, at=now, source=source, at_message_id=last)
    kept = tuple(message.id for message in cut.messages)
    await store.write(
        PutSession(row),
        CopyLog(source, row.id, kept, cut.until, cut.before),
        AppendRecord(row.id, write(record)),
    )
    return row.id


def cut_at(stored: Stored, at_message: MessageId | None) -> ForkCut:
    """Finds the settled part to copy. Raises BadRequest.

    A call and its result are one part, so no cut separates them.
    """
    messages = stored.messages
    end = len(messages)
    if at_message is not None:
        ids = [message.id for message in messages]
        if at_message not in ids:
            raise BadRequest(
                f"there is no message {at_message!r} in this session: give the messageId of an "
                "update, or none to fork the session as it is",
                "params.atMessageId",
            )
        end = ids.index(at_message) + 1
    going = (n for n, m in enumerate(messages[:end]) if not (is_settled(m) or _withdrawn(m)))
    settled = next(going, end)
    kept, left = messages[:settled], messages[settled:]
    records = read_all(stored.records)
    first = _first_left(records, kept, left)
    until = records[first - 1].revision if first else 0
    # Calls of a withdrawn answer settle only at the end of the turn.
    whole = tuple(message for message in kept if is_settled(message))
    return ForkCut(whole, until, left[0].created if left else None)


def _withdrawn(message: Message) -> bool:
    return message.status == "discarded"


def _first_left(
    records: Sequence[LogRecord], kept: Sequence[Message], left: Sequence[Message]
) -> int:
    if not left:
        return len(records)
    ids = {message.id for message in kept}
    begun = max(
        (n for n, r in enumerate(records, 1) if not ids.isdisjoint(comes_with(r))), default=0
    )
    following, left_ids = left[0], {message.id for message in left}
    turns = {m.turn_id for m in left} - {m.turn_id for m in kept}
    parts = {part.id for message in left for part in message.parts}
    # A user's message may have waited before being logged; an answer begins at `created`.
    since = following.created if following.role == "assistant" else None
    first = len(records)
    for index in range(begun, len(records)):
        record = records[index]
        late = since is not None and record.at > since
        match record:
            case TurnStartedRecord(turn_id=turn) | TurnEndedRecord(turn_id=turn):
                named = turn in turns
            case ToolRecord(part_id=part) | PinRecord(part_id=part):
                named = part in parts
            case _:
                named = False
        if late or named or not left_ids.isdisjoint(comes_with(record)):
            first = index
            break
    # Notes on the next message stand before the message.
    while first > begun and first < len(records) and isinstance(records[first - 1], AHEAD):
        first -= 1
    return first


def settings_at(stored: Stored, until: int) -> JsonObject:
    """Returns settings with the model in use at revision `until`."""
    epochs = [record for record in read_all(stored.records) if isinstance(record, EpochRecord)]
    kept = [record for record in epochs if record.revision <= until]
    if kept and len(kept) < len(epochs):
        # The model may have changed since; the cached prefix belongs to the model at `until`.
        return {**stored.session.settings, "model": kept[-1].model}
    return stored.session.settings


def _row(stored: Stored, cut: ForkCut, session_id: SessionId, now: Millis) -> SessionRow:
    row = stored.session
    settings: JsonObject = {**settings_at(stored, cut.until), PARENT: row.id}
    title = row.title if row.title.endswith(SUFFIX) or not row.title else row.title + SUFFIX
    return replace(
        row,
        id=session_id,
        title=title,
        created=now,
        updated=now,
        revision=cut.until + 1,
        seq=0,
        turns=len({message.turn_id for message in cut.messages}),
        cost="0",
        settings=settings,
    )
