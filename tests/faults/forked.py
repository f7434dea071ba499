"""Programs that a nursery forks, with the face of a `subprocess.Popen`, and commands of such."""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.e2e.plain import SERVE, Spawn, popen_of
from tests.faults import nursery

ROOT = Path(__file__).parent.parent.parent
LIMIT = 180.0
"""Seconds: so long may a start that imports all take where much else runs."""
MOST = 1 << 26
"""Bytes read of what a command printed."""


class Nursery:
    """Starts daemons and commands in a few milliseconds each."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._line, self._turn = ours, threading.Lock()
        self._line.settimeout(LIMIT)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, nursery.__file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        assert self._line.recv(64) == b"ready\n"

    def start(
        self,
        arguments: Sequence[str],
        environment: dict[str, str],
        descriptors: Sequence[int],
        cwd: Path | None = None,
        program: str = "",
    ) -> "Child":
        """Start `sidecar` or a program with these three descriptors; without `cwd` in its `PWD`."""
        request = {
            "fork": environment,
            "arguments": arguments,
            "cwd": cwd and os.fspath(cwd),
            "program": program,
        }
        return Child(self, self._ask(request, descriptors))

    def fork(
        self, environment: dict[str, str], log: int | None = None, program: Sequence[str] = ()
    ) -> "Forked":
        """Start a daemon with this environment, in its `PWD`; `log` takes what it tells.

        `program`: a file of Python to run in its place, with its arguments.
        """
        ends = [os.pipe() for _ in range(3)]
        (stdin, to), (out, stdout), (err, stderr) = ends
        if log is not None:
            os.dup2(log, stderr, inheritable=False)
        file, *arguments = program or ("", *SERVE)
        child = self.start(arguments, environment, (stdin, stdout, stderr), program=file)
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        return Forked(self, child.pid, open(to, "wb"), open(out, "rb"), open(err, "rb"))

    def reap(self, pid: int) -> int:
        """Give the exit code of a program that has ended."""
        return self._ask({"reap": pid})

    def _ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> int:
        with self._turn:
            socket.send_fds(self._line, [json.dumps(request).encode()], [*descriptors])
            return int(self._line.recv(64))

    def close(self) -> None:
        """End the nursery; its programs must have ended."""
        self._line.close()
        self._process.wait(LIMIT)


class Child:
    """A program that was forked, as much of a `Popen` as who waits for its end needs."""

    def __init__(self, parent: Nursery, pid: int) -> None:
        self._parent, self.pid = parent, pid
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
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        code = self.poll()
        assert code is not None
        return code


class Forked(Child):
    """A daemon that was forked, as much of a `Popen` as a client needs."""

    def __init__(
        self, parent: Nursery, pid: int, stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO
    ) -> None:
        super().__init__(parent, pid)
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr


@cache
def warm() -> Nursery | None:
    """Give the nursery of this process; none where the system cannot fork so."""
    if not hasattr(os, "pidfd_open"):
        return None
    made = Nursery()
    atexit.register(made.close)
    return made


def begin(
    arguments: Sequence[str | Path],
    descriptors: Sequence[int],
    env: dict[str, str],
    cwd: Path = ROOT,
) -> "Child | subprocess.Popen[bytes]":
    """Start a command of `sidecar` with this stdin, stdout and stderr, forked where that goes.

    Processes that it starts itself are started, not forked.
    """
    given, nursery = [os.fspath(one) for one in arguments], warm()
    if nursery is not None:
        return nursery.start(given, env, descriptors, cwd)
    stdin, stdout, stderr = descriptors
    command = [sys.executable, "-P", "-m", "sidecar", *given]
    return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd)


def sidecar(
    *arguments: str | Path,
    env: dict[str, str],
    cwd: Path = ROOT,
    stdin: str | int = "",
    timeout: float = LIMIT,
) -> "subprocess.CompletedProcess[str]":
    """Run a command of `sidecar` to its end; `stdin`: what it reads, or a descriptor."""
    with ExitStack() as stack:
        typed, *said = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        if isinstance(stdin, str):
            typed.write(stdin.encode())
            typed.seek(0)
            stdin = typed.fileno()
        child = begin(arguments, (stdin, *(one.fileno() for one in said)), env, cwd)
        try:
            code = child.wait(timeout)
        except BaseException:
            child.kill()
            child.wait()
            raise
        out, err = (os.pread(one.fileno(), MOST, 0).decode() for one in said)
    return subprocess.CompletedProcess(arguments, code, out, err)


@contextmanager
def program(file: str, *arguments: object) -> Iterator[Any]:
    """Give a process that runs a file of Python, forked where that goes; killed in the end."""
    command, nursery = [file, *map(str, arguments)], warm()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python/src'}"}
    if nursery is None:
        process = popen_of(*command)(environment)
    else:
        process = nursery.fork(environment, program=command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture(scope="session")
def spawn() -> Spawn | None:
    """Start daemons by forking, where the system can; else as editors do."""
    nursery = warm()
    return nursery and nursery.fork
