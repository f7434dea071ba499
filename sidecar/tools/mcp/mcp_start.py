"""Starts an MCP server that ends with the daemon.

`python -I -S mcp_start.py DAEMON COMMAND …` becomes COMMAND. A watcher ends the server and its
children after DAEMON, as some servers never read stdin.
"""

import os
import select
import signal
import sys
import time

GRACE = 2.0
"""Seconds from SIGTERM to SIGKILL."""
LOOK = 1.0
"""Seconds between looks, without news of a process's end."""


def main(daemon: int, command: list[str]) -> None:
    """Leaves a watcher and becomes the server, or exits with 127."""
    server = os.getpid()
    if os.getppid() != daemon:
        return
    if os.getpgid(0) != server:
        os.setpgid(0, 0)
    between = os.fork()
    if not between:
        # In a process of its own: a server should not wait for a child it never started.
        if not os.fork():
            watch(daemon, server)
        os._exit(0)
    os.waitpid(between, 0)
    # Python ignores SIGPIPE, and the started program would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = f"there is no command {command[0]}" if missing else f"{command[0]}: {error.strerror}"
        sys.stderr.write(f"{why}\n")
        os._exit(127)


def watch(daemon: int, server: int) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    if not _ends_before(server, daemon):
        return
    try:
        # The group has the server's number, and exists as long as any of its processes.
        os.killpg(server, signal.SIGTERM)
        until = time.monotonic() + GRACE
        while time.monotonic() < until:
            os.killpg(server, 0)
            time.sleep(0.05)
        os.killpg(server, signal.SIGKILL)
    except OSError:
        return


def _ends_before(server: int, daemon: int) -> bool:
    waited = []
    for process in (daemon, server):
        try:
            waited.append(os.pidfd_open(process))
        except ProcessLookupError:
            return process == daemon
        except (AttributeError, OSError):
            return _looked_for(server, daemon)
    gone, _, _ = select.select(waited, [], [])
    return waited[0] in gone


def _looked_for(server: int, daemon: int) -> bool:
    while _lives(server):
        if not _lives(daemon):
            return True
        time.sleep(LOOK)
    return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
