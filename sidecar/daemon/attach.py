"""A window's thin process: passes bytes between stdin, stdout and the shared daemon.

Started by editors, so imports little: the standard library, and only thin parts of Sidecar.
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
    LONGEST,
    MAY,
    MUST,
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
SOON = 10.0
"""The same for a window that may have its own daemon."""
PAUSE = 0.2
"""Seconds between tries, of a daemon that ends just now or has no free descriptor."""
LAST_WORDS = 0.5
"""Seconds for what the daemon has said to be written to stderr."""
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", *PROXIES)
_KEPT_BEGINNINGS = ("XDG_", "LC_", "SIDECAR_", "COVERAGE_", "OTEL_")
"""Variables of a daemon that this starts: no key of a model, which each window gives itself."""

LOST = "sidecar: the daemon ended; the editor may start it again\n"


class Alone(Exception):
    """No daemon is shared, because of `why`; the editor has `said` so much."""

    def __init__(self, why: str, said: bytes = b"") -> None:
        super().__init__(why)
        self.why, self.said = why, said


def attach() -> int:
    """Serve a window that must share until either end closes; gives the exit code."""
    try:
        window = taken(MUST, GREETING)
    except OSError as error:
        sys.stderr.write(f"sidecar: no shared daemon: {error}\n")
        return 1
    if window is None:
        sys.stderr.write(LOST)
        return 1
    return _pass(*window)


def attach_if_possible() -> int:
    """As `attach`, for a window that may have its own daemon; raises `Alone`."""
    try:
        window = taken(MAY, SOON)
    except OSError as error:
        raise Alone(str(error)) from None
    if window is None:
        raise Alone(f"none has taken this window within {SOON:.0f} seconds")
    connection, outcome, heard = window
    ended = _begin(connection, outcome)
    return _pass(connection, outcome, heard) if ended is None else ended


def taken(wish: str, within: float) -> tuple[socket.socket, int, int] | None:
    """Returns a connection, and descriptors of exit code and log; `None` if none in time.

    Raises OSError if no daemon can start.
    """
    path = socket_path(os.environ, __version__)
    until = time.monotonic() + within
    while (left := until - time.monotonic()) > 0:
        try:
            connection = reached(path) or _started(path, left)
        except BlockingIOError:
            time.sleep(PAUSE)
            continue
        heard, told = os.pipe()
        outcome = greet(connection, wish, told, within=left)
        os.close(told)
        if outcome is not None:
            return connection, outcome, heard
        os.close(heard)
        connection.close()
        time.sleep(PAUSE)
    return None


def _started(path: str, within: float) -> socket.socket:
    with Locked(path, within):
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


def greet(connection: socket.socket, wish: str, *told: int, within: float = GREETING) -> int | None:
    """Sends a wish: `MUST`, `MAY`, `WRAPPED`, "status", "stop" or "stop now".

    `told`: the descriptor of a window's stderr. Returns the descriptor of the exit code, or `None`
    if the daemon is ending or refuses. Raises OSError if the daemon hangs.
    """
    readable, writable = os.pipe()
    named = identity(os.environ, __version__), wish, os.getcwd()
    data = os.fsencode("\0".join([*named, *map("=".join, os.environ.items())]))
    connection.settimeout(within)
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


def _begin(connection: socket.socket, outcome: int) -> int | None:
    """Passes bytes on until the daemon answers, then returns `None`; else the exit code.

    Raises `Alone` if the daemon sends the window away, or ends.
    """
    said, started_by, ears = b"", os.getppid(), [0, connection.fileno()]
    with suppress(OSError):
        while os.getppid() == started_by and len(said) < LONGEST:
            ready, _, _ = select.select(ears, [], [], PARENT_EVERY)
            if connection.fileno() in ready:
                if connection.recv(1, socket.MSG_PEEK):
                    return None
                break
            if 0 in ready:
                data = os.read(0, CHUNK)
                said += data
                connection.sendall(data)
                if not data:
                    ears.remove(0)
                    connection.shutdown(socket.SHUT_WR)
        else:
            if os.getppid() != started_by:
                connection.shutdown(socket.SHUT_WR)
            return None
    code = os.read(outcome, CHUNK)
    connection.close()
    if code.isdigit():
        return int(code)
    raise Alone(code.decode() or "it has ended", said)


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
    code = os.read(outcome, CHUNK)
    # An editor may read no stderr.
    telling.join(LAST_WORDS)
    if not code.isdigit():
        sys.stderr.write(LOST)
        return 1
    return int(code)


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
