"""A log as restorable states, abandoned branches too."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from sidecar.core.conversation.turns import first_line
from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import ChangeSet
from sidecar.core.parts import Message, MessageId, Millis, PatchPart, TextPart, TurnId
from sidecar.core.text.visible import visible
from sidecar.session.log.change_records import ReadSets, patch_of, sets_from_json, shown
from sidecar.session.log.restore_records import Restored, restores_in
from sidecar.store.format.record_codec import LogRecord, comes_with

CheckpointKind: TypeAlias = Literal["turn", "step", "restore"]
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A message or restore with its file changes; `told` if a message has a patch part.

    `untold`: files changed, and what is not known, as it did not come from another machine.
    """

    of: Message | Restored
    sets: tuple[ChangeSet, ...]
    told: bool
    untold: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """A state: conversation before event `talk`, files before `files`, view before `revision`."""

    talk: int
    files: int
    revision: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named point; `sets` are the changes just before, `message_id` the nearest message."""

    id: str
    kind: CheckpointKind
    turn_id: TurnId
    message_id: MessageId
    at: Millis
    title: str
    sets: tuple[ChangeSet, ...]
    point: Point


class Timeline:
    """Orders messages and restores by time; `read` decodes change sets."""

    def __init__(
        self,
        messages: Sequence[Message],
        records: Sequence[LogRecord],
        read: ReadSets = sets_from_json,
    ) -> None:
        self._records = records
        restores = restores_in(records, read)
        self.events = tuple(_event(one, read) for one in _in_order(messages, restores))
        self._naming = _naming(records)
        self._at = {event.of.id: place for place, event in enumerate(self.events)}
        self.checkpoints = tuple(self._checkpoints())

    @property
    def head(self) -> str | None:
        return self.head_before(len(self.events))

    def head_before(self, place: int) -> str | None:
        named = {c.message_id: c.id for c in self.checkpoints if c.kind != "restore"}
        for event in reversed(self.events[:place]):
            if isinstance(event.of, Restored):
                if event.of.scope != "files":
                    return event.of.head
            elif event.of.id in named:
                return named[event.of.id]
        return None

    def checkpoint(self, name: str) -> Checkpoint | None:
        return next((c for c in self.checkpoints if c.id == name), None)

    def before(self, message_id: MessageId) -> Point | None:
        """Returns the state before a message, but with the user's file changes until then."""
        place = self._at.get(message_id)
        if place is None:
            return None
        message = self.events[place].of
        opens = isinstance(message, Message) and message.role == "user"
        return Point(place, place + 1 if opens else place, self._named(place)[0])

    def restore(self, name: str | None) -> tuple[int, Restored] | None:
        for place in range(len(self.events) - 1, -1, -1):
            restored = self.events[place].of
            if isinstance(restored, Restored) and name in (None, restored.id):
                return place, restored
        return None

    def since(self, place: int) -> tuple[ChangeSet, ...]:
        return tuple(one for event in self.events[place:] for one in event.sets)

    def follows_files(self, place: int) -> bool:
        """Whether an earlier message has a patch, and all later changes are known."""
        known = any(event.told for event in self.events[:place])
        return known and not any(event.untold for event in self.events[place:])

    def beside(self, place: int) -> tuple[str, ...] | None:
        """Names what snapshots left out as the turn before `place` began; `None` if unknown."""
        for event in reversed(self.events[:place]):
            if not isinstance(event.of, Restored):
                for part in event.of.parts:
                    if isinstance(part, PatchPart) and "beside" in part.detail:
                        return patch_of(part).beside
        return None

    def talk(self, place: int) -> tuple[MessageId, ...]:
        """Returns the conversation before event `place`."""
        order = {event.of.id: at for at, event in enumerate(self.events)}
        current: dict[MessageId, None] = {}
        for event in self.events[:place]:
            if isinstance(event.of, Restored):
                for name in event.of.left:
                    current.pop(name, None)
                current.update(dict.fromkeys(event.of.back))
            else:
                current[event.of.id] = None
        return tuple(sorted(current, key=lambda name: order.get(name, 0)))

    def _named(self, place: int) -> tuple[int, int]:
        event = self.events[place].of
        if isinstance(event, Restored):
            return event.revision, event.revision
        found = self._naming.get(event.id)
        if found is None:
            # What was typed too late for its turn came with the record of the turn's end.
            late = (record.revision for record in self._records if record.at >= event.created)
            revision = next(late, self._records[-1].revision + 1 if self._records else 1)
            found = (revision, revision)
        return found

    def _before(self, restored: Restored) -> str:
        forth, one = False, restored
        while one.undoes is not None and (found := self.restore(one.undoes)) is not None:
            forth, one = not forth, found[1]
        done = "taking back the return to" if forth else "going back to"
        return f"Before {done}: {restored.title}"

    def _checkpoints(self) -> Iterator[Checkpoint]:
        turns: set[TurnId] = set()
        last: Message | None = None
        for place, event in enumerate(self.events):
            match event.of:
                case Restored(id=name, at=at):
                    turn, message = ("", "") if last is None else (last.turn_id, last.id)
                    point = Point(place, place, self._named(place)[0])
                    about = TurnId(turn), MessageId(message), at, self._before(event.of)
                    yield Checkpoint(name, "restore", *about, event.sets, point)
                case Message() as message:
                    last = message
                    opens = message.turn_id not in turns and message.role == "user"
                    turns.add(message.turn_id)
                    kind: CheckpointKind = "turn" if opens else "step"
                    if not opens and not event.sets:
                        continue
                    first, last_named = self._named(place)
                    if opens:
                        point = Point(place, place + 1, first)
                    else:
                        point = Point(place + 1, place + 1, last_named + 1)
                    title = first_line([message]) if opens else _title(event.sets)
                    about = message.turn_id, message.id, message.created, title
                    yield Checkpoint(f"cp_{message.id}", kind, *about, event.sets, point)


def typed(message: Message) -> str:
    texts = (p for p in message.parts if isinstance(p, TextPart))
    return "\n\n".join(part.text for part in texts if part.source in ("typed", "steer"))


def _in_order(
    messages: Sequence[Message], restores: Sequence[Restored]
) -> Iterator[Message | Restored]:
    waiting = list(restores)
    known = {message.id for message in messages}

    def due(message: Message | None) -> bool:
        first = waiting[0]
        if first.newest in known or first.newest is None:
            return first.newest in passed or first.newest is None
        return message is None or first.at <= message.created

    passed: set[MessageId] = set()
    for message in messages:
        while waiting and due(message):
            yield waiting.pop(0)
        passed.add(message.id)
        yield message
    yield from waiting


def _event(of: Message | Restored, read: ReadSets) -> TimelineEvent:
    if isinstance(of, Restored):
        acted = any(fate in ("restored", "merged", "partly") for _, fate in of.fates)
        return TimelineEvent(of, of.sets, False, acted and not of.sets)
    patches = [part for part in of.parts if isinstance(part, PatchPart)]
    found = [patch_of(part, read) for part in patches if part.detail]
    untold = any(part.files and not part.detail for part in patches)
    sets = tuple(one for patch in found for one in patch.sets)
    return TimelineEvent(of, sets, bool(found), untold)


def _naming(records: Sequence[LogRecord]) -> Mapping[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for record in records:
        for name in comes_with(record):
            first, _ = found.get(name, (record.revision, 0))
            found[name] = (first, record.revision)
    return found


def _title(sets: Sequence[ChangeSet]) -> str:
    changes = [change for one in sets for change in one.changes]
    own = [change for change in changes if change.author != "user"] or changes
    paths = list(dict.fromkeys(change.path for change in own))
    more = len(paths) - MOST_NAMED
    told = ", ".join(visible(shown(path)) for path in paths[:MOST_NAMED])
    return f"Changed {told}" + (f" and {more} more" if more > 0 else "")
