"""Copies readable rows into a new store."""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import StorageFailed
from sidecar.core.parts import (
    Message,
    MessageId,
    Millis,
    Part,
    ReasoningPart,
    SessionId,
    TextPart,
    ToolPart,
)
from sidecar.store.connection import store_files
from sidecar.store.connection.store_faults import FAULTS, storage_failed
from sidecar.store.content.changes import apply
from sidecar.store.content.fact_rows import decode_fact, put_facts
from sidecar.store.content.session_rows import leaving
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.migrations import MIGRATIONS, NEWER, migrate
from sidecar.store.format.packing import decode_text
from sidecar.store.format.pages import read_pages
from sidecar.store.format.signatures import SQLITE
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    VerifyReport,
)
from sidecar.store.repair.rescued_tables import copy_gone, copy_snapshots, copy_tables
from sidecar.store.repair.salvage import Log, SalvagedRows, collect, logs
from sidecar.store.repair.verification import verify

NEW = "store.db.new"
SHARED = (0x40000002, 510)
"""Start and number of bytes locked by every connection."""
IN_USE = (
    "The store is in use, so it was not touched: a repair needs it alone. Close every editor that "
    "runs Sidecar and try again."
)
NOTHING = "There is no store in {folder}, so there is nothing to repair."


@dataclass(frozen=True, slots=True)
class Headless:
    """A session's remains; `cwd`: empty if lost."""

    id: SessionId
    cwd: str
    updated: Millis
    messages: tuple[Message, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Revive:
    """Makes lost sessions and messages."""

    session: Callable[[Headless], SessionRow]
    message: Callable[[MessageId, tuple[Part, ...], Headless], Message]


@dataclass(frozen=True, slots=True)
class Repaired:
    """Where the old store is now, the new one's content, losses."""

    aside: Path
    kept: VerifyReport
    lost: tuple[str, ...]
    """A sentence for each loss or difference."""


def repair(folder: Path, now: int, revive: Revive) -> Repaired:
    """Puts a store aside, and its readable content into a new one.

    Blocks, perhaps long. `now`: ms since 1970. After StorageFailed nothing has changed.
    """
    path = folder / store_files.NAME
    try:
        if not path.exists():
            raise StorageFailed(NOTHING.format(folder=folder), kind="io")
        with _alone(path) as handle:
            kept, lost = _build(folder, handle, now, revive)
            aside = _exchange(folder, now)
    except FAULTS as error:
        raise storage_failed(error) from error
    return Repaired(aside, kept, lost)


def _build(
    folder: Path, handle: int, now: int, revive: Revive
) -> tuple[VerifyReport, tuple[str, ...]]:
    new = folder / NEW
    for suffix in store_files.SUFFIXES:
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, store_files.FILE_MODE))
    pages = read_pages(handle, _log_of(folder))
    if _is_newer(pages.page(1) if pages.count else b""):
        raise StorageFailed(NEWER, kind="newer_schema")
    with closing(store_files.open_writer(new)) as con:
        migrate(con, MIGRATIONS, now)
        con.execute("BEGIN IMMEDIATE")
        con.execute("PRAGMA defer_foreign_keys = ON")
        made = collect(pages, con)
        lost = [*_lost_pages(made)]
        copy_gone(con, made)
        torn = not made.damaged.keys().isdisjoint(("message", "part", "schema"))
        gone = leaving(con)
        for name, log in sorted(logs(con, made.rows).items()):
            if name in gone:
                # Half removed, so the rest must not pass for a session.
                continue
            lost += _put_session(con, name, log, revive, torn=torn)
        lost += _put_facts(con, made)
        lost += copy_tables(con, made)
        lost += copy_snapshots(con, made)
        con.execute(
            """DELETE FROM blob WHERE
            NOT EXISTS (SELECT 1 FROM reference r WHERE r.hash = blob.hash)
            AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.hash = blob.hash)"""
        )
        con.execute("COMMIT")
        report = verify(con)
    return report, (*lost, *report.problems)


def _log_of(folder: Path) -> Path:
    # A repair killed at the very end has put the log aside already.
    store, log = folder / store_files.NAME, folder / (store_files.NAME + "-wal")
    for aside in (
        () if log.exists() else sorted((folder / store_files.ASIDE).glob("*"), reverse=True)
    ):
        kept = aside / store_files.NAME
        untouched = store.stat().st_mtime_ns <= aside.stat().st_mtime_ns
        if kept.exists() and kept.samefile(store) and untouched:
            return aside / log.name
    return log


def _is_newer(page: bytes) -> bool:
    return page.startswith(SQLITE) and (len(MIGRATIONS) < int.from_bytes(page[60:64], "big") < 1000)


def _lost_pages(made: SalvagedRows) -> Iterator[str]:
    if "schema" in made.damaged:
        yield (
            "the file's first page cannot be read, which says what stands where: what was found "
            "without it is kept, and what was deleted lately may be there again"
        )
    for table, count in made.damaged.items():
        if table != "schema":
            some = "a page" if count == 1 else f"{count} pages"
            yield f"{some} of the file cannot be read, where the table `{table}` stands"
    if made.broken_blobs:
        yield f"{made.broken_blobs} long texts, outputs or contents of files are damaged"


def _put_session(
    con: sqlite3.Connection, name: SessionId, log: Log, revive: Revive, *, torn: bool
) -> Iterator[str]:
    """Stores a session; yields losses. `torn`: more may be lost unseen."""
    records = tuple(log.records[revision] for revision in sorted(log.records))
    left = Headless(name, log.cwd, log.updated, _whole(log), records)
    heads = sorted({message_id for message_id, _, _ in log.parts.values()} - set(log.messages))
    for message_id in heads:
        _place(log, revive.message(message_id, _parts(log)[message_id], left))
    left = replace(left, messages=_whole(log))
    lost = [*log.notes, *_amiss(log, len(heads))]
    told, row = f"session {name}", log.row
    if row is None and not left.messages:
        yield f"{told} is lost: nothing of it can be read"
        return
    if row is None:
        row = revive.session(left)
        lost.insert(0, "its title, settings and cost are lost; what was said in it is kept")
    last = max((record.revision for record in records), default=0)
    if last < row.revision:
        lost.append(f"its log ends at revision {last} instead of {row.revision}")
    if row.title:
        told = f"{told} ({row.title!r:.60})"
    yield from (f"{told}: {line}" for line in lost)
    apply(con, PutSession(replace(row, revision=max(row.revision, last))))
    _put_messages(con, left, signed=not (torn or lost))
    for record in records:
        apply(con, AppendRecord(name, record))


def _put_messages(con: sqlite3.Connection, left: Headless, *, signed: bool) -> None:
    for message in left.messages:
        apply(con, PutMessage(left.id, replace(message, parts=())))
        for at, part in enumerate(message.parts):
            kept = part
            if isinstance(part, ReasoningPart | TextPart | ToolPart) and not signed:
                # A signature is valid only for exactly the messages before.
                kept = replace(part, metadata={})
            apply(con, PutPart(left.id, message.id, at, kept))


def _amiss(log: Log, heads: int) -> Iterator[str]:
    if heads:
        yield f"of {heads} messages it is a guess to which turn they belong"
    if gone := len(log.indexed - set(log.messages)):
        yield f"{gone} messages are lost"
    if lacking := _lacking(log):
        yield f"parts of {lacking} messages are lost"


def _whole(log: Log) -> tuple[Message, ...]:
    parts = _parts(log)
    return tuple(
        replace(message, parts=parts.get(name, ())) for name, message in log.messages.items()
    )


def _lacking(log: Log) -> int:
    # Parts are numbered from 0, so that gaps show.
    found: dict[MessageId, set[int]] = {
        name: set() for name, message in log.messages.items() if message.role == "user"
    }
    for message_id, at, _ in log.parts.values():
        found.setdefault(message_id, set()).add(at)
    return sum(not places or max(places) >= len(places) for places in found.values())


def _place(log: Log, message: Message) -> None:
    # Ids rise with time.
    order = list(log.messages.values())
    before = [at for at, one in enumerate(order) if one.id < message.id]
    order.insert(before[-1] + 1 if before else 0, message)
    log.messages = {one.id: one for one in order}


def _parts(log: Log) -> dict[MessageId, tuple[Part, ...]]:
    found: dict[MessageId, tuple[Part, ...]] = {}
    for message_id, _, part in sorted(log.parts.values(), key=lambda p: (p[0], p[1], p[2].id)):
        found[message_id] = (*found.get(message_id, ()), part)
    return found


def _put_facts(con: sqlite3.Connection, made: SalvagedRows) -> Iterator[str]:
    lost = 0
    for row in made.rows.get("fact", ()):
        match row:
            case (int(), str(name), str(), bytes(cwd), *_, bytes(body), str()):
                try:
                    folder, (_, fact) = decode_text(cwd), decode_fact(body, con)
                except BodyBroken:
                    lost += 1
                else:
                    put_facts(con, SessionId(name), folder, [fact])
            case _:
                pass
    if lost:
        yield f"{lost} facts that sessions had learned are lost"


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        start, length = SHARED
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except BlockingIOError as error:
            raise StorageFailed(IN_USE, kind="io") from error
        yield handle
    finally:
        os.close(handle)


def _exchange(folder: Path, now: int) -> Path:
    parent = folder / store_files.ASIDE
    store_files.make_folder(parent)
    aside = parent / str(now)
    store_files.make_folder(aside)
    for suffix in ("", "-wal"):
        old = folder / (store_files.NAME + suffix)
        if old.exists():
            os.link(old, aside / old.name)
    store_files.sync_folder(aside)
    # Remove the old log first, or SQLite would take that for the new file's.
    for suffix in ("-wal", "-shm"):
        (folder / (store_files.NAME + suffix)).unlink(missing_ok=True)
    try:
        (folder / NEW).replace(folder / store_files.NAME)
    except OSError:
        log = aside / (store_files.NAME + "-wal")
        if log.exists():
            os.link(log, folder / log.name)
        raise
    store_files.sync_folder(folder)
    return aside
