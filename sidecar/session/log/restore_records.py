"""Going back, and forth again, as records of the log: what left the conversation, what moved."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from sidecar.core.files.changeset import ChangeSet
from sidecar.core.parts import Json, JsonObject, MessageId, Millis
from sidecar.core.text.visible import visible
from sidecar.session.log.change_records import ReadSets, sets_from_json, sets_to_json
from sidecar.session.log.session_log import RESTORED
from sidecar.store.format.values import Record

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Restored:
    """One time that a session went back, or forth again.

    `id` names the state before it. `undoes` is the restore that it took back. `newest` was the
    newest message of the log then; `left` went out of the conversation and `back` came into it
    again. `sets` are what it did to files, and `fates` how each path fared. `head` is the
    checkpoint where the session stands afterwards. `title` says what it went back to.
    """

    id: str
    scope: str
    title: str
    head: str | None
    newest: MessageId | None
    undoes: str | None = None
    left: tuple[MessageId, ...] = ()
    back: tuple[MessageId, ...] = ()
    sets: tuple[ChangeSet, ...] = ()
    fates: tuple[tuple[str, str], ...] = ()
    revision: int = 0
    at: Millis = 0


def to_json(restored: Restored) -> JsonObject:
    """Give the body of the record, beside what a rewrite of the view puts there."""
    fates: list[Json] = [[path, fate] for path, fate in restored.fates]
    return {
        "restoreId": restored.id,
        "scope": restored.scope,
        "title": restored.title,
        "head": restored.head,
        "newest": restored.newest,
        "undoes": restored.undoes,
        "left": list(restored.left),
        "back": list(restored.back),
        "sets": sets_to_json(restored.sets),
        "fates": fates,
    }


def from_record(record: Record, read: ReadSets = sets_from_json) -> Restored:
    """Read a record whose body has what `to_json` gave."""
    body = record.body
    newest, undoes, head = body["newest"], body["undoes"], body["head"]
    return Restored(
        str(body["restoreId"]),
        str(body["scope"]),
        str(body["title"]),
        None if head is None else str(head),
        None if newest is None else MessageId(str(newest)),
        None if undoes is None else str(undoes),
        _ids(body["left"]),
        _ids(body["back"]),
        read(body["sets"]),
        tuple((path, fate) for path, fate in cast("list[tuple[str, str]]", body["fates"])),
        record.revision,
        record.at,
    )


def is_restore(record: Record) -> bool:
    """Whether a record is one of going back."""
    return record.kind == RESTORED


def _ids(names: Json) -> tuple[MessageId, ...]:
    return tuple(MessageId(name) for name in cast("list[str]", names))


def news(records: Iterable[Record]) -> str:
    """Say in one line what was rolled back since the last turn began; empty where nothing was."""
    recent: list[Restored] = []
    for record in records:
        if record.kind == "turn_started":
            recent = []
        elif is_restore(record):
            restored = from_record(record)
            others = [one for one in recent if one.id != restored.undoes]
            # What was taken back before the model heard of it needs no word.
            recent = [*others, restored] if len(others) == len(recent) else others
    return " ".join(map(_line, recent))


def with_news(context: str, records: Iterable[Record]) -> str:
    """Add to a user message's context what was rolled back before it."""
    line = news(records)
    if not line:
        return context
    start = context.removesuffix("\n</context>") or "<context>"
    return "\n".join((start, line.replace("</context", "<\\/context"), "</context>"))


def _line(restored: Restored) -> str:
    changed = [path for path, fate in restored.fates if fate in ("restored", "merged")]
    kept = [path for path, fate in restored.fates if fate not in ("restored", "merged")]
    told = []
    if restored.left:
        told.append(f"{_count(restored.left)} no longer part of this conversation")
    if restored.back:
        told.append(f"{_count(restored.back)} part of it again")
    if changed:
        told.append(f"these files are as they were before: {_few(changed)}")
    if kept:
        told.append(f"left as they are: {_few(kept)}")
    what = "took a rollback back" if restored.undoes else "rolled back"
    return f"The user {what}: {'; '.join(told)}."


def _count(ids: tuple[MessageId, ...]) -> str:
    return "1 message is" if len(ids) == 1 else f"{len(ids)} messages are"


def _few(paths: list[str]) -> str:
    more = len(paths) - MOST_NAMED
    return ", ".join(map(visible, paths[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
