"""A history told from the whole log at once, as it was before slices: what those must give, too."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from msgspec import to_builtins

from sidecar.core.parts import (
    Message,
    MessageId,
    Millis,
    Part,
    PartId,
    StepFinishPart,
    Usage,
)
from sidecar.session.history.turn_outcome import spent
from sidecar.session.log.channel import notice_of
from sidecar.session.log.events import EpochChanged, Event, Notice, TurnEnded
from sidecar.session.log.part_updates import updates_of
from sidecar.session.log.rewrite_records import recorded_in
from sidecar.session.meter.asked import asked_of
from sidecar.session.state import State
from sidecar.store.format.log_records import (
    AskedRecord,
    NoticeRecord,
    TurnEndedRecord,
    TurnStartedRecord,
)
from sidecar.store.format.record_codec import LogRecord, named_by
from sidecar.store.format.view_records import ModelChangedRecord, UndoneRecord, ViewRecord

Beside: TypeAlias = EpochChanged | Notice | TurnEnded
Shown: TypeAlias = tuple[Message, Part] | Beside


@dataclass(frozen=True, slots=True)
class Told:
    """An event of `at`, told when so many records were written; its `seq` is of that time."""

    records: int
    at: Millis
    event: Beside


@dataclass(slots=True)
class _Turn:
    """A turn, as far as its records were read."""

    message_id: MessageId
    asked: list[tuple[Usage, str | None]] = field(default_factory=list)


def told(state: State) -> Iterator[Told]:
    """Give what the conversation as it stands was accompanied by, oldest first.

    What belongs to turns that it left behind is left out, and so is a rewrite that went out of
    effect with them.
    """
    log, left = state.log, state.log.left
    standing = frozenset(state.views.standing_at(log.row.revision + 1))
    undone = {
        record.compaction_id
        for record in log.records
        if isinstance(record, UndoneRecord) and record.revision in standing
    }
    by_turn: dict[str, list[Message]] = {}
    for message in log:
        by_turn.setdefault(message.turn_id, []).append(message)
    turn = _Turn(MessageId(""))
    for number, record in enumerate((*log.records, *log.waiting)):
        event: Beside | None = None
        gone = turn.message_id in left
        if isinstance(record, TurnStartedRecord):
            turn = _Turn(record.message_id)
        elif isinstance(record, AskedRecord):
            turn.asked.append(asked_of(record))
        elif isinstance(record, TurnEndedRecord):
            messages = by_turn.get(record.turn_id)
            event = None if gone or not messages else _ended(state, record, turn, messages)
            turn = _Turn(MessageId(""))
        elif isinstance(record, NoticeRecord):
            event = None if gone else notice_of(log.row.id, record)
        elif isinstance(record, ModelChangedRecord):
            event = _for_a_model(state, record)
        elif isinstance(record, ViewRecord) and (
            record.revision in standing or record.compaction_id in undone
        ):
            event = _rewritten(state, record)
        if event is not None:
            yield Told(number, record.at, event)


def written(records: Sequence[LogRecord]) -> dict[MessageId, int]:
    """Say of messages how many records there were before the first that names them."""
    found: dict[MessageId, int] = {}
    for number, record in enumerate(records):
        for name in named_by(record):
            found.setdefault(name, number)
    return found


def _ended(
    state: State, record: TurnEndedRecord, turn: _Turn, messages: Sequence[Message]
) -> TurnEnded:
    turn_id = messages[0].turn_id
    ends = [p for m in messages for p in m.parts if isinstance(p, StepFinishPart)]
    usage, cost = spent(ends, turn.asked)
    reason = record.stop_reason
    error = None if record.error is None else to_builtins(record.error)
    about = state.log.row.id, 0, turn_id, turn.message_id or messages[0].id
    return TurnEnded(*about, reason, usage, cost, error)


def _for_a_model(state: State, record: ModelChangedRecord) -> EpochChanged | None:
    if record.tokens_before is None or record.tokens_after is None:
        return None
    sizes, name = (record.tokens_before, record.tokens_after), record.compaction_id
    return EpochChanged(state.log.row.id, 0, name, "completed", record.cause, *sizes)


def _rewritten(state: State, record: ViewRecord) -> EpochChanged | None:
    recorded = recorded_in(record)
    return (
        EpochChanged(
            state.log.row.id,
            0,
            recorded.rewrite.id,
            "undone" if isinstance(record, UndoneRecord) else "completed",
            recorded.rewrite.cause,
            recorded.tokens_before,
            recorded.tokens_after,
            recorded.price,
        )
        if recorded.opens
        else None
    )


async def replay(
    state: State, after: PartId | None, emit: Callable[[Event], Awaitable[None]]
) -> Callable[[], Iterator[Event]]:
    """Show the log through `emit`, oldest first: one update a part, and what came beside.

    Only what follows `after` is shown, where that is given and known: showing something twice is
    better than losing it. Withdrawn attempts and the daemon's own context blocks are not shown.
    Gives what gives the rest: what streams right now, and what has come while this was shown.
    """
    settled = tuple(m for m in state.log if m.status != "open")
    until = len(state.log.records)
    for event in _events(state, settled, (t for t in told(state) if t.records < until), after):
        await emit(event)
    known = {message.id for message in settled}

    def rest() -> Iterator[Event]:
        late = tuple(m for m in state.log if m.id not in known)
        return _events(state, late, (t for t in told(state) if t.records >= until), None)

    return rest


def _events(
    state: State, messages: Iterable[Message], beside: Iterable[Told], after: PartId | None
) -> Iterator[Event]:
    shown = list(_in_order(messages, beside, written(state.log.records)))
    ids = [one[1].id if isinstance(one, tuple) else None for one in shown]
    start = 0 if after is None or after not in ids else ids.index(after) + 1
    tools = {tool.name: tool for tool in state.view.static.tools}
    for one in shown[start:]:
        if isinstance(one, tuple):
            message, part = one
            yield from updates_of(message, part, state.channel, tools)
        else:
            yield replace(one, seq=state.channel.next_seq())


def _in_order(
    messages: Iterable[Message], beside: Iterable[Told], named: dict[MessageId, int]
) -> Iterator[Shown]:
    """Put what came beside between the messages; records say better than clocks what was first."""
    waiting = deque(beside)
    for message in messages:
        while waiting and not _follows(waiting[0], message, named):
            yield waiting.popleft().event
        if message.status != "discarded":
            yield from ((message, part) for part in message.parts)
    yield from (one.event for one in waiting)


def _follows(one: Told, message: Message, named: dict[MessageId, int]) -> bool:
    number = named.get(message.id)
    return one.at > message.created or (number is not None and number < one.records)
