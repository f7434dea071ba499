"""Searches the texts of all sessions in the store, slice by slice, so that others read between."""

import asyncio
from collections.abc import Callable

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, UnknownSession
from sidecar.session.history.found_words import TextHit, Words, hits_in, snippet, words_of
from sidecar.session.interface import SessionSummary
from sidecar.session.lifecycle.new_session import summary_of
from sidecar.store.content.slices import MESSAGES, LogRows
from sidecar.store.format.values import SessionRow
from sidecar.store.journal import Store

SECONDS = 2.0
"""Of one page, but for a slice."""
HITS = 5
"""Of one session."""
LONGEST_QUERY = 1000


@dataclass(frozen=True, slots=True)
class SessionHits:
    """A session's newest matches, its title's first; `more`: there are, or may be, others."""

    session: SessionSummary
    hits: tuple[TextHit, ...]
    more: bool


async def search(
    store: Store,
    query: str,
    folder: str | None,
    cursor: str | None,
    limit: int,
    now: Callable[[], float],
) -> tuple[tuple[SessionHits, ...], str | None]:
    """Gives up to `limit` sessions, the newest first, and where to go on unless all were read.

    A session too large for a whole page is read in part. Raises BadRequest for a blank or huge
    query or a wrong cursor.
    """
    words = words_of(query)
    if not words.each or len(query) > LONGEST_QUERY:
        raise BadRequest(f"a query has 1 to {LONGEST_QUERY} characters", "params.query")
    end = now() + SECONDS
    found: list[SessionHits] = []
    first = True
    while True:
        page = await store.sessions.page(cwd=folder, before=cursor, limit=1)
        for row in page.rows:
            hits, cut = await _hits(store.logs, row, words, lambda: now() < end)
            if cut and not first:
                return tuple(found), cursor
            if hits or cut:
                more = cut or len(hits) > HITS
                found.append(SessionHits(summary_of(row), hits[:HITS], more))
        first, cursor = False, page.next
        if cursor is None or len(found) == limit or now() >= end:
            return tuple(found), cursor


async def _hits(
    logs: LogRows, row: SessionRow, words: Words, in_time: Callable[[], bool]
) -> tuple[tuple[TextHit, ...], bool]:
    """Gives one more than `HITS` if there are, and whether time ran out before that."""
    titled = snippet(row.title, words)
    found = [] if titled is None else [TextHit("title", titled)]
    try:
        numbers = await logs.numbers(row.id)
    except UnknownSession:
        return (), False  # Deleted meanwhile.
    numbers.reverse()
    while numbers and len(found) <= HITS:
        if not in_time():
            return tuple(found), True
        part = await logs.messages(row.id, numbers[:MESSAGES])
        del numbers[: part.taken]
        found.extend(await asyncio.to_thread(hits_in, part.messages, words))
    return tuple(found), False
