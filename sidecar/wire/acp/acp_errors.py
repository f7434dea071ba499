"""ACP's error codes; errors without one keep Sidecar's."""

from sidecar.core.errors import ModelFailed, SidecarError, UnknownSession
from sidecar.core.parts import JsonObject
from sidecar.wire.error_codes import RefusedMessage, code_of_turn, fault

AUTH_REQUIRED = -32000
NOT_FOUND = -32002


def agent_fault(error: SidecarError) -> JsonObject:
    told = fault(error)
    if isinstance(error, UnknownSession):
        told["code"] = NOT_FOUND
    elif isinstance(error, ModelFailed):
        told["code"] = model_code(error.kind)
    return told


def model_code(kind: str) -> int:
    return AUTH_REQUIRED if kind == "authentication" else code_of_turn(kind)


def turn_failed(error: JsonObject, about: JsonObject) -> RefusedMessage:
    """Makes an error, as ACP has no stop reason for failures.

    `error`: `{kind, message, …}`; `about`: the turn's ids, for `data`.
    """
    kind, message = str(error.get("kind", "internal")), str(error.get("message", ""))
    rest = {k: v for k, v in error.items() if k not in ("kind", "message", "code")}
    return RefusedMessage(model_code(kind), kind, message, **{**rest, **about})
