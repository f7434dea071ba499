"""Checks every hash and reference; damage is reported, never raised."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import field
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId, SessionId
from sidecar.store.connection.store_faults import FAULTS, storage_failed
from sidecar.store.content.blobs import contents, get_blob
from sidecar.store.content.deltas import unpack_delta
from sidecar.store.content.fact_rows import decode_fact
from sidecar.store.content.outputs import gone
from sidecar.store.content.restores import unpack_steps
from sidecar.store.content.session_rows import damage, reader
from sidecar.store.content.trees import held_unfolded
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.migrations import MIGRATIONS, migrate, version
from sidecar.store.format.packing import ReadBlob
from sidecar.store.format.values import VerifyReport

RowPlace: TypeAlias = tuple[str, str]
"""A session, and in it `session`, `message:…`, `part:…` or `record:…`."""
Decode: TypeAlias = Callable[[bytes, ReadBlob], tuple[str, set[str]]]
"""Maps a body to its holder, and to blobs named but not contained."""


@dataclass(slots=True)
class VerifiedTally:
    """Counts and problems so far."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    referred: set[tuple[str, str, str]] = field(default_factory=set)
    """Session, holder and hash by the bodies, as in the reference table."""
    unread: set[RowPlace] = field(default_factory=set)
    """Unreadable rows, with unknown references."""


def verify(con: sqlite3.Connection) -> VerifyReport:
    tally = VerifiedTally()
    for check in (
        _file,
        _schema,
        _blobs,
        _sessions,
        _messages,
        _parts,
        _records,
        _references,
        _snapshots,
        _restores,
        _facts,
    ):
        try:
            check(con, tally)
        except FAULTS as error:
            # A damaged page ends one check; others may still succeed.
            what = check.__name__.strip("_")
            tally.problems.append(f"the check of {what} broke off: {storage_failed(error)}")
    seen = tally.counts
    return VerifyReport(
        sessions=seen.get("session", 0),
        messages=seen.get("message", 0),
        parts=seen.get("part", 0),
        records=seen.get("record", 0),
        blobs=seen.get("blob", 0),
        problems=tuple(tally.problems),
    )


def _file(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    for (line,) in con.execute("PRAGMA integrity_check"):
        if line != "ok":
            tally.problems.append(f"the file is damaged: {line}")
    for table, _, parent, _ in con.execute("PRAGMA foreign_key_check"):
        tally.problems.append(f"a row of table {table} belongs to no row of table {parent}")


def _schema(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    if version(con) > len(MIGRATIONS):
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh, MIGRATIONS[: version(con)], 0)
        # The word index depends on the SQLite that made the file.
        statement = (
            "SELECT name, sql FROM sqlite_master WHERE name NOT GLOB 'fact_text*' ORDER BY name"
        )
        if con.execute(statement).fetchall() != fresh.execute(statement).fetchall():
            tally.problems.append("the schema is damaged: it is not what its version should have")


def _blobs(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    names = con.execute(f"SELECT hash FROM {contents(con)}").fetchall()
    tally.counts["blob"] = len(names)
    for (name,) in names:
        try:
            get_blob(con, name)
        except BodyBroken as error:
            tally.problems.append(str(error))


def _sessions(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    for session_id, body, expected in con.execute("SELECT id, body, hash FROM session"):
        _body(con, tally, (session_id, "session"), (body, expected, ""), _read_session)


def _messages(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    for session_id, message_id, body, expected in con.execute(
        "SELECT session_id, id, body, hash FROM message"
    ):
        place = (session_id, f"message:{message_id}")
        _body(con, tally, place, (body, expected, ""), _read_message)


def _parts(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    for session_id, part_id, position, body, expected in con.execute(
        "SELECT session_id, id, position, body, hash FROM part"
    ):
        place = (session_id, f"part:{part_id}")
        _body(con, tally, place, (body, expected, str(position)), _read_part)


def _records(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    chained: tuple[str, str] = ("", "")
    for session_id, revision, body, expected in con.execute(
        "SELECT session_id, revision, body, hash FROM record ORDER BY session_id, revision"
    ):
        previous = chained[1] if chained[0] == session_id else ""
        place = (session_id, f"record:{revision}")
        _body(con, tally, place, (body, expected, previous), _read_record)
        chained = (session_id, expected)


def _references(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    recorded = set(con.execute("SELECT session_id, holder, hash FROM reference"))
    known = {name for (name,) in con.execute(f"SELECT hash FROM {contents(con)}")}
    for session_id, holder, name in sorted(recorded | tally.referred, key=repr):
        place = (session_id, holder)
        if place in tally.unread:
            continue
        if name not in known:
            tally.problems.append(f"{_name(place)} refers to blob {name}, which is missing")
        if (session_id, holder, name) not in recorded:
            tally.problems.append(f"{_name(place)} uses blob {name} without a reference to it")
        elif (session_id, holder, name) not in tally.referred:
            tally.problems.append(f"{_name(place)} has a reference to blob {name} but no use of it")


def _snapshots(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    bodies = con.execute("SELECT id, body FROM snapshot ORDER BY id")
    held = con.execute("SELECT snapshot_id, hash FROM holding").fetchall()
    _numbered(con, tally, "snapshot", bodies, unpack_delta, [*held, *held_unfolded(con)])


def _restores(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    bodies = con.execute("SELECT id, steps FROM restore ORDER BY id")
    held = con.execute("SELECT restore_id, hash FROM restore_blob")
    _numbered(con, tally, "restore", bodies, unpack_steps, held)


def _numbered(
    con: sqlite3.Connection,
    tally: VerifiedTally,
    what: str,
    bodies: Iterable[tuple[int, bytes]],
    unpack: Callable[[bytes], object],
    held: Iterable[tuple[int, str]],
) -> None:
    for number, body in bodies:
        try:
            unpack(body)
        except BodyBroken as error:
            tally.problems.append(f"{what} {number} cannot be read: {error}")
    known = {name for (name,) in con.execute(f"SELECT hash FROM {contents(con)}")}
    for number, name in held:
        if name not in known:
            tally.problems.append(f"{what} {number} holds blob {name}, which is missing")


def _facts(con: sqlite3.Connection, tally: VerifiedTally) -> None:
    for session_id, name, body, expected in con.execute(
        "SELECT session_id, id, body, hash FROM fact ORDER BY number"
    ):
        told = f"fact {name} of session {session_id}"
        tally.problems.extend(damage(told, body, expected))
        try:
            says, _ = decode_fact(body, con)
        except BodyBroken as error:
            tally.problems.append(f"{told} cannot be read: {error}")
        else:
            if says != name:
                tally.problems.append(f"{told} has the body of {says}")


def _body(
    con: sqlite3.Connection,
    tally: VerifiedTally,
    place: RowPlace,
    stored: tuple[bytes, str, str],
    decode: Decode,
) -> None:
    session_id, holder = place
    table = holder.partition(":")[0]
    tally.counts[table] = tally.counts.get(table, 0) + 1
    body, expected, previous = stored
    tally.problems.extend(damage(_name(place), body, expected, previous))
    names: set[str] = set()
    fetch = reader(con)

    def read(name: str) -> bytes:
        names.add(name)
        return fetch(name)

    try:
        says, outside = decode(body, read)
    except BodyBroken as error:
        tally.problems.append(f"{_name(place)} cannot be read: {error}")
        tally.unread.add(place)
        return
    if says != holder:
        tally.problems.append(f"{_name(place)} has the body of {says}")
    if outside and _went(con, session_id, holder):
        outside = set()
    tally.referred |= {(session_id, holder, name) for name in names | outside}


def _went(con: sqlite3.Connection, session_id: str, holder: str) -> bool:
    part_id = PartId(holder.partition(":")[2])
    return gone(con, SessionId(session_id), part_id) is not None


def _name(place: RowPlace) -> str:
    session_id, holder = place
    kind, _, name = str(holder).partition(":")
    return f"{kind} {name} of session {session_id}" if name else f"{kind} {session_id}"


def _read_session(body: bytes, read: ReadBlob) -> tuple[str, set[str]]:
    rows.decode_session(body, read)
    return "session", set()


def _read_message(body: bytes, read: ReadBlob) -> tuple[str, set[str]]:
    return f"message:{rows.decode_message(body, read).id}", set()


def _read_part(body: bytes, read: ReadBlob) -> tuple[str, set[str]]:
    part = rows.decode_part(body, read)
    return f"part:{part.id}", rows.blobs_of(part)


def _read_record(body: bytes, read: ReadBlob) -> tuple[str, set[str]]:
    return f"record:{rows.decode_record(body, read).revision}", set()
