"""Facts by session, searchable by words."""

import sqlite3
from collections.abc import Callable, Iterable
from functools import cache, partial

from sidecar.core.conversation.fact import Fact, fact_id, from_json, key_of, to_json
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.store.connection.store_access import StoreRead, Submit
from sidecar.store.content.outputs import PARENT, row_of
from sidecar.store.content.session_rows import reader, unknown
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.migrations import has_full_text
from sidecar.store.format.packing import encode_text, pack, unpack

WORDS = 32
"""Words used of a query."""
MOST_ORIGINS = 100
"""Sessions that one was made from in turn, as far as they are followed."""
MOST_WRITTEN = 100
"""Own writes per file; older states look like somebody else's."""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact of a session; `learned`: promoted in its workspace."""

    id: str
    session_id: SessionId
    fact: Fact
    learned: bool


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact not promoted, and how many of its workspace's sessions have it.

    A session counts once with its subtasks, forks and whatever else was made from it.
    """

    fact: Fact
    sessions: int


class FactRows:
    """Methods may raise StorageFailed."""

    def __init__(self, submit: Submit, read: StoreRead) -> None:
        self._submit = submit
        self._read = read

    async def add(self, session_id: SessionId, cwd: str, facts: Iterable[Fact]) -> None:
        kept = tuple(facts)
        if kept:
            size = sum(len(fact.content) + 500 for fact in kept)
            await self._submit(partial(put_facts, session_id=session_id, cwd=cwd, facts=kept), size)

    async def find(
        self,
        *,
        session_id: SessionId | None = None,
        cwd: str | None = None,
        kind: str | None = None,
        query: str | None = None,
        limit: int,
    ) -> tuple[StoredFact, ...]:
        """Newest first, with all words of `query`; the last word may be a prefix.

        Raises UnknownSession without session or facts.
        """
        return await self._read(
            partial(_find, only=_Only(session_id, cwd, kind, query), most=limit)
        )

    async def candidates(self, session_id: SessionId) -> tuple[FactCandidate, ...]:
        """Oldest first."""
        return await self._read(partial(_candidates, session_id=session_id))

    async def promoted(self, cwd: str, keys: Iterable[str], at: Millis) -> None:
        """Marks facts as learned; `keys`: by `core.ledger.learned_markdown.key_of`."""
        rows = [(encode_text(cwd), key, at) for key in sorted(keys)]
        if rows:
            await self._submit(partial(_mark, rows=rows), 100 * len(rows))

    async def writes(self, path: bytes, hash_: str) -> None:
        """Notes durably that the daemon will write `path` (absolute)."""
        await self._submit(partial(_write, path=path, hash_=hash_), 200)

    async def written(self, folder: bytes) -> frozenset[tuple[bytes, str]]:
        return await self._read(partial(_written, folder=folder))


@dataclass(frozen=True, slots=True)
class _Only:
    session_id: str | None
    cwd: str | None
    kind: str | None
    query: str | None


def put_facts(
    con: sqlite3.Connection, session_id: SessionId, cwd: str, facts: Iterable[Fact]
) -> None:
    indexed = _is_indexed(con)
    for fact in facts:
        name, text = fact_id(fact), _plain(fact.content)
        packed = pack({"id": name, **to_json(fact)}, spill=False)
        done = con.execute(
            """INSERT INTO fact (session_id, id, cwd, kind, source, at, key, text, body, hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, id) DO NOTHING""",
            (
                session_id,
                name,
                encode_text(cwd),
                fact.kind,
                _plain(fact.source),
                fact.at,
                key_of(fact.content),
                text,
                packed.body,
                packed.hash,
            ),
        )
        if done.rowcount and indexed:
            con.execute("INSERT INTO fact_text (rowid, text) VALUES (?, ?)", (done.lastrowid, text))


def decode_fact(body: bytes, con: sqlite3.Connection) -> tuple[str, Fact]:
    fields = unpack(body, reader(con))
    try:
        return fields.text("id"), from_json(fields.content)
    except ValueError as error:
        raise BodyBroken(str(error)) from error


_LEARNED = "EXISTS (SELECT 1 FROM learned l WHERE l.cwd = fact.cwd AND l.key = fact.key)"


def _find(con: sqlite3.Connection, only: _Only, most: int) -> tuple[StoredFact, ...]:
    where, values = ["1"], list[object]()
    columns = {"session_id": only.session_id, "kind": only.kind}
    for column, value in columns.items():
        if value is not None:
            where.append(f"{column} = ?")
            values.append(_plain(value))
    if only.cwd is not None:
        where.append("cwd = ?")
        values.append(encode_text(only.cwd))
    if only.query is not None and only.query.strip():
        condition, words = _matching(con, only.query)
        where.append(condition)
        values.extend(words)
    found = con.execute(
        f"SELECT id, session_id, body, {_LEARNED} FROM fact WHERE {' AND '.join(where)} "
        "ORDER BY at DESC, number DESC LIMIT ?",
        (*values, most),
    ).fetchall()
    if not found and only.session_id is not None:
        _require(con, _plain(only.session_id))
    facts: list[StoredFact] = []
    for name, session_id, body, learned in found:
        try:
            _, fact = decode_fact(body, con)
        except BodyBroken:
            # `sidecar verify` reports the damage; undamaged facts are still listed.
            continue
        facts.append(StoredFact(name, SessionId(session_id), fact, bool(learned)))
    return tuple(facts)


def _require(con: sqlite3.Connection, session_id: str) -> None:
    for table, column in (("session", "id"), ("fact", "session_id")):
        if con.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (session_id,)).fetchone():
            return
    raise unknown(session_id)


def _matching(con: sqlite3.Connection, query: str) -> tuple[str, list[str]]:
    # Words are quoted, so that no input acts as syntax.
    plain = _plain(query).replace("\0", " ")
    words = [word for word in plain.split() if any(c.isalnum() for c in word)][:WORDS]
    if words and _is_indexed(con):
        quoted = " ".join('"{}"'.format(word.replace('"', '""')) for word in words)
        inner = "SELECT rowid FROM fact_text WHERE fact_text MATCH ?"
        begun = " *" if words[-1][-1].isalnum() else ""
        return f"number IN ({inner})", [quoted + begun]
    pieces = [_escaped(piece) for piece in words or plain.split()[:WORDS]]
    return (
        " AND ".join(["text LIKE ? ESCAPE '\\'"] * len(pieces) or ["0"]),
        [f"%{piece}%" for piece in pieces],
    )


def _escaped(piece: str) -> str:
    for special in ("\\", "%", "_"):
        piece = piece.replace(special, f"\\{special}")
    return piece


def _candidates(con: sqlite3.Connection, session_id: SessionId) -> tuple[FactCandidate, ...]:
    origin = cache(partial(_origin, con))
    found = con.execute(
        "SELECT body, cwd, key FROM fact "
        f"WHERE session_id = ? AND NOT {_LEARNED} ORDER BY at, number",
        (session_id,),
    ).fetchall()
    candidates: list[FactCandidate] = []
    for body, cwd, key in found:
        fact = decode_fact(body, con)[1]
        candidates.append(FactCandidate(fact, _sessions(con, cwd, key, fact, origin)))
    return tuple(candidates)


def _sessions(
    con: sqlite3.Connection, cwd: bytes, key: str, fact: Fact, origin: Callable[[str], str]
) -> int:
    same = con.execute(
        "SELECT DISTINCT session_id, source, body FROM fact WHERE cwd = ? AND key = ?", (cwd, key)
    ).fetchall()
    # Of a rule no tool's word counts, nor what came from elsewhere.
    rule = fact.kind in ("constraint", "decision")
    found = [
        (origin(name), source)
        for name, source, body in same
        if not rule or decode_fact(body, con)[1].who in ("user", "model")
    ]
    origins = {name for name, _ in found} - {""}
    return max(1, min(len(origins), len({source for _, source in found})))


def _origin(con: sqlite3.Connection, session_id: str) -> str:
    """Gives the first of those that a session came from; "" where one of them was deleted."""
    for step in range(MOST_ORIGINS):
        row = row_of(con, SessionId(session_id))
        if row is None and step:
            break
        parent = None if row is None else row.settings.get(PARENT)
        if not isinstance(parent, str):
            return session_id
        session_id = parent
    return ""


def _mark(con: sqlite3.Connection, rows: list[tuple[bytes, str, Millis]]) -> None:
    con.executemany("INSERT OR IGNORE INTO learned (cwd, key, at) VALUES (?, ?, ?)", rows)


def _write(con: sqlite3.Connection, path: bytes, hash_: str) -> None:
    con.execute("INSERT OR REPLACE INTO written (path, hash) VALUES (?, ?)", (path, hash_))
    con.execute(
        """DELETE FROM written WHERE path = ?1 AND number NOT IN (
            SELECT number FROM written WHERE path = ?1 ORDER BY number DESC LIMIT ?2
        )""",
        (path, MOST_WRITTEN),
    )


def _written(con: sqlite3.Connection, folder: bytes) -> frozenset[tuple[bytes, str]]:
    # "0" comes right after "/".
    rows = con.execute(
        "SELECT path, hash FROM written WHERE path > ? AND path < ?", (folder + b"/", folder + b"0")
    )
    return frozenset((path, hash_) for path, hash_ in rows)


def copy_facts(
    con: sqlite3.Connection, source: SessionId, target: SessionId, before: Millis | None
) -> None:
    con.execute(
        """INSERT INTO fact (session_id, id, cwd, kind, source, at, key, text, body, hash)
        SELECT ?, id, cwd, kind, source, at, key, text, body, hash FROM fact
        WHERE session_id = ? AND at < ifnull(?, at + 1) ORDER BY number""",
        (target, source, before),
    )
    if _is_indexed(con):
        copied = "SELECT number, text FROM fact WHERE session_id = ?"
        con.execute(f"INSERT INTO fact_text (rowid, text) {copied}", (target,))


_SHARED = (
    "EXISTS (SELECT 1 FROM fact other WHERE other.cwd = fact.cwd AND other.key = fact.key "
    "AND other.session_id != fact.session_id)"
)


def drop_facts(
    con: sqlite3.Connection, session_id: SessionId, *, shared: bool = True, dry: bool = False
) -> int:
    """Deletes a session's facts unless promoted; returns their bytes.

    Without `shared`, facts that other sessions of the folder have stay. `dry`: only count.
    """
    stays = _LEARNED if shared else f"({_LEARNED} OR {_SHARED})"
    gone = con.execute(
        "SELECT number, text, length(body) + length(CAST(text AS BLOB)) FROM fact "
        f"WHERE session_id = ? AND NOT {stays}",
        (session_id,),
    ).fetchall()
    if gone and not dry:
        if _is_indexed(con):
            con.executemany(
                "INSERT INTO fact_text (fact_text, rowid, text) VALUES ('delete', ?, ?)",
                [(number, text) for number, text, _ in gone],
            )
        con.executemany("DELETE FROM fact WHERE number = ?", [(number,) for number, *_ in gone])
    return sum(size for *_, size in gone)


def forget_words(con: sqlite3.Connection) -> None:
    if _is_indexed(con):
        con.execute("INSERT INTO fact_text (fact_text) VALUES ('optimize')")


def _is_indexed(con: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = 'fact_text'"
    return con.execute(query).fetchone() is not None and has_full_text(con)


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
