"""Renames a session."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from sidecar.core.errors import BadRequest
from sidecar.core.parts import SessionId
from sidecar.core.text.visible import mended
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import TitleChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.store.format.values import Owner, PutSession
from sidecar.store.journal import Store

LONGEST_TITLE = 200
"""Characters."""


async def rename(
    log: SessionLog,
    channel: Channel,
    writable: Callable[[int | None], Awaitable[None]],
    wanted: str,
) -> str:
    """Returns the title, on one line.

    Raises BadRequest for one that is empty or too long, SessionOwned, StorageFailed.
    """
    title = _title(wanted)
    await writable(None)
    await log.entry.rename(title)
    channel.publish(TitleChanged(log.row.id, channel.next_seq(), title))
    return title


async def rename_stored(store: Store, session_id: SessionId, owner: Owner, wanted: str) -> str:
    """Renames a session that is not open here; raises UnknownSession, too."""
    title, ownership = _title(wanted), Ownership(store, session_id, owner)
    if not await ownership.claim():
        raise ownership.refusal()
    try:
        # Another daemon may write the row until then.
        row = await store.sessions.row(session_id)
        await store.write(PutSession(replace(row, title=title)))
    finally:
        await store.leases.release(session_id, owner.token)
    return title


def _title(wanted: str) -> str:
    title = mended(" ".join(wanted.split()))
    if not title or len(title) > LONGEST_TITLE:
        raise BadRequest(f"a title has 1 to {LONGEST_TITLE} characters", "params.title")
    return title
