"""Where windows find their shared daemon. Imports little: windows wait.

A socket in the user's own folder, named for data folder, version, place of the program and
container. Whoever finds nobody behind makes another, under a lock, and starts a daemon.
"""

import binascii
import fcntl
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Iterator, Mapping

BACKLOG = 128
TRY_EVERY = 0.02
"""Seconds between tries to lock."""
PROXIES = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Variables that the provider's library reads from the process."""
DECIDING = (
    "HOME", "SIDECAR_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR", *PROXIES,
)  # fmt: skip
"""Variables that are the daemon's, not a window's: windows that differ in one share nothing."""
LONGEST = 8 * 1024 * 1024
"""Bytes of what a window says of itself, its variables above all."""
MUST, MAY = "window", "window or alone"
"""What windows wish: one that must share, and one that may have its own daemon instead."""
WRAPPED = "wrapped agent"
"""What the tap of another agent wishes, which has its recorder here."""
HERE = b"\x06"
"""From a daemon that has taken a window."""


def identity(variables: Mapping[str, str], version: str) -> str:
    """The same for all windows of one daemon."""
    named = [version, os.path.dirname(os.path.abspath(__file__)), sys.executable]
    return "\n".join([*named, *_machine(), *(variables.get(name, "") for name in DECIDING)])


def _machine() -> Iterator[str]:
    """The files, processes and network that this process sees.

    A container may have the home and the sockets of the user, but no program of the host's.
    """
    root = os.stat("/")
    yield f"{root.st_dev} {root.st_ino}"
    for space in ("mnt", "pid", "net"):
        try:
            yield os.readlink(f"/proc/self/ns/{space}")
        except OSError:
            yield ""


def socket_path(variables: Mapping[str, str], version: str) -> str:
    """By a sum of the identity: a socket's path is short.

    Raises OSError unless the folder is this user's alone.
    """
    total = binascii.crc32(os.fsencode(identity(variables, version)))
    return os.path.join(_own_folder(variables), f"{total:08x}.sock")


def stopping_path(path: str) -> str:
    """Where commands find this process, while new windows start another daemon."""
    return f"{path.removesuffix('.sock')}.{os.getpid()}.sock"


def paths_beside(path: str) -> list[str]:
    """This path, and those of its stopping daemons; nobody may be behind them."""
    folder, name = os.path.split(path)
    begin = name.removesuffix("sock")
    beside = (one for one in os.listdir(folder) if one.startswith(begin) and one.endswith(".sock"))
    return [os.path.join(folder, one) for one in sorted(beside, key=lambda one: (one != name, one))]


def _own_folder(variables: Mapping[str, str]) -> str:
    base = variables.get("XDG_RUNTIME_DIR")
    if base and os.path.isabs(base) and os.path.isdir(base):
        folder = os.path.join(base, "sidecar")
    else:
        folder = f"/tmp/sidecar-{os.getuid()}"
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700, exist_ok=True)
    about = os.lstat(folder)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise OSError(f"{folder} is not a folder of yours alone: remove it, or set XDG_RUNTIME_DIR")
    return folder


class Locked:
    """Held while a socket is made or removed; waits for another process `within` seconds."""

    def __init__(self, path: str, within: float) -> None:
        self._path = f"{path}.lock"
        self._until = time.monotonic() + within

    def __enter__(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        held = False
        try:
            while not (held := self._locked()) and time.monotonic() < self._until:
                time.sleep(TRY_EVERY)
        finally:
            if not held:
                os.close(self._descriptor)
        if not held:
            raise OSError(f"another process holds {self._path}")

    def _locked(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def reached(path: str) -> socket.socket | None:
    """Connected to a daemon of this user's; `None` if nobody listens.

    Raises OSError, such as BlockingIOError where too many wait already.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    if user_of(connection) != os.getuid():
        connection.close()
        raise OSError(f"{path} is another user's")
    connection.setblocking(True)
    return connection


def listening(path: str) -> socket.socket:
    """A new socket in place of those with nobody behind; hold `Locked`."""
    for old in paths_beside(path):
        connection = None if old == path else reached(old)
        if connection is None:
            os.unlink(old)
        else:
            connection.close()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(path)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def user_of(connection: socket.socket) -> int:
    if sys.platform == "darwin":
        # `struct xucred` of `<sys/ucred.h>`: a version, then the user.
        about = connection.getsockopt(0, 1, 76)
        return int(struct.unpack_from("II", about)[1])
    about = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", about)[1])
