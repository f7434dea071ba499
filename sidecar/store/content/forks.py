"""Forks logs; blobs are shared."""

import sqlite3
from collections.abc import Sequence

from sidecar.core.errors import UnknownSession
from sidecar.core.parts import MessageId, Millis, SessionId
from sidecar.store.content.fact_rows import copy_facts
from sidecar.store.content.outputs import copy_outputs

_HOLDERS = (
    "SELECT 'message:' || id AS holder FROM message WHERE session_id = :target",
    "SELECT 'part:' || id AS holder FROM part WHERE session_id = :target",
    "SELECT 'record:' || revision AS holder FROM record WHERE session_id = :target",
)


def copy_log(
    con: sqlite3.Connection,
    source: SessionId,
    target: SessionId,
    messages: Sequence[MessageId],
    until: int,
    before: Millis | None,
) -> None:
    """The target must have no log; raises UnknownSession."""
    done = con.executemany(
        """INSERT INTO message (session_id, id, body, hash)
        SELECT ?, id, body, hash FROM message WHERE session_id = ? AND id = ?""",
        [(target, source, message_id) for message_id in messages],
    )
    if messages and done.rowcount != len(messages):
        raise UnknownSession(
            f"Session {source!r} was deleted meanwhile. `session/list` names those there are."
        )
    names = {"source": source, "target": target, "until": until}
    con.execute(
        """INSERT INTO part (session_id, id, message_id, position, body, hash)
        SELECT :target, part.id, part.message_id, part.position, part.body, part.hash
        FROM part CROSS JOIN message
        ON message.session_id = :target AND message.id = part.message_id
        WHERE part.session_id = :source""",
        names,
    )
    con.execute(
        """INSERT INTO record (session_id, revision, body, hash)
        SELECT :target, revision, body, hash FROM record
        WHERE session_id = :source AND revision <= :until""",
        names,
    )
    for holders in _HOLDERS:
        con.execute(
            f"""INSERT INTO reference (session_id, holder, hash)
            SELECT :target, held.holder, held.hash
            FROM ({holders}) AS copied CROSS JOIN reference AS held
            ON held.session_id = :source AND held.holder = copied.holder""",
            names,
        )
    copy_outputs(con, source, target)
    copy_facts(con, source, target, before)
