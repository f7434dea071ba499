"""Error classes, by whose fault they report; each message says what to do."""

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
    """Base class of errors told to clients; `data` goes onto the wire."""

    kind: str = "internal"

    def __init__(self, message: str, **data: Json) -> None:
        super().__init__(message)
        self.message = message
        self.data: JsonObject = dict(data)


class BadRequest(SidecarError):
    """The client sent a wrong parameter; `path` names it, as `params.prompt[0].text`."""

    kind = "bad_request"

    def __init__(self, message: str, path: str = "params") -> None:
        super().__init__(message, path=path)


class UnknownSession(SidecarError):
    """The client named a missing session."""

    kind = "unknown_session"


class RevisionConflict(SidecarError):
    """The client's `expectedRevision` is not the session's newest."""

    kind = "revision_conflict"


class Overloaded(SidecarError):
    """The client asked while too much was waiting."""

    kind = "overloaded"


class SessionOwned(SidecarError):
    """Another daemon, named in `data.owner`, writes this session."""

    kind = "session_owned"


class NothingToDo(SidecarError):
    """The call would change nothing."""

    kind = "nothing_to_do"


class RestoreConflict(SidecarError):
    """The files in `data.conflicts` changed meanwhile; nothing was restored."""

    kind = "restore_conflict"


class RemoteFailed(SidecarError):
    """A git remote cannot be reached, or refused; nothing was lost."""

    kind = "remote_failed"


class Cancelled(SidecarError):
    """Somebody asked for a stop."""

    kind = "cancelled"


class EditorGone(SidecarError):
    """The editor went before answering a request; the turn goes on."""

    kind = "client"


class ModelFailed(SidecarError):
    """The provider refused or broke off, by `kind`; `retry_after` is in seconds."""

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
    """The disk failed; `kind` says how, such as `full` or `corrupt`."""

    def __init__(self, message: str, *, kind: StorageFailure) -> None:
        super().__init__(message)
        self.kind = kind
        self.failure: StorageFailure = kind


def innermost(error: Exception) -> Exception:
    """Finds the error within exception groups, a `SidecarError` if any."""
    while isinstance(error, ExceptionGroup):
        inner = [e for e in error.exceptions if isinstance(e, Exception)]
        error = next((e for e in inner if isinstance(e, SidecarError)), inner[0])
    return error
