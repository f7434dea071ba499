"""The schema's steps: from the oldest file on, whole or not at all, by many at once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sidecar.core.parts import MessageId, PartId, SessionId, TextPart
from sidecar.core.text.digest import digest
from sidecar.store.connection import store_files
from sidecar.store.content.blobs import put_blob
from sidecar.store.format.migrations import MIGRATIONS, WITH_RECENT, Migration, migrate, version
from sidecar.store.journal import Store
from tests.store.contents import kept
from tests.store.on_disk import store_file
from tests.store.samples import NOW, open_store

VERSION_1 = """
PRAGMA journal_mode = WAL;
CREATE TABLE migration (
            name TEXT PRIMARY KEY, at INTEGER NOT NULL
        );
CREATE TABLE session (
            id TEXT PRIMARY KEY, cwd BLOB NOT NULL, updated INTEGER NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL
        );
CREATE INDEX session_by_time ON session (updated, id);
CREATE INDEX session_by_cwd ON session (cwd, updated, id);
CREATE TABLE message (
            number INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES session (id), id TEXT NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL,
            UNIQUE (session_id, id)
        );
CREATE TABLE part (
            session_id TEXT NOT NULL, id TEXT NOT NULL, message_id TEXT NOT NULL,
            position INTEGER NOT NULL, body BLOB NOT NULL, hash TEXT NOT NULL,
            PRIMARY KEY (session_id, id),
            FOREIGN KEY (session_id, message_id) REFERENCES message (session_id, id)
        ) WITHOUT ROWID;
CREATE TABLE record (
            session_id TEXT NOT NULL REFERENCES session (id), revision INTEGER NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL,
            PRIMARY KEY (session_id, revision)
        ) WITHOUT ROWID;
CREATE TABLE blob (
            hash TEXT PRIMARY KEY, size INTEGER NOT NULL, encoding TEXT NOT NULL,
            data BLOB NOT NULL
        );
CREATE TABLE reference (
            session_id TEXT NOT NULL REFERENCES session (id), holder TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (session_id, holder, hash)
        ) WITHOUT ROWID;
CREATE INDEX reference_by_hash ON reference (hash);
CREATE TABLE lease (
            session_id TEXT PRIMARY KEY, token TEXT NOT NULL, pid INTEGER NOT NULL,
            host TEXT NOT NULL, started TEXT NOT NULL, heartbeat INTEGER NOT NULL
        );
INSERT INTO migration VALUES ('sessions_and_log', 1);
PRAGMA user_version = 1;
"""
"""Word for word what version 1 made: never edit it, whatever becomes of the schema."""

# Bodies as version 1 wrote them: msgpack maps behind the tag.
SESSION = bytes.fromhex(
    "6d70313a8aa26964a57365735f31a3637764a22f77a57469746c65a154a76372656174656401"
    "a77570646174656402a87265766973696f6e03a373657104a57475726e7305a4636f7374a4"
    "302e3235a873657474696e6773a77b2261223a317d"
)
MESSAGE = bytes.fromhex(
    "6d70313a86a26964a56d73675f31a47475726ea67475726e5f31a4726f6c65a475736572"
    "a76372656174656401a6737461747573a8636f6d706c657465a56d6f64656ca0"
)
# Its text is the extension 1, the hash of a blob.
TEXT = "hello " * 300
PART = (
    bytes.fromhex("6d70313a84a26964a66d5f70617274a474797065a474657874a474657874c72b01")
    + digest(TEXT.encode()).encode()
    + bytes.fromhex("a6736f75726365a57479706564")
)
RECORDS = [
    bytes.fromhex(
        "6d70313a84a87265766973696f6e" + number + "a46b696e64a17aa2617401a4626f6479a27b7d"
    )
    for number in ("01", "02")
]


def version_1(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as con:
        con.executescript(VERSION_1)
        add = con.execute
        add("INSERT INTO session VALUES ('ses_1', x'2f77', 2, ?, ?)", (SESSION, digest(SESSION)))
        add("INSERT INTO message VALUES (1, 'ses_1', 'msg_1', ?, ?)", (MESSAGE, digest(MESSAGE)))
        add(
            "INSERT INTO part VALUES ('ses_1', 'm_part', 'msg_1', 0, ?, ?)",
            (PART, digest(PART, "0")),
        )
        name = digest(TEXT.encode())
        add("INSERT INTO blob VALUES (?, ?, 'raw', ?)", (name, len(TEXT), TEXT.encode()))
        add("INSERT INTO reference VALUES ('ses_1', 'part:m_part', ?)", (name,))
        first = digest(RECORDS[0])
        second = digest(RECORDS[1], first)
        add("INSERT INTO record VALUES ('ses_1', 1, ?, ?)", (RECORDS[0], first))
        add("INSERT INTO record VALUES ('ses_1', 2, ?, ?)", (RECORDS[1], second))


async def test_the_oldest_file_is_read_and_written(tmp_path: Path) -> None:
    version_1(store_file(tmp_path))
    store = open_store(tmp_path)
    stored = await store.logs.load(SessionId("ses_1"))
    assert stored.problems == ()
    assert stored.session.settings == {"a": 1}
    assert (stored.session.revision, stored.session.cost) == (3, "0.25")
    (message,) = stored.messages
    assert message.id == MessageId("msg_1")
    assert message.parts == (TextPart(PartId("m_part"), TEXT, "typed"),)
    assert [(r.revision, r.kind) for r in stored.records] == [(1, "z"), (2, "z")]
    assert (await store.verify()).problems == ()
    await store.delete(SessionId("ses_1"))
    report = await store.verify()
    assert (report.blobs, report.problems) == (0, ())
    await store.close()


async def test_an_older_file_is_looked_at_as_it_is(tmp_path: Path) -> None:
    version_1(store_file(tmp_path))
    store = Store.look(tmp_path, now=lambda: NOW)
    assert await kept(store, TEXT.encode()) == TEXT.encode()
    assert await kept(store, b"missing") is None
    await store.close()


async def test_a_file_without_a_small_table_is_weighed_and_verified_as_it_is(
    tmp_path: Path,
) -> None:
    with closing(store_files.open_writer(store_files.prepare(tmp_path))) as con:
        migrate(con, MIGRATIONS[: WITH_RECENT - 1], NOW)
        put_blob(con, digest(b"a file"), b"a file")
    store = Store.look(tmp_path, now=lambda: NOW)
    assert (await store.keeping.weigh()).snapshots == len(b"a file")
    report = await store.verify()
    assert (report.blobs, report.problems) == (1, ())
    await store.close()


def tables(con: sqlite3.Connection) -> set[str]:
    return {name for (name,) in con.execute("SELECT name FROM sqlite_master")}


def _more(con: sqlite3.Connection) -> None:
    con.execute("CREATE TABLE more (x)")


def _broken(con: sqlite3.Connection) -> None:
    con.execute("CREATE TABLE half (x)")
    con.execute("UPDATE session SET updated = 99")
    con.execute("CREATE TABLE half (x)")


def test_a_step_and_its_record_commit_together_or_not_at_all(tmp_path: Path) -> None:
    version_1(store_file(tmp_path))
    steps: tuple[Migration, ...] = (*MIGRATIONS, ("more", _more), ("broken", _broken))
    with closing(store_files.open_writer(store_file(tmp_path))) as con:
        with pytest.raises(sqlite3.OperationalError):
            migrate(con, steps, 7)
        known = len(MIGRATIONS) + 1
        assert version(con) == known
        assert "more" in tables(con)
        assert "half" not in tables(con)
        assert con.execute("SELECT updated FROM session").fetchone() == (2,)
        names = [name for (name,) in con.execute("SELECT name FROM migration ORDER BY rowid")]
        assert names == [name for name, _ in steps[:known]]


def test_many_migrate_at_once_and_each_step_is_taken_once(tmp_path: Path) -> None:
    path = store_files.prepare(tmp_path)
    steps: tuple[Migration, ...] = (*MIGRATIONS, ("more", _more))

    def one(_: int) -> int:
        with closing(store_files.open_writer(path)) as con:
            store_files.patiently(lambda: migrate(con, steps, 7))
            return version(con)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(16))) == {len(steps)}


def test_a_newer_file_is_not_migrated(tmp_path: Path) -> None:
    path = store_files.prepare(tmp_path)
    with closing(store_files.open_writer(path)) as con:
        con.execute("PRAGMA user_version = 99")
        migrate(con, MIGRATIONS, 7)
        assert version(con) == 99
        assert tables(con) == set()
