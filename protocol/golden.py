"""Golden files: whole JSON-RPC messages, so that a client in any language can be tested on them."""

from typing import Any

import msgspec

from protocol.errors import ERRORS, ErrorCode
from protocol.methods import METHODS
from protocol.sample_updates import UPDATES
from protocol.samples import PARAMS, RESULTS, SESSION
from protocol.schema import pretty
from protocol.source import client
from protocol.source.updates import SessionUpdateParams

_DATA: dict[str, Any] = {
    "path": "params.prompt[0].text",
    "revision": 13,
    "owner": {"pid": 4711, "host": "ada"},
    "conflicts": [{"path": "src/a b.py", "reason": "changed since the turn"}],
    "files": {
        "restored": [],
        "merged": [],
        "skipped": [{"path": "src/a b.py", "reason": "Nothing of what the agent did is left."}],
        "conflicts": [],
    },
    "status": 529,
    "retryable": True,
}
"""An example of each field that an error's `data` can have."""


def files() -> dict[str, str]:
    """Give the text of every golden file by its name."""
    goldens = {
        f"{_file(name)}.params.json": _params(name, params) for name, params in PARAMS.items()
    }
    for name, result in RESULTS.items():
        goldens[f"{_file(name)}.result.json"] = _result(name, result)
    dismissed = client.SessionRequestPermissionResult(outcome=client.PermissionCancelled())
    permission = "session/request_permission"
    goldens[f"{_file(permission)}.cancelled.result.json"] = _result(permission, dismissed)
    for update in UPDATES:
        params = SessionUpdateParams(session_id=SESSION, update=update)
        kind = update.__struct_config__.tag
        goldens[f"session-update.{kind}.params.json"] = _params("session/update", params)
    for error in ERRORS.values():
        goldens[f"error{error.code}.json"] = pretty(_error(error))
    return goldens


def _file(method: str) -> str:
    return method.replace("/", "-")


def _params(name: str, params: msgspec.Struct) -> str:
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if METHODS[name].kind == "request":
        message["id"] = 1
    message |= {"method": name, "params": msgspec.to_builtins(params)}
    return _golden(name, "params", type(params), message)


def _result(name: str, result: msgspec.Struct) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "result": msgspec.to_builtins(result)}
    return _golden(name, "result", type(result), message)


def _golden(method: str, part: str, struct: type[msgspec.Struct], message: dict[str, Any]) -> str:
    return pretty({"method": method, "part": part, "type": struct.__name__, "message": message})


def _error(error: ErrorCode) -> dict[str, Any]:
    data = {"kind": error.kinds[0], **{name: _DATA[name] for name in error.data}}
    body = {"code": error.code, "message": f"{error.meaning} {error.remedy}", "data": data}
    unread = error.code in (-32700, -32600)
    message = {"jsonrpc": "2.0", "id": None if unread else 1, "error": body}
    return {"part": "error", "message": message}
