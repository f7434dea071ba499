"""The one rule of names: what ACP has keeps its name there, all else of ours begins `_sidecar/`."""

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
"""What an ACP client knows of what we send."""


def incoming(method: str) -> str | None:
    """Give the name in our own method table of what came with the prefix, else `None`."""
    return method.removeprefix(PREFIX) if method.startswith(PREFIX) else None


def outgoing(method: str) -> str:
    """Give the name under which an ACP client is sent a request or notification."""
    return method if method in CLIENT_METHODS else PREFIX + method
