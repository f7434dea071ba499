"""What archiving, erasing and sweeping stand on, for a process of its own."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sidecar.session.transfer.archive import Ground
from sidecar.store.connection.lease import this_process
from sidecar.store.journal import Store

if TYPE_CHECKING:
    # Killed processes begin sooner without it.
    from tests.session.conftest import Desk


def ground_at(store: Store, now: Callable[[], int], token: str = "one") -> Ground:
    return Ground(store, now, this_process(token))


def ground_beside(desk: "Desk", token: str = "one") -> Ground:
    """That of another process, which looks at the same store as a desk."""
    return ground_at(desk.store, desk.world.now, token)
