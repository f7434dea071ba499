"""A restore's outcomes and failures."""

import errno
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, SidecarError, StorageFailed, StorageFailure
from sidecar.store.connection.store_faults import storage_failed
from sidecar.workspace.restore.expectations import Conflict

FULL = (
    "The disk is full, so nothing was restored and every file is as it was. Free some space and "
    "try again."
)
REFUSED = (
    "{path} cannot be written ({why}), so nothing was restored and every file is as it was. "
    "Make it writable for this user and try again."
)
OTHER = (
    "Nothing was restored and every file is as it was, because the system refused it: {why}. "
    "Try again; if it persists, check the disk."
)
HALF = (
    "A restore failed in the middle and could not be taken back yet ({why}). That is tried again "
    "before the next restore and when Sidecar starts."
)
LEFTOVER = (
    "Folders named .sidecar-restore-… could not be removed yet ({why}); "
    "that is tried again when Sidecar starts."
)
BUSY = (
    "Another window (process {pid}) restores files in this folder just now. Wait for it, and try "
    "again."
)
SWEPT = (
    "What {path} held is not stored any more, so it cannot be restored. Leave it out, or choose a "
    "newer checkpoint."
)


@dataclass(frozen=True, slots=True)
class FilesRestored:
    """The plan was carried out; `kept`: folders with other entries.

    `leftover`: why a staging folder remains, or "".
    """

    kept: tuple[bytes, ...] = ()
    leftover: str = ""


@dataclass(frozen=True, slots=True)
class RestoreRefused:
    """Nothing was restored, since paths differ from the plan."""

    conflicts: tuple[Conflict, ...]


RestoreOutcome: TypeAlias = FilesRestored | RestoreRefused


@dataclass(frozen=True, slots=True)
class Recovered:
    """An interrupted restore was `finished` or `undone`.

    If `undone`, all is as before, except `left`, changed meanwhile. `leftover`: why a staging
    folder remains, or "".
    """

    how: Literal["finished", "undone"]
    paths: int
    left: tuple[Conflict, ...] = ()
    leftover: str = ""


def failure(error: Exception) -> Exception:
    """Puts an error in words, for a fully undone restore."""
    match error:
        case SidecarError():
            return error
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG):
            return StorageFailed(FULL, kind="full")
        case OSError(errno=errno.EACCES | errno.EPERM | errno.EROFS):
            why = error.strerror or "it is not allowed"
            return BadRequest(REFUSED.format(path=_path(error), why=why))
        case OSError():
            return StorageFailed(OTHER.format(why=error), kind="io")
        case _:
            return error


def half_done(error: Exception) -> StorageFailed:
    kind: StorageFailure = "io"
    told = storage_failed(error)
    why = error.strerror if isinstance(error, OSError) else told.message
    if isinstance(told, StorageFailed):
        kind = told.failure
    return StorageFailed(HALF.format(why=why), kind=kind)


def _path(error: OSError) -> str:
    name = error.filename
    return name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)
