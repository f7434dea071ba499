"""A daemon for one command, over the user's store."""

import os
import sys
from contextlib import AbstractAsyncContextManager

from sidecar_client import Client, connect

DAEMON = (sys.executable, "-P", "-m", "sidecar", "serve", "--stdio")
"""Starts this program's daemon; `-P` excludes the current folder's modules."""


def own_daemon() -> AbstractAsyncContextManager[Client, bool | None]:
    """Logs errors only, unless SIDECAR_LOG is set."""
    return connect(
        DAEMON,
        env={"SIDECAR_LOG": os.environ.get("SIDECAR_LOG", "error")},
    )
