"""A session read from the store, not opened: no lease, no writes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.parts import SessionId
from sidecar.core.prompt.prompt import Prompt
from sidecar.observe.report.course import Course
from sidecar.session.desk.log_course import read_course
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.assembly import compose
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.state import State
from sidecar.store.content.session_rows import SessionRows
from sidecar.store.format.values import SessionRow, Stored

PREFIX = "ses_"
MOST_NAMED = 8
"""Sessions listed for an ambiguous id."""
ANYWHERE = (
    "`sidecar sessions` lists them all; name one by its id or the beginning of it, a folder for "
    "the newest session of that folder, or --last for the newest of all."
)


async def find(rows: SessionRows, name: str | None, folder: Path | None) -> SessionId:
    """Session by id or prefix; without `name`, the newest in `folder`, or of all.

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


async def look(
    environment: Environment, session_id: SessionId, clean: Callable[[str], str]
) -> Course:
    """In a consistent state; raises UnknownSession or StorageFailed."""
    stored = await environment.store.logs.load(session_id)
    # The view counts present texts, and the walk former ones: mostly the same.
    models = replace(environment.models, count=cache(environment.models.count))
    counting = replace(environment, models=models)
    return await asyncio.to_thread(
        lambda: read_course(_composed(counting, stored), clean, stored.problems)
    )


async def sent_now(environment: Environment, session_id: SessionId) -> Prompt:
    """Raises as `look`."""
    stored = await environment.store.logs.load(session_id)

    def read() -> Prompt:
        state = _composed(environment, stored)
        return state.view.prompt(state.log.messages)

    return await asyncio.to_thread(read)


def _composed(environment: Environment, stored: Stored) -> State:
    log = SessionLog(environment.store, stored, environment.clock.now)
    return compose(environment, log, Ownership(environment.store, stored.session.id, None))


def _unclear(name: str, found: tuple[SessionRow, ...]) -> str:
    if not found:
        return f"No session's id is, or begins with, “{name}”. {ANYWHERE}"
    lines = [f"  {row.id}  {row.title or '(untitled)'}" for row in found[:MOST_NAMED]]
    more = "\n  …" if len(found) > MOST_NAMED else ""
    return (
        f"Several sessions' ids begin with “{name}”: give more of it.\n" + "\n".join(lines) + more
    )
