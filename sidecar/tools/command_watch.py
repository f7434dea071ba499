"""Ends commands that still run when the daemon is killed.

A small shell reads a pipe that closes with the daemon. Misses commands begun just before: waiting
for each would need another program in front.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

_WATCH = """
cd /
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group"; done
sleep 2
for group in $groups; do kill -s KILL -- "-$group"; done
"""
"""SIGTERM first, as for a command that takes too long."""


@contextmanager
def ended_with_daemon(group: int) -> Iterator[None]:
    """Watches a process group during the block, if descriptors suffice."""
    _tell(f"+ {group}\n")
    try:
        yield
    finally:
        _tell(f"- {group}\n")


def _tell(line: str) -> None:
    with suppress(OSError, NotImplementedError):
        os.write(_watcher(), line.encode())


@cache
def _watcher() -> int:
    readable, writable = os.pipe()
    try:
        os.posix_spawn(
            "/bin/sh",
            ("sh", "-c", _WATCH),
            {"PATH": os.defpath},
            file_actions=(
                (os.POSIX_SPAWN_DUP2, readable, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ),
            setsid=True,
        )
    except BaseException:
        os.close(writable)
        raise
    finally:
        os.close(readable)
    # A watcher that stands still holds no command up.
    os.set_blocking(writable, False)
    return writable
