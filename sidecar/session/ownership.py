"""A session's writer among daemons."""

from sidecar.core.errors import SessionOwned, SidecarError, StorageFailed
from sidecar.core.parts import JsonObject, SessionId
from sidecar.store.format.values import Owner
from sidecar.store.journal import Store


class Ownership:
    """The writer: this daemon unless `read_only`.

    `me` is this daemon, or `None` to only read. `by` names another writer, if known.
    """

    def __init__(self, store: Store, session_id: SessionId, me: Owner | None) -> None:
        self._store = store
        self._session_id = session_id
        self._me = me
        self.read_only = True
        self.by: JsonObject | None = None

    async def claim(self) -> bool:
        """Acquires the lease unless a living daemon has it; then call `take`."""
        if self._me is None:
            return False
        try:
            other = await self._store.leases.acquire(self._session_id, self._me)
        except StorageFailed as error:
            if error.failure not in ("newer_schema", "read_only"):
                raise
            self.by = None
            return False
        # The lease's secret token is told to nobody.
        self.by = None if other is None else {"pid": other.pid, "host": other.host}
        return other is None

    def take(self) -> None:
        self.read_only = False

    def refusal(self) -> SidecarError:
        why = self._store.refusal() if self.by is None else None
        return why or SessionOwned(
            "another window writes this session: continue there, or close it there first",
            owner=self.by,
        )
