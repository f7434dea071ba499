"""ACP's methods stay, others get the prefix `_sidecar/`."""

PREFIX = "_sidecar/"

CLIENT_METHODS = frozenset(
    {
        "session/update",
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/release",
        "terminal/wait_for_exit",
        "terminal/kill",
        "$/cancel_request",
    }
)
"""Methods we send that ACP clients know."""


def incoming(method: str) -> str | None:
    return method.removeprefix(PREFIX) if method.startswith(PREFIX) else None


def outgoing(method: str) -> str:
    return method if method in CLIENT_METHODS else PREFIX + method
