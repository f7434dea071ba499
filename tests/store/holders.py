"""This process as one that holds sessions and folders; each token stands for another process."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sidecar.core.parts import SessionId
from sidecar.session.transfer.archive import Ground
from sidecar.store.connection.lease import this_process
from sidecar.store.content.restores import Begun, RestoreClaim
from sidecar.store.format.values import Owner
from sidecar.store.journal import Store

if TYPE_CHECKING:
    # Processes that are killed begin sooner without it.
    from tests.session.conftest import Desk


async def hold(store: Store, session_id: str, token: str = "one") -> Owner | None:
    """Hold a session as one that is open; gives who holds it already, if it can't be had."""
    return await store.leases.acquire(SessionId(session_id), this_process(token))


def ground_at(store: Store, now: Callable[[], int], token: str = "one") -> Ground:
    """What archiving, erasing and sweeping stand on."""
    return Ground(store, now, this_process(token))


def ground_beside(desk: "Desk", token: str = "one") -> Ground:
    """That of another process, which looks at the same store as a desk."""
    return ground_at(desk.store, desk.world.now, token)


async def begin(store: Store, wish: RestoreClaim, *stages: bytes, **given: Iterable[str]) -> Begun:
    """Begin a restore that nothing stands in the way of."""
    found = await store.restores.begin(wish, stages, **given)
    assert isinstance(found, Begun)
    return found


def claim(root: bytes, token: str, *others: str) -> RestoreClaim:
    """The wish to restore a folder; `others` are the tokens of what else runs here."""
    return RestoreClaim(root, this_process(token), frozenset(others))
