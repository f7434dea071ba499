"""Renames a session."""

from collections.abc import Awaitable, Callable

from sidecar.core.errors import BadRequest
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import TitleChanged
from sidecar.session.log.session_log import SessionLog

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
    title = " ".join(wanted.split())
    if not title or len(title) > LONGEST_TITLE:
        raise BadRequest(f"a title has 1 to {LONGEST_TITLE} characters", "params.title")
    await writable(None)
    await log.entry.rename(title)
    channel.publish(TitleChanged(log.row.id, channel.next_seq(), title))
    return title
