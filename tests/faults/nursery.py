"""A process that has all of the daemon imported and forks one for each request.

What is forked is the whole daemon, from reading stdin on; only the second of the interpreter's
start is saved. As a program: `python nursery.py DESCRIPTOR`, a Unix socket on which a request is
a line of JSON: `{"fork": {…environment…}}` with stdin, stdout and stderr beside it, answered by
the pid, or `{"reap": pid}`, answered by the exit code (negative for a signal).
"""

import importlib
import json
import os
import pkgutil
import socket
import sys
import traceback

import sidecar
from sidecar.daemon.serving import serve_stdio
from sidecar.model import vocabulary

APART = ("sidecar.__main__", "sidecar.cli", "sidecar.commands", "sidecar.replay")
LATE = ("anthropic", "httpx2", "tiktoken")
"""What the daemon imports once it needs it."""


def warm_up() -> None:
    """Import all that a daemon may need; nothing is opened and no thread started."""
    for found in pkgutil.walk_packages(sidecar.__path__, "sidecar."):
        if not found.name.startswith(APART):
            importlib.import_module(found.name)
    for name in LATE:
        importlib.import_module(name)
    counter = vocabulary.load_counter()
    vocabulary.load_counter = lambda: counter
    models = importlib.import_module("sidecar.model.models")
    models.load_counter = vocabulary.load_counter


def become_daemon(environment: dict[str, str], given: list[int]) -> None:
    """Be a daemon that was started with these three descriptors; does not return."""
    code = 70
    try:
        for number, descriptor in enumerate(given):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(environment.get("PWD", "."))
        serve_stdio()
    except BaseException:  # noqa: BLE001 - whatever happens, this is no second nursery
        traceback.print_exc()
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
            become_daemon(request["fork"], given)
        for descriptor in given:
            os.close(descriptor)
        line.sendall(b"%d\n" % pid)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
