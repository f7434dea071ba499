"""One writer among daemons."""

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import SessionId
from sidecar.store.connection.lease import Leases
from sidecar.store.format.values import Owner


async def become_writer(
    leases: Leases, session_id: SessionId, owner: Owner
) -> tuple[bool, Owner | None]:
    """Try to take the lease; success, and any known other owner."""
    try:
        other = await leases.acquire(session_id, owner)
    except StorageFailed as error:
        if error.failure not in ("newer_schema", "read_only"):
            raise
        return False, None
    return other is None, other
