"""A window's thin process: passes bytes between stdin, stdout and the shared daemon.

Started by editors, so imports little, and of Sidecar only what does the same.
"""

import os
import select
import socket
import sys
import threading
import time
from contextlib import suppress

from sidecar import __version__
from sidecar.daemon.rendezvous import (
    HERE,
    PROXIES,
    Locked,
    identity,
    listening,
    reached,
    socket_path,
)

CHUNK = 64 * 1024
PARENT_EVERY = 3.0
"""Seconds between looks at whether the editor still lives."""
GREETING = 30.0
"""Seconds for a daemon to take a window, its start and further tries included."""
PAUSE = 0.2
"""Seconds between tries, of a daemon that ends just now or has no free descriptor."""
LAST_WORDS = 0.5
"""Seconds for what the daemon has said to be written to stderr."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", *PROXIES)
_KEPT_BEGINNINGS = ("XDG_", "LC_", "SIDECAR_", "COVERAGE_", "OTEL_")
"""Variables of a daemon that this starts: no key of a model, which each window gives itself."""

LOST = "sidecar: the daemon ended; the editor may start it again\n"


def attach() -> int:
    """For one window, until either end closes; gives the exit code."""
    try:
        path = socket_path(os.environ, __version__)
        until = time.monotonic() + GREETING
        while time.monotonic() < until:
            connection = reached(path) or _started(path)
            heard, told = os.pipe()
            outcome = greet(connection, "window", told)
            os.close(told)
            if outcome is not None:
                return _pass(connection, outcome, heard)
            os.close(heard)
            connection.close()
            time.sleep(PAUSE)
    except OSError as error:
        sys.stderr.write(f"sidecar: no shared daemon: {error}\n")
        return 1
    sys.stderr.write(LOST)
    return 1


def _started(path: str) -> socket.socket:
    with Locked(path):
        # Another window may have started one meanwhile.
        if connection := reached(path):
            return connection
        with listening(path) as made:
            _spawn(made.fileno(), path)
    connection = reached(path)
    if connection is None:
        raise OSError(f"the daemon on {path} did not start")
    return connection


def _spawn(descriptor: int, path: str) -> None:
    import subprocess  # noqa: PLC0415 - only the first window needs it

    variables = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name.startswith(_KEPT_BEGINNINGS)
    }
    with open(f"{path}.log", "a+b") as log:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "sidecar", "resident", str(descriptor), path],
            env=variables,
            cwd="/",
            pass_fds=(descriptor,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def greet(connection: socket.socket, wish: str, *told: int) -> int | None:
    """Say who comes for what: "window", "status", "stop" or "stop now".

    `told`: the descriptor that takes what a window's user is told on stderr.
    Gives the descriptor from which the exit code comes; `None` if the daemon ends just now, or
    cannot take that descriptor. Without it a command is served all the same.
    Raises OSError for one that hangs.
    """
    readable, writable = os.pipe()
    named = identity(os.environ, __version__), wish, os.getcwd()
    data = os.fsencode("\0".join([*named, *map("=".join, os.environ.items())]))
    connection.settimeout(GREETING)
    try:
        socket.send_fds(connection, [len(data).to_bytes(4, "big")], [writable, *told])
        connection.sendall(data)
        taken = connection.recv(1) == HERE
    except TimeoutError:
        where = connection.getpeername()
        connection.close()
        os.close(readable)
        raise OSError(f"that on {where} does not answer") from None
    except OSError:
        taken = False
    finally:
        os.close(writable)
    connection.settimeout(None)
    if taken:
        return readable
    os.close(readable)
    return None


def _pass(connection: socket.socket, outcome: int, heard: int) -> int:
    threading.Thread(target=_send, args=(connection,), daemon=True).start()
    telling = threading.Thread(target=_tell, args=(heard,), daemon=True)
    telling.start()
    try:
        while data := connection.recv(CHUNK):
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]
    except OSError:
        # The editor reads no more; or the daemon was killed, of which the code below tells.
        # A mere close would wait for what is being sent.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    code = os.read(outcome, 8)
    # An editor may read no stderr.
    telling.join(LAST_WORDS)
    if not code:
        sys.stderr.write(LOST)
    return int(code or b"1")


def _tell(heard: int) -> None:
    with suppress(OSError):
        while data := os.read(heard, CHUNK):
            os.write(2, data)


def _send(connection: socket.socket) -> None:
    started_by = os.getppid()
    try:
        while os.getppid() == started_by:
            ready, _, _ = select.select([0], [], [], PARENT_EVERY)
            if not ready:
                continue
            data = os.read(0, CHUNK)
            if not data:
                break
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return
