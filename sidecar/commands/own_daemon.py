"""A daemon for one command, over the user's store: what people type goes the editor's way."""

import os
import sys
from contextlib import AbstractAsyncContextManager

from sidecar_client import Client, connect

DAEMON = (sys.executable, "-P", "-m", "sidecar", "serve", "--stdio")
"""Starts this program's daemon; `-P` keeps modules of the current folder out of it."""


def own_daemon() -> AbstractAsyncContextManager[Client, bool | None]:
    """Start it for a block; its log stays quiet unless SIDECAR_LOG says otherwise."""
    return connect(
        DAEMON,
        env={"SIDECAR_LOG": os.environ.get("SIDECAR_LOG", "error")},
    )
