"""The one table from errors to JSON-RPC codes."""

from sidecar.core.errors import (
    BadRequest,
    Cancelled,
    ModelFailed,
    NothingToDo,
    Overloaded,
    RestoreConflict,
    RevisionConflict,
    SessionOwned,
    SidecarError,
    StorageFailed,
    UnknownSession,
    Untrusted,
)
from sidecar.core.parts import Json, JsonObject

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
CANCELLED = -32800
MODEL_FAILED = -32020

CODES: dict[type[SidecarError], int] = {
    BadRequest: INVALID_PARAMS,
    UnknownSession: -32010,
    RevisionConflict: -32801,
    Overloaded: -32001,
    SessionOwned: -32011,
    NothingToDo: -32012,
    RestoreConflict: -32013,
    Untrusted: -32014,
    Cancelled: CANCELLED,
    ModelFailed: MODEL_FAILED,
    StorageFailed: -32030,
}


MOST_SAID = 800
"""Characters of a message: editors show it in a box."""


class Refused(Exception):
    """A message that is refused before any handler sees it."""

    def __init__(self, code: int, kind: str, message: str, **data: Json) -> None:
        super().__init__(message)
        self.code = code
        self.error: JsonObject = {"code": code, "message": message, "data": {"kind": kind, **data}}


def fault(error: SidecarError) -> JsonObject:
    """Give the JSON-RPC error object for an error; `data.kind` is always there."""
    data: JsonObject = {k: v for k, v in error.data.items() if v is not None}
    return {
        "code": CODES.get(type(error), INTERNAL_ERROR),
        "message": _short(error.message),
        "data": {"kind": error.kind, **data},
    }


def _short(message: str) -> str:
    """Leave out the midst of a long message: what was given may stand there, the advice last."""
    if len(message) <= MOST_SAID:
        return message
    half = MOST_SAID // 2
    return f"{message[:half]} … {message[-half:]}"


def internal() -> JsonObject:
    """Give what a client is told of a bug: nothing of paths or bodies; the log has the rest."""
    message = "Something went wrong inside the daemon: its log on stderr says what."
    return {"code": INTERNAL_ERROR, "message": message, "data": {"kind": "internal"}}
