"""Connects to the daemon that windows share, else to one for one command."""

import os
import sys
from contextlib import AbstractAsyncContextManager

from sidecar_client import Client, connect

from sidecar import __version__

_SERVE = (sys.executable, "-P", "-m", "sidecar", "serve", "--stdio")
DAEMON = (*_SERVE, "--alone")
"""Starts this program's daemon; `-P` excludes the current folder's modules."""


def own_daemon() -> AbstractAsyncContextManager[Client, bool | None]:
    """Connects to the shared daemon, as another could not write windows' open sessions.

    Without one, starts a daemon that logs errors only, unless SIDECAR_LOG is set.
    """
    command = (*_SERVE, "--shared") if _shared_runs() else DAEMON
    return connect(command, env={"SIDECAR_LOG": os.environ.get("SIDECAR_LOG", "error")})


def _shared_runs() -> bool:
    # Imported late, as most commands need none.
    from sidecar.daemon.rendezvous import reached, socket_path  # noqa: PLC0415 - see above

    try:
        connection = reached(socket_path(os.environ, __version__))
    except OSError:
        return False
    if connection is None:
        return False
    connection.close()
    return True
