"""A real terminal program on a pseudo-terminal, and its screen read back with pyte."""

import fcntl
import os
import pty
import select
import struct
import termios
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pyte

LIMIT = 40.0
"""Seconds to wait for anything to stand on the screen."""


class Terminal:
    """A program that draws on a screen of `columns` by `rows`; keys go in as text."""

    def __init__(
        self,
        command: list[str],
        cwd: Path,
        env: Mapping[str, str],
        columns: int = 140,
        rows: int = 44,
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = threading.Condition(threading.RLock())
        child, self._fd = pty.fork()
        if child == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
        self.pid = child
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def type(self, keys: str) -> None:
        """Press keys: text, with control characters for what is no letter."""
        os.write(self._fd, keys.encode())

    def text(self) -> str:
        """Give the screen, its lines without the blanks at their ends."""
        with self._drawn:
            return "\n".join(line.rstrip() for line in self._screen.display)

    def colours(self, text: str) -> set[str]:
        """Give the foreground colours of the first place where `text` stands."""
        with self._drawn:
            for row, line in enumerate(self._screen.display):
                if (column := line.find(text)) >= 0:
                    cells = (self._screen.buffer[row][column + i] for i in range(len(text)))
                    return {cell.fg for cell in cells}
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text()}")

    def wait(self, found: str | Callable[[str], bool], limit: float = LIMIT) -> str:
        """Wait until the screen holds a text, or pleases a function; gives the screen."""
        fits = found if callable(found) else lambda screen: found in screen
        end = time.monotonic() + limit
        with self._drawn:
            while not fits(screen := self.text()):
                left = end - time.monotonic()
                assert left > 0, f"waited for {found!r}; the screen is\n{screen}"
                self._drawn.wait(left)
        return screen

    def end(self) -> int:
        """Wait until the program ends; gives its exit code."""
        deadline = time.monotonic() + LIMIT
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                break
            assert time.monotonic() < deadline, f"it does not end:\n{self.text()}"
            self._reader.join(0.02)
        self._reader.join(LIMIT)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> None:
        # A pseudo-terminal whose program has ended is an error to read from.
        with suppress(OSError):
            while True:
                select.select([self._fd], [], [])
                data = os.read(self._fd, 65536)
                if not data:
                    return
                with self._drawn:
                    self._stream.feed(data)
                    self._drawn.notify_all()
