"""Errors, by whose fault they are; each message gives advice.

SidecarError
├── BadRequest            the client's: a wrong parameter, named by `path`
├── UnknownSession        the client's: no such session
├── RevisionConflict      the client's: the session moved on
├── Overloaded            the client's: too many prompts are waiting
├── SessionOwned          another daemon writes this session
├── NothingToDo           the call would change nothing
├── RestoreConflict       files of a restore were changed meanwhile
├── Cancelled             somebody asked for a stop
├── ModelFailed           the provider's: see `kind`
└── StorageFailed         the disk's: see `kind`

`wire` decides the JSON-RPC codes.
"""

from typing import Literal, TypeAlias

from sidecar.core.parts import Json, JsonObject

ModelFailure: TypeAlias = Literal[
    "authentication",
    "rate_limit",
    "overloaded",
    "context_overflow",
    "bad_request",
    "network",
    "interrupted",
]
StorageFailure: TypeAlias = Literal["full", "corrupt", "newer_schema", "read_only", "io"]


class SidecarError(Exception):
    """Base of errors told to clients; `data` goes onto the wire."""

    kind: str = "internal"

    def __init__(self, message: str, **data: Json) -> None:
        super().__init__(message)
        self.message = message
        self.data: JsonObject = dict(data)


class BadRequest(SidecarError):
    """A wrong parameter; `path` as in `params.prompt[0].text`."""

    kind = "bad_request"

    def __init__(self, message: str, path: str = "params") -> None:
        super().__init__(message, path=path)


class UnknownSession(SidecarError):
    """No session has this id."""

    kind = "unknown_session"


class RevisionConflict(SidecarError):
    """`expectedRevision` is not the session's newest."""

    kind = "revision_conflict"


class Overloaded(SidecarError):
    """Too much is waiting."""

    kind = "overloaded"


class SessionOwned(SidecarError):
    """Another daemon, `data.owner`, holds the lease."""

    kind = "session_owned"


class NothingToDo(SidecarError):
    """The call would change nothing."""

    kind = "nothing_to_do"


class RestoreConflict(SidecarError):
    """`data.conflicts` has the files; nothing was touched."""

    kind = "restore_conflict"


class Cancelled(SidecarError):
    """The request was cancelled."""

    kind = "cancelled"


class ModelFailed(SidecarError):
    """The provider refused or broke off; `retry_after` in seconds."""

    def __init__(
        self,
        message: str,
        *,
        kind: ModelFailure,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, status=status, retryable=retryable, requestId=request_id)
        self.kind = kind
        self.failure: ModelFailure = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


class StorageFailed(SidecarError):
    """`kind` says how, such as `full` or `corrupt`."""

    def __init__(self, message: str, *, kind: StorageFailure) -> None:
        super().__init__(message)
        self.kind = kind
        self.failure: StorageFailure = kind


def innermost(error: Exception) -> Exception:
    """Unwrap a task group's error, a `SidecarError` first."""
    while isinstance(error, ExceptionGroup):
        inner = [e for e in error.exceptions if isinstance(e, Exception)]
        error = next((e for e in inner if isinstance(e, SidecarError)), inner[0])
    return error
