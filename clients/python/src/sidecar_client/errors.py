"""What can go wrong, as the daemon says it."""

from typing import Any


class SidecarError(Exception):
    """The daemon answered with an error; `message` says what to do about it.

    `code` is JSON-RPC's, `kind` tells apart what shares a code, `data` is all that came with it.
    """

    def __init__(self, code: int, kind: str, message: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind
        self.message = message
        self.data = data


class Disconnected(SidecarError):
    """The daemon is gone, or what it sent could not be read: nothing will be answered any more."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "disconnected", message, {})
