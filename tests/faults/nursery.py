"""A process that has all of Sidecar imported and forks one for each request.

What is forked is the whole program, from its arguments and stdin on; only the second of the
interpreter's start is saved. As a program: `python nursery.py DESCRIPTOR`, a Unix socket on which
a request is a line of JSON: `{"fork": {…environment…}, "arguments": […], "cwd": …, "program": …}`
with stdin, stdout and stderr beside it, answered by the pid, or `{"reap": pid}`, answered by the
exit code (negative for a signal).
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import sidecar
from sidecar import cli
from sidecar.commands.own_daemon import DAEMON
from sidecar.model import vocabulary

LATE = ("anthropic", "httpx2", "tiktoken", "rich.table", "rich.progress", "rich.live")
"""What is imported once it is needed."""


def warm_up() -> None:
    """Import all that a program may need; nothing is opened and no thread started."""
    # Python put the folder of this file first.
    del sys.path[0]
    for found in pkgutil.walk_packages(sidecar.__path__, "sidecar."):
        importlib.import_module(found.name)
    for name in LATE:
        importlib.import_module(name)
    counter = vocabulary.load_counter()
    vocabulary.load_counter = lambda: counter
    models = importlib.import_module("sidecar.model.models")
    models.load_counter = vocabulary.load_counter
    # As `python -m sidecar` has it: usage and processes of a pool are told from it.
    sys.modules["__main__"] = importlib.import_module("sidecar.__main__")
    fork_daemons()
    # Python warns of a fork beside threads; those of commands only wait for processes.
    warnings.simplefilter("ignore", DeprecationWarning)
    gc.freeze()


def become(
    arguments: Sequence[str],
    environment: dict[str, str],
    cwd: str,
    given: Sequence[int],
    program: str = "",
) -> NoReturn:
    """Be `sidecar`, or a `program` of Python, that was started with these three descriptors."""
    code: Any = 70
    # What a command has not yet printed must not be flushed by its daemon.
    before = sys.stdout, sys.stderr
    try:
        for number, descriptor in enumerate(given):
            os.dup2(descriptor, number)
        os.closerange(3, 256)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        os.chdir(cwd)
        sys.argv = [program or str(sys.modules["__main__"].__file__), *arguments]
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
        if program:
            runpy.run_path(program, run_name="__main__")
        else:
            cli.main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:  # noqa: BLE001 - whatever happens, this is no second nursery
        traceback.print_exc()
    finally:
        del before
        end(code)


def fork_daemons() -> None:
    """Have commands fork the daemons of their own too, where they would start them."""
    start = subprocess._fork_exec

    def fork_or_start(command: Sequence[str], *how: Any) -> int:
        if tuple(command) != DAEMON:
            return int(start(command, *how))
        if pid := os.fork():
            return pid
        # A loop of the command's runs here, and its handlers of signals.
        asyncio.events._set_running_loop(None)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        environment = dict(os.fsdecode(one).split("=", 1) for one in how[4])
        ends = (how[5], how[8], how[10])
        given = [number if end < 0 else end for number, end in enumerate(ends)]
        become(command[4:], environment, ".", given)

    subprocess._fork_exec = fork_or_start


def end(code: int) -> None:
    """End as an interpreter does, but for the time to take modules down."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main(line: socket.socket) -> None:
    """Answer requests until the other end is closed."""
    warm_up()
    line.sendall(b"ready\n")
    while True:
        data, given, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not data:
            return
        request = json.loads(data)
        if "reap" in request:
            _, status = os.waitpid(request["reap"], 0)
            line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            continue
        pid = os.fork()
        if pid == 0:
            line.close()
            environment = request["fork"]
            cwd = request["cwd"] or environment.get("PWD", ".")
            become(request["arguments"], environment, cwd, given, request["program"])
        for descriptor in given:
            os.close(descriptor)
        line.sendall(b"%d\n" % pid)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
