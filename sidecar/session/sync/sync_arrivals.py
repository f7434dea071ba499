"""Takes in what other machines sent, with an import's distrust: a new session, or one's next turns.

Nothing that arrives brings rules, permissions, a folder or words of the system's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, Message, Millis, PatchPart, SessionId
from sidecar.session.environment import Environment
from sidecar.session.session_settings import synced_as
from sidecar.session.sync.sync_history import History, check_parts, new_facts, tail_of
from sidecar.session.transfer.archive import gone_outputs
from sidecar.session.transfer.bundle_export import ALL
from sidecar.session.transfer.bundle_import import Imported, head_of, take_screened
from sidecar.session.transfer.bundle_screen import Screened, screened
from sidecar.session.transfer.import_trial import ImportWork, store_tried
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.log_records import OURS, ImportedRecord
from sidecar.store.format.record_codec import write
from sidecar.store.format.rows import blobs_of, whole_output
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
from sidecar.store.format.view_records import EpochRecord

EPOCH = str(EpochRecord.__struct_config__.tag)


async def check_new(
    environment: Environment, bundle: Bundle, folder: str, *, snapshots: bool
) -> None:
    """Raises as `take_new` would for what cannot be taken in."""
    here = await head_of(environment, folder)
    await ImportWork().run(lambda: screened(bundle, here, snapshots=snapshots))


async def take_new(
    environment: Environment, bundle: Bundle, name: str, folder: str, *, snapshots: bool = False
) -> Imported:
    """Makes a session of a ref's bundle, working in `folder`; with what it says of files, if so.

    Raises BadRequest for what no Sidecar sent, StorageFailed; nothing was stored then.
    """
    work, here = ImportWork(), await head_of(environment, folder)
    named = replace(bundle, session=replace(bundle.session, id=SessionId(name)))
    screen = await work.run(lambda: screened(named, here, snapshots=snapshots))
    return await take_screened(environment, work, screen, folder, name)


async def take_on(
    environment: Environment,
    stored: Stored,
    here: History,
    bundle: Bundle,
    *,
    snapshots: bool = False,
) -> SessionRow:
    """Appends to a session, whose lease the caller has, what `bundle` has behind it.

    What is here stays as it is, model and other settings included: they say where words go.
    Raises as `take_new`.
    """
    work, head = ImportWork(), await head_of(environment, stored.session.cwd)
    screen = await work.run(lambda: screened(bundle, head, snapshots=snapshots))
    now = environment.clock.now()
    arrival = await work.run(lambda: _arrival(now, stored, here, screen))
    known = await environment.store.facts.find(session_id=stored.session.id, limit=ALL)
    facts = new_facts(screen.bundle, [one.fact for one in known])
    heard = tuple(replace(fact, who="tool") for fact in facts)

    def changes() -> Sequence[StoreChange]:
        row = arrival.row
        made = [*_changes(arrival, screen.bundle)]
        return [*made, PutFacts(row.id, row.id, heard)] if heard else made

    whole = Stored(
        arrival.row,
        (*stored.messages, *arrival.messages),
        (*stored.records, *arrival.records),
    )
    await store_tried(environment, work, whole, changes)
    return arrival.row


@dataclass(frozen=True, slots=True)
class _Arrival:
    """The session's row afterwards, new messages and records, and late parts of known messages."""

    row: SessionRow
    messages: tuple[Message, ...]
    records: tuple[Record, ...]
    late: tuple[PutPart, ...]


def _arrival(now: Millis, stored: Stored, here: History, screen: Screened) -> _Arrival:
    bundle, old = screen.bundle, stored.session
    check_parts({part.id: m.id for m in stored.messages for part in m.parts}, bundle.messages)
    known = {message.id: message for message in stored.messages}
    messages = tuple(message for message in bundle.messages if message.id not in known)
    last = stored.records[-1].revision
    tail = _with_own_head(tail_of(bundle, here, last), stored.records)
    end = (tail[-1].revision if tail else last) + 1
    # All up to here counts as heard from elsewhere: nobody here saw who typed it.
    mark = ImportedRecord(revision=end, at=now, format=OURS, source=synced_as(old))
    row = replace(
        old,
        title=bundle.session.title or old.title,
        updated=max(now, old.updated),
        revision=end,
        turns=len({message.turn_id for message in (*stored.messages, *messages)}),
        cost=bundle.session.cost,
    )
    late = tuple(
        PutPart(row.id, message.id, len(known[message.id].parts) + n, part)
        for message in bundle.messages
        if message.id in known
        for n, part in enumerate(_late(known[message.id], message))
    )
    return _Arrival(row, messages, (*tail, write(mark)), late)


def _with_own_head(tail: Iterable[Record], own: Sequence[Record]) -> tuple[Record, ...]:
    """Keeps the session's tools and system text, whatever epochs arrive."""
    newest = next((record.body for record in reversed(own) if record.kind == EPOCH), None)
    if newest is None:
        return tuple(tail)
    head: JsonObject = {name: newest[name] for name in ("tools", "system") if name in newest}
    return tuple(
        replace(one, body={**one.body, **head}) if one.kind == EPOCH else one for one in tail
    )


def _late(known: Message, message: Message) -> list[PatchPart]:
    # Changes of files are noticed after an answer's end, too. No other part comes late.
    ids = {part.id for part in known.parts}
    return [p for p in message.parts if isinstance(p, PatchPart) and p.id not in ids]


def _changes(arrival: _Arrival, bundle: Bundle) -> list[StoreChange]:
    row, changes = arrival.row, list[StoreChange]([PutSession(arrival.row)])
    new = [part for message in arrival.messages for part in message.parts]
    names = {whole_output(part) for part in new}
    changes += [PutBlob(name, data) for name, data in bundle.outputs.items() if name in names]
    late = (put.part for put in arrival.late)
    kept = {name for part in (*new, *late) for name in blobs_of(part)} - names
    changes += [PutBlob(name, data) for name, data in (bundle.files or {}).items() if name in kept]
    for message in arrival.messages:
        changes.append(PutMessage(row.id, replace(message, parts=())))
        changes += gone_outputs(row.id, message, bundle)
        changes += [PutPart(row.id, message.id, n, part) for n, part in enumerate(message.parts)]
    changes += arrival.late
    return [*changes, *(AppendRecord(row.id, record) for record in arrival.records)]
