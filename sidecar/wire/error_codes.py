"""Maps errors to JSON-RPC codes, in one table."""

from typing import get_args

from sidecar.core.errors import (
    BadRequest,
    Cancelled,
    ModelFailed,
    NothingToDo,
    Overloaded,
    RemoteFailed,
    RestoreConflict,
    RevisionConflict,
    SessionOwned,
    SidecarError,
    StorageFailed,
    StorageFailure,
    UnknownSession,
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
    RemoteFailed: -32014,
    Cancelled: CANCELLED,
    ModelFailed: MODEL_FAILED,
    StorageFailed: -32030,
}


OUT_OF_MEMORY = (
    "There was not enough memory for this, and nothing else is wrong: close something or raise the "
    "limit of this process (`ulimit -v`, a container's), and try again."
)
MOST_SAID = 800
"""Characters of a message, for a box."""


class RefusedMessage(Exception):
    """A message refused before reaching a handler."""

    def __init__(self, code: int, kind: str, message: str, **data: Json) -> None:
        super().__init__(message)
        self.code = code
        self.error: JsonObject = {"code": code, "message": message, "data": {"kind": kind, **data}}


def code_of_turn(kind: str) -> int:
    if kind in get_args(StorageFailure):
        return CODES[StorageFailed]
    return INTERNAL_ERROR if kind == "internal" else MODEL_FAILED


def fault(error: SidecarError) -> JsonObject:
    """Always with `data.kind`."""
    data: JsonObject = {k: v for k, v in error.data.items() if v is not None}
    return {
        "code": CODES.get(type(error), INTERNAL_ERROR),
        "message": _short(error.message),
        "data": {"kind": error.kind, **data},
    }


def _short(message: str) -> str:
    if len(message) <= MOST_SAID:
        return message
    half = MOST_SAID // 2
    return f"{message[:half]} … {message[-half:]}"


def internal(error: BaseException) -> JsonObject:
    """Writes the error for a bug, without paths or bodies."""
    message = "Something went wrong inside the daemon: its log on stderr says what."
    # Python has no class of its own for a thread without memory.
    if isinstance(error, MemoryError) or str(error) == "can't start new thread":
        message = OUT_OF_MEMORY
    return {"code": INTERNAL_ERROR, "message": message, "data": {"kind": "internal"}}
