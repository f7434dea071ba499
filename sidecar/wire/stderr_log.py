"""Logs to stderr, one JSON object a line, never bodies."""

import logging
import os
import select
import sys
import threading
from contextlib import suppress
from contextvars import ContextVar

from sidecar.core.parts import JsonObject
from sidecar.core.text.visible import visible_json
from sidecar.session.turn.clock import iso


class JsonLines(logging.Formatter):
    """Writes time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        line: JsonObject = {
            "at": iso(round(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return visible_json(line)


class WindowLog:
    """A pipe to a window's stderr; drops lines while full."""

    def __init__(self, descriptor: int | None) -> None:
        self._level = logging.INFO
        self._descriptor = descriptor
        # Threads may still work for a window that is gone, whose number is another file's.
        self._lock = threading.Lock()
        if descriptor is not None:
            os.set_blocking(descriptor, False)

    def set_level(self, level: str) -> None:
        self._level = logging.getLevelNamesMapping().get(level.upper(), self._level)

    def write(self, level: int, line: str) -> None:
        with self._lock, suppress(OSError):
            if self._descriptor is not None and level >= self._level:
                data = line.encode(errors="replace")[: select.PIPE_BUF - 1]
                os.write(self._descriptor, data + b"\n")

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None


WINDOW: ContextVar[WindowLog | None] = ContextVar("window", default=None)
"""The one for which this task works; those that it starts work for it, too."""


class _ToWindow(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if (window := WINDOW.get()) is not None:
            window.write(record.levelno, self.format(record))


def log_to_stderr(level: str) -> None:
    _log(level, logging.StreamHandler(sys.stderr))


def set_log_level(level: str) -> None:
    logging.getLogger().setLevel(level.upper())


def log_of_windows() -> None:
    own = logging.StreamHandler(sys.stderr)
    own.setLevel(logging.INFO)
    _log("debug", own, _ToWindow())


def _log(level: str, *handlers: logging.Handler) -> None:
    """Sets up logging; libraries only log errors, as pygls logs whole bodies."""
    for handler in handlers:
        handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=handlers, level=level.upper(), force=True)
    for name in (
        "pygls",
        "httpx2",
        "httpcore2",
        "anthropic",
        "asyncio",
        "watchfiles",
        "mcp",
        "client",
    ):
        logging.getLogger(name).setLevel(logging.ERROR)
