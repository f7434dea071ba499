"""A session's history as all machines know it, and its pieces.

On a ref, records are numbered by place, without those that concern one machine alone, its own
marks of taking included: so histories compare whatever a machine redacted, retold or noted. A piece
is a bundle of what its ref did not hold before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sidecar.core.conversation.fact import Fact
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, PartId, SessionId
from sidecar.core.text.visible import mended, whole_letters
from sidecar.session.lifecycle.fork import ForkCut, cut_at
from sidecar.session.lifecycle.session_title import LONGEST_TITLE
from sidecar.session.sync.sync_plan import Relation
from sidecar.session.transfer.bundle_screen import odd
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.log_records import OURS, TurnEndedRecord, TurnStartedRecord
from sidecar.store.format.record_codec import read
from sidecar.store.format.rows import whole_output
from sidecar.store.format.values import Record, Stored

OF_HERE = frozenset({"notice", "ping", "refused"})
"""Kinds of records that concern one machine; they come at any time, and change no prompt."""
_TURNS = ("turn_started", "turn_ended")
_STANDING = "standing"
"""The one field of records that names revisions."""


@dataclass(frozen=True, slots=True)
class History:
    """Records without own marks, and each settled message's parts by id."""

    records: tuple[Record, ...]
    parts: Mapping[MessageId, frozenset[PartId]]


def settled_cut(stored: Stored) -> ForkCut:
    """Cuts before a running turn: what is behind may still change."""
    running = ""
    for record in stored.records:
        if record.kind in _TURNS:
            match read(record):
                case TurnStartedRecord(turn_id=name):
                    running = name
                case TurnEndedRecord():
                    running = ""
                case _:
                    pass
    first = next((n for n, m in enumerate(stored.messages) if m.turn_id == running), None)
    if first is None:
        return cut_at(stored, None)
    if first == 0:
        return ForkCut((), 0, None)
    return cut_at(stored, stored.messages[first - 1].id)


def history_here(stored: Stored, cut: ForkCut, name: str) -> History:
    """Of a session that is called `name` on its ref."""
    kept = (record for record in stored.records if record.revision <= cut.until)
    shared = (one for one in kept if one.kind not in OF_HERE and not _is_own_mark(one, name))
    return History(tuple(shared), _parts(cut.messages))


def history_of(bundle: Bundle) -> History:
    return History(bundle.records, _parts(bundle.messages))


def relation(here: History, there: History) -> Relation:
    """Compares records by kind and time, and which messages there are."""
    one, other = list(map(_mark, here.records)), list(map(_mark, there.records))
    least = min(len(one), len(other))
    if one[:least] != other[:least]:
        return "apart"
    if len(one) >= len(other):
        if not there.parts.keys() <= here.parts.keys():
            return "apart"
        return "same" if len(one) == len(other) else "ahead"
    return "behind" if here.parts.keys() <= there.parts.keys() else "apart"


def news_of(here: History, there: History | None) -> tuple[frozenset[MessageId], int]:
    """Tells which messages `there` lacks in whole or part, and from which record on."""
    known = {} if there is None else there.parts
    new = (
        name for name, parts in here.parts.items() if name not in known or not parts <= known[name]
    )
    return frozenset(new), 0 if there is None else len(there.records)


def piece_of(bundle: Bundle, here: History, start: int, name: str, known: Iterable[Fact]) -> Bundle:
    """Makes a piece of a bundle of new messages: records from `start` on, unknown facts."""
    places = {record.revision: place for place, record in enumerate(here.records, 1)}
    return replace(
        bundle,
        session=replace(bundle.session, id=SessionId(name), seq=0),
        records=numbered(here.records[start:], places),
        facts=new_facts(bundle, known),
    )


def joined(pieces: Sequence[Bundle]) -> Bundle:
    """Joins a ref's pieces. Raises BadRequest where one does not follow the other."""
    if not pieces:
        raise odd("it has no piece")
    messages: dict[MessageId, Message] = {}
    records: list[Record] = []
    outputs: dict[str, bytes] = {}
    gone = dict(pieces[0].gone)
    facts: dict[tuple[str, str, int], Fact] = {}
    owners: dict[PartId, MessageId] = {}
    files: dict[str, bytes] = {}
    for piece in pieces:
        check_parts(owners, piece.messages)
        files |= piece.files or {}
        messages |= {message.id: message for message in piece.messages}
        if [r.revision for r in piece.records] != [*_places(len(records), piece.records)]:
            raise odd("a piece of it does not follow the one before")
        records += piece.records
        outputs |= piece.outputs
        gone |= piece.gone
        facts |= {_fact_key(fact): fact for fact in piece.facts}
    named = {whole_output(part) for message in messages.values() for part in message.parts}
    last = pieces[-1]
    return Bundle(
        replace(last.session, title=_title(last.session.title), revision=len(records)),
        tuple(messages.values()),
        tuple(records),
        {name: data for name, data in outputs.items() if name in named},
        tuple(facts.values()),
        last.made,
        sum(piece.redacted for piece in pieces),
        {name: why for name, why in gone.items() if name in named and name not in outputs},
        files if any(piece.files is not None for piece in pieces) else None,
    )


def check_parts(owners: dict[PartId, MessageId], messages: Iterable[Message]) -> None:
    """Takes messages' parts into `owners`; raises BadRequest for a part of two messages.

    Storing it would take the part from the one that has it.
    """
    for message in messages:
        for part in message.parts:
            if owners.setdefault(part.id, message.id) != message.id:
                raise odd("two messages of it have one part")


def tail_of(bundle: Bundle, here: History, last: int) -> tuple[Record, ...]:
    """Numbers the records behind those that are here from revision `last` on."""
    known = len(here.records)
    numbers = {place: record.revision for place, record in enumerate(here.records, 1)}
    rest = bundle.records[known:]
    numbers |= {record.revision: last + n for n, record in enumerate(rest, 1)}
    return numbered(rest, numbers)


def numbered(records: Iterable[Record], numbers: Mapping[int, int]) -> tuple[Record, ...]:
    return tuple(_numbered(record, numbers) for record in records)


def new_facts(bundle: Bundle, known: Iterable[Fact]) -> tuple[Fact, ...]:
    said = {_fact_key(fact) for fact in known}
    return tuple(fact for fact in bundle.facts if _fact_key(fact) not in said)


def _numbered(record: Record, numbers: Mapping[int, int]) -> Record:
    body, standing = record.body, record.body.get(_STANDING)
    if isinstance(standing, list):
        kept = [numbers[one] for one in standing if isinstance(one, int) and one in numbers]
        body = {**body, _STANDING: list(kept)}
    return replace(record, revision=numbers[record.revision], body=body)


def _is_own_mark(record: Record, name: str) -> bool:
    body = record.body
    return record.kind == "imported" and (body.get("format"), body.get("from")) == (OURS, name)


def _title(text: str) -> str:
    return whole_letters(mended(text), LONGEST_TITLE)


def _parts(messages: Iterable[Message]) -> dict[MessageId, frozenset[PartId]]:
    return {message.id: frozenset(part.id for part in message.parts) for message in messages}


def _mark(record: Record) -> tuple[str, int]:
    return record.kind, record.at


def _places(before: int, records: Sequence[Record]) -> range:
    return range(before + 1, before + len(records) + 1)


def _fact_key(fact: Fact) -> tuple[str, str, int]:
    # Its words may be redacted there.
    return fact.kind, fact.source, fact.at
