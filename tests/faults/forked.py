"""Daemons that a nursery forks, with the face of a `subprocess.Popen`."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.e2e.plain import Spawn
from tests.faults import nursery

ROOT = Path(__file__).parent.parent.parent
LIMIT = 180.0
"""Seconds: so long may a start that imports all take where much else runs."""


class Nursery:
    """Starts daemons in a few milliseconds each."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._line = ours
        self._line.settimeout(LIMIT)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, nursery.__file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        assert self._line.recv(64) == b"ready\n"

    def fork(self, environment: dict[str, str], log: int | None = None) -> "Forked":
        """Start a daemon with this environment, in its `PWD`; `log` takes what it tells."""
        ends = [os.pipe() for _ in range(3)]
        (stdin, to), (out, stdout), (err, stderr) = ends
        if log is not None:
            os.dup2(log, stderr, inheritable=False)
        data = json.dumps({"fork": environment}).encode()
        socket.send_fds(self._line, [data], [stdin, stdout, stderr])
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        pid = int(self._line.recv(64))
        return Forked(self, pid, open(to, "wb"), open(out, "rb"), open(err, "rb"))

    def reap(self, pid: int) -> int:
        """Give the exit code of a daemon that has ended."""
        self._line.sendall(json.dumps({"reap": pid}).encode())
        return int(self._line.recv(64))

    def close(self) -> None:
        """End the nursery; its daemons must have ended."""
        self._line.close()
        self._process.wait(LIMIT)


class Forked:
    """A daemon that was forked, as much of a `Popen` as a client needs."""

    def __init__(
        self, parent: Nursery, pid: int, stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO
    ) -> None:
        self._parent, self.pid = parent, pid
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.returncode: int | None = None
        self._handle = os.pidfd_open(pid)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """`kill -9`."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Give the exit code, or `None` while it runs."""
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self.returncode = self._parent.reap(self.pid)
            os.close(self._handle)
        return self.returncode

    def wait(self, timeout: float = LIMIT) -> int:
        """Wait for its end; gives the exit code, or raises TimeoutExpired as a Popen does."""
        if self.returncode is None and not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"daemon {self.pid}", timeout)
        code = self.poll()
        assert code is not None
        return code


@pytest.fixture(scope="session")
def spawn() -> Iterator[Spawn | None]:
    """Start daemons by forking, where the system can; else as editors do."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    nursery = Nursery()
    yield nursery.fork
    nursery.close()
