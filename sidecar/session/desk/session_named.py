"""Finds the session that is meant by the beginning of an id, or a folder."""

import asyncio
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.parts import SessionId
from sidecar.store.content.session_rows import SessionRows
from sidecar.store.format.values import SessionRow

PREFIX = "ses_"
MOST_NAMED = 8
"""Sessions listed for an ambiguous id."""
ANYWHERE = (
    "`sidecar sessions` lists them all; name one by its id or the beginning of it, a folder for "
    "the newest session of that folder, or --last for the newest of all."
)


async def find(rows: SessionRows, name: str | None, folder: Path | None) -> SessionId:
    """Finds a session by id or prefix, else the newest in `folder` or of all.

    Raises BadRequest, with advice, unless exactly one matches.
    """
    if name is None:
        where = None if folder is None else str(await asyncio.to_thread(folder.resolve))
        page = await rows.page(cwd=where, before=None, limit=1)
        if not page.rows:
            place = "yet" if folder is None else f"in {folder}"
            raise BadRequest(f"There is no session {place}. {ANYWHERE}", "session")
        return page.rows[0].id
    found = await rows.named(name, MOST_NAMED + 1)
    if not found and not name.startswith(PREFIX):
        found = await rows.named(PREFIX + name, MOST_NAMED + 1)
    exact = [row for row in found if row.id == name]
    if len(found) != 1 and not exact:
        raise BadRequest(_unclear(name, found), "session")
    return (exact or found)[0].id


def _unclear(name: str, found: tuple[SessionRow, ...]) -> str:
    if not found:
        return f"There is no session whose id is, or begins with, “{name}”. {ANYWHERE}"
    lines = [f"  {row.id}  {row.title or '(untitled)'}" for row in found[:MOST_NAMED]]
    more = "\n  …" if len(found) > MOST_NAMED else ""
    return (
        f"Several sessions' ids begin with “{name}”: give more of it.\n" + "\n".join(lines) + more
    )
