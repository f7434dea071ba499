"""Errors, in the daemon's words."""

from typing import Any


class SidecarError(Exception):
    """The daemon's error; `message` includes advice.

    `code` is JSON-RPC's; `kind` distinguishes errors of one code; `data` is the rest.
    """

    def __init__(self, code: int, kind: str, message: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind
        self.message = message
        self.data = data


class Disconnected(SidecarError):
    """The daemon is gone or sent unreadable data: no more answers."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "disconnected", message, {})
