"""This process as one that holds sessions and folders; each token stands for another process."""

from sidecar.core.parts import SessionId
from sidecar.store.connection.lease import this_process
from sidecar.store.content.restores import RestoreClaim
from sidecar.store.format.values import Owner
from sidecar.store.journal import Store


async def hold(store: Store, session_id: str, token: str = "one") -> Owner | None:
    """Hold a session as one that is open; gives who holds it already, if it can't be had."""
    return await store.leases.acquire(SessionId(session_id), this_process(token))


def claim(root: bytes, token: str, *others: str) -> RestoreClaim:
    """The wish to restore a folder; `others` are the tokens of what else runs here."""
    return RestoreClaim(root, this_process(token), frozenset(others))
