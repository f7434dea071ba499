"""The schema as steps, never edited once released; `user_version` counts steps taken."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgpack

NEWER = (
    "The store was written by a newer Sidecar. It is open for reading only and nothing was "
    "changed: update this Sidecar, or set SIDECAR_DATA_DIR to another folder."
)

Migration: TypeAlias = tuple[str, Callable[[sqlite3.Connection], None]]


def _sessions_and_log(con: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE migration (
            name TEXT PRIMARY KEY, at INTEGER NOT NULL
        )""",
        # A path may hold bytes other than UTF-8; SQLite text may not.
        """CREATE TABLE session (
            id TEXT PRIMARY KEY, cwd BLOB NOT NULL, updated INTEGER NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL
        )""",
        "CREATE INDEX session_by_time ON session (updated, id)",
        "CREATE INDEX session_by_cwd ON session (cwd, updated, id)",
        # `number` rises with each insert, and so orders the messages.
        """CREATE TABLE message (
            number INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES session (id), id TEXT NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL,
            UNIQUE (session_id, id)
        )""",
        """CREATE TABLE part (
            session_id TEXT NOT NULL, id TEXT NOT NULL, message_id TEXT NOT NULL,
            position INTEGER NOT NULL, body BLOB NOT NULL, hash TEXT NOT NULL,
            PRIMARY KEY (session_id, id),
            FOREIGN KEY (session_id, message_id) REFERENCES message (session_id, id)
        ) WITHOUT ROWID""",
        """CREATE TABLE record (
            session_id TEXT NOT NULL REFERENCES session (id), revision INTEGER NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL,
            PRIMARY KEY (session_id, revision)
        ) WITHOUT ROWID""",
        """CREATE TABLE blob (
            hash TEXT PRIMARY KEY, size INTEGER NOT NULL, encoding TEXT NOT NULL,
            data BLOB NOT NULL
        )""",
        """CREATE TABLE reference (
            session_id TEXT NOT NULL REFERENCES session (id), holder TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (session_id, holder, hash)
        ) WITHOUT ROWID""",
        "CREATE INDEX reference_by_hash ON reference (hash)",
        # A session is leased before its first row is written, so there is no foreign key.
        """CREATE TABLE lease (
            session_id TEXT PRIMARY KEY, token TEXT NOT NULL, pid INTEGER NOT NULL,
            host TEXT NOT NULL, started TEXT NOT NULL, heartbeat INTEGER NOT NULL
        )""",
    ):
        con.execute(statement)


def _snapshots(con: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE workspace (
            id INTEGER PRIMARY KEY, root BLOB NOT NULL UNIQUE, head INTEGER NOT NULL,
            complete INTEGER NOT NULL, held INTEGER NOT NULL
        )""",
        # No number is used twice: an old one must not mean another snapshot.
        """CREATE TABLE snapshot (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            workspace_id INTEGER NOT NULL REFERENCES workspace (id),
            parent INTEGER, at INTEGER NOT NULL, body BLOB NOT NULL
        )""",
        "CREATE INDEX snapshot_by_workspace ON snapshot (workspace_id, id)",
        # The state at each workspace's head, with stats to recognise unchanged files.
        """CREATE TABLE tree (
            workspace_id INTEGER NOT NULL, path BLOB NOT NULL,
            mode INTEGER NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, lost TEXT,
            version INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,
            inode INTEGER NOT NULL, racy INTEGER NOT NULL, followed INTEGER NOT NULL,
            PRIMARY KEY (workspace_id, path)
        ) WITHOUT ROWID""",
        """CREATE TABLE holding (
            hash TEXT NOT NULL, snapshot_id INTEGER NOT NULL,
            PRIMARY KEY (hash, snapshot_id)
        ) WITHOUT ROWID""",
        "CREATE INDEX holding_by_snapshot ON holding (snapshot_id)",
    ):
        con.execute(statement)


def _facts(con: sqlite3.Connection) -> None:
    for statement in (
        # No number is used twice: a stale index entry must not mean another fact.
        """CREATE TABLE fact (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL, id TEXT NOT NULL, cwd BLOB NOT NULL, kind TEXT NOT NULL,
            source TEXT NOT NULL, at INTEGER NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL,
            body BLOB NOT NULL, hash TEXT NOT NULL,
            UNIQUE (session_id, id)
        )""",
        "CREATE INDEX fact_by_cwd ON fact (cwd, key)",
        # Promoted facts stay known after their session or bullet was deleted.
        """CREATE TABLE learned (
            cwd BLOB NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (cwd, key)
        ) WITHOUT ROWID""",
    ):
        con.execute(statement)
    if has_full_text(con):
        con.execute(
            """CREATE VIRTUAL TABLE fact_text USING fts5 (
                text, content = 'fact', content_rowid = 'number',
                tokenize = 'unicode61 remove_diacritics 2'
            )"""
        )


def _restores(con: sqlite3.Connection) -> None:
    for statement in (
        # One row per workspace: only its owner restores.
        """CREATE TABLE restore (
            id INTEGER PRIMARY KEY AUTOINCREMENT, root BLOB NOT NULL UNIQUE, state TEXT NOT NULL,
            stages BLOB NOT NULL, steps BLOB NOT NULL,
            token TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL, started TEXT NOT NULL,
            heartbeat INTEGER NOT NULL
        )""",
        """CREATE TABLE restore_blob (
            restore_id INTEGER NOT NULL REFERENCES restore (id), hash TEXT NOT NULL,
            ours INTEGER NOT NULL,
            PRIMARY KEY (restore_id, hash)
        ) WITHOUT ROWID""",
        "CREATE INDEX restore_blob_by_hash ON restore_blob (hash)",
    ):
        con.execute(statement)


def _folded(con: sqlite3.Connection) -> None:
    # The snapshot up to which `tree` and `holding` are current; later changes are in deltas alone.
    con.execute("ALTER TABLE workspace ADD COLUMN folded INTEGER NOT NULL DEFAULT 0")
    con.execute("UPDATE workspace SET folded = head")


def _written(con: sqlite3.Connection) -> None:
    # The daemon's own writes into workspaces, to be told apart from people's work.
    con.execute(
        """CREATE TABLE written (
            number INTEGER PRIMARY KEY, path BLOB NOT NULL, hash TEXT NOT NULL,
            UNIQUE (path, hash)
        )"""
    )


def _retention(con: sqlite3.Connection) -> None:
    for statement in (
        # Complete outputs that stand beside what was shown of them. `at` is when the call ended;
        # `gone` when the output was let go, `why` (age, quota) and by which bound (days, MiB).
        """CREATE TABLE output (
            session_id TEXT NOT NULL, part_id TEXT NOT NULL, hash TEXT NOT NULL,
            at INTEGER NOT NULL, gone INTEGER, why TEXT, bound INTEGER,
            PRIMARY KEY (session_id, part_id)
        ) WITHOUT ROWID""",
        "CREATE INDEX output_by_hash ON output (hash)",
        # Times of the last sweep and of warnings.
        "CREATE TABLE swept (name TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
        # Leaving sessions; files and free pages may still hold traces.
        """CREATE TABLE erasing (
            session_id TEXT PRIMARY KEY, at INTEGER NOT NULL
        ) WITHOUT ROWID""",
    ):
        con.execute(statement)
    _note_outputs(con)


def _note_outputs(con: sqlite3.Connection) -> None:
    # Unreadable parts are left to `sidecar verify`.
    found = con.execute("SELECT session_id, id, body FROM part").fetchall()
    for session_id, part_id, body in found:
        try:
            content = msgpack.unpackb(body[4:], unicode_errors="surrogatepass")
            state = content["state"] if content["type"] == "tool" else {}
            whole, at = (state.get("output") or {}).get("whole"), state.get("finished")
        except (ValueError, TypeError, LookupError, AttributeError):
            continue
        if isinstance(whole, str) and isinstance(at, int):
            con.execute(
                "INSERT INTO output (session_id, part_id, hash, at) VALUES (?, ?, ?, ?)",
                (session_id, part_id, whole, at),
            )


def _folds(con: sqlite3.Connection) -> None:
    for statement in (
        # What a log comes to, up to a message and a record: a cache, whose rows may go any time.
        """CREATE TABLE fold (
            session_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, number INTEGER NOT NULL,
            chain TEXT NOT NULL, version TEXT NOT NULL, body BLOB NOT NULL, hash TEXT NOT NULL
        )""",
        "CREATE INDEX part_by_message ON part (session_id, message_id)",
    ):
        con.execute(statement)


def _eras(con: sqlite3.Connection) -> None:
    # Stretches in which the clock went as it should: `counted` milliseconds had passed when one
    # began, of all that anybody saw; `ahead` is the clock's date less the machine's own count.
    con.execute(
        """CREATE TABLE era (
            number INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER NOT NULL,
            counted INTEGER NOT NULL, boot TEXT NOT NULL, ahead INTEGER NOT NULL
        )"""
    )


def _recent(con: sqlite3.Connection) -> None:
    for statement in (
        # Where contents of files come first: in the large table each has a page of the index to
        # itself, which would be written with it. What sessions refer to is in the large one.
        """CREATE TABLE recent (
            hash TEXT PRIMARY KEY, size INTEGER NOT NULL, encoding TEXT NOT NULL,
            data BLOB NOT NULL
        )""",
        """CREATE VIEW content AS SELECT hash, size, encoding, data FROM blob
            UNION ALL SELECT hash, size, encoding, data FROM recent""",
    ):
        con.execute(statement)


def _counted(con: sqlite3.Connection) -> None:
    # How many tokens texts came to, by their hashes: a cache, whose rows may go any time.
    con.execute(
        """CREATE TABLE counted (
            session_id TEXT PRIMARY KEY, vocabulary TEXT NOT NULL, hash TEXT NOT NULL,
            body BLOB NOT NULL
        )"""
    )


def has_full_text(con: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
    return con.execute(query).fetchone() is not None


MIGRATIONS: tuple[Migration, ...] = (
    ("sessions_and_log", _sessions_and_log),
    ("snapshots", _snapshots),
    ("facts", _facts),
    ("restores", _restores),
    ("folded", _folded),
    ("written", _written),
    ("retention", _retention),
    ("folds", _folds),
    ("eras", _eras),
    ("recent", _recent),
    ("counted", _counted),
)

WITH_RECENT = [name for name, _ in MIGRATIONS].index("recent") + 1
"""The first version with blobs in `recent`."""
WITH_COUNTED = [name for name, _ in MIGRATIONS].index("counted") + 1


def version(con: sqlite3.Connection) -> int:
    """Counts the file's migrations."""
    (number,) = con.execute("PRAGMA user_version").fetchone()
    return int(number)


def migrate(con: sqlite3.Connection, steps: Sequence[Migration], at: int) -> None:
    """Runs each missing step in a transaction; safe in several processes."""
    while (done := version(con)) < len(steps):
        con.execute("BEGIN IMMEDIATE")
        try:
            if version(con) == done:
                name, step = steps[done]
                step(con)
                con.execute("INSERT INTO migration (name, at) VALUES (?, ?)", (name, at))
                con.execute(f"PRAGMA user_version = {done + 1}")
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
