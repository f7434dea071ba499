"""Restores and redos as records, and back."""

import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec import structs

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import ChangeSet
from sidecar.core.parts import MessageId, Millis
from sidecar.core.prompt.frames import in_context, within_frame
from sidecar.core.text.visible import clipped, visible
from sidecar.session.log import rewrite_records
from sidecar.session.log.change_records import ReadSets, sets_from_json, sets_to_json
from sidecar.session.log.rewrite_records import Recorded
from sidecar.store.format.log_records import TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.view_records import (
    FilesRestoredRecord,
    RestoreRecord,
    RestoreScope,
    RewriteRecord,
    TalkRestoredRecord,
)

MOST_NAMED = 10
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore or redo; `id` names the state before.

    `title` names the target, `undoes` a restore taken back, `newest` the newest message then.
    `left` and `back` are messages out of and into the conversation; `fates` pairs `(path, fate)`;
    `head` is the checkpoint afterwards.
    """

    id: str
    scope: RestoreScope
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


def written(
    restored: Restored, recorded: Recorded | None, standing: tuple[int, ...]
) -> RestoreRecord:
    """Makes a record without a revision.

    `recorded` is the view's change; `standing` revisions of view changes back in force.
    """
    files = FilesRestoredRecord(
        restore_id=restored.id,
        scope=restored.scope,
        title=restored.title,
        head=restored.head,
        newest=restored.newest,
        undoes=restored.undoes,
        left=restored.left,
        back=restored.back,
        fates=restored.fates,
        sets=sets_to_json(restored.sets),
    )
    if recorded is None:
        return files
    view = structs.asdict(rewrite_records.written(recorded, RewriteRecord))
    return TalkRestoredRecord(**{**view, **structs.asdict(files)}, standing=standing)


def restored_in(record: RestoreRecord, read: ReadSets = sets_from_json) -> Restored:
    return Restored(
        id=record.restore_id,
        scope=record.scope,
        title=record.title,
        head=record.head,
        newest=record.newest,
        undoes=record.undoes,
        left=record.left,
        back=record.back,
        sets=read(record.sets),
        fates=record.fates,
        revision=record.revision,
        at=record.at,
    )


def restores_in(
    records: Iterable[LogRecord], read: ReadSets = sets_from_json
) -> tuple[Restored, ...]:
    return tuple(
        restored_in(record, read) for record in records if isinstance(record, RestoreRecord)
    )


def with_news(context: str, records: Sequence[LogRecord]) -> str:
    """Adds a line for the model on restores since the last turn began."""
    told = within_frame(restore_news(records, "The user"))
    return in_context(told, before=context) if told else context


def restore_news(records: Sequence[LogRecord], who: str) -> str:
    """Sentences on restores since the last turn began, as done by `who`."""
    recent: list[Restored] = []
    late = takewhile(lambda record: not isinstance(record, TurnStartedRecord), reversed(records))
    for record in reversed([*late]):
        if isinstance(record, RestoreRecord):
            restored = restored_in(record)
            others = [one for one in recent if one.id != restored.undoes]
            # What was taken back before the model heard of it needs no word.
            recent = [*others, restored] if len(others) == len(recent) else others
    return " ".join(_line(one, who) for one in recent)


def _line(restored: Restored, who: str) -> str:
    changed = [path for path, fate in restored.fates if fate in ("restored", "merged")]
    partly = [path for path, fate in restored.fates if fate == "partly"]
    kept = [path for path, fate in restored.fates if fate in ("skipped", "conflict")]
    told = []
    if restored.left:
        told.append(f"{_count(restored.left)} no longer part of this conversation")
    if restored.back:
        told.append(f"{_count(restored.back)} part of it again")
    if changed:
        told.append(f"these files are as they were before: {_few(changed)}")
    if partly:
        told.append(f"some changes are taken out of these files, others stay: {_few(partly)}")
    if kept:
        told.append(f"left as they are: {_few(kept)}")
    what = "took a rollback back" if restored.undoes else "rolled back"
    return f"{who} {what}: {'; '.join(told)}."


def _count(ids: tuple[MessageId, ...]) -> str:
    return "1 message is" if len(ids) == 1 else f"{len(ids)} messages are"


def _few(paths: list[str]) -> str:
    more = len(paths) - MOST_NAMED
    return ", ".join(map(_name, paths[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _name(path: str) -> str:
    """Quoted: said in the user's words, no name may go on as a sentence."""
    return json.dumps(clipped(visible(path), LONGEST_NAME), ensure_ascii=False)
