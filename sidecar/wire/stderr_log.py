"""Logs to stderr, one JSON object a line, never bodies."""

import logging
import sys

from sidecar.core.parts import JsonObject
from sidecar.core.text.visible import visible_json
from sidecar.wire.translate import iso


class JsonLines(logging.Formatter):
    """Time, level, logger, message."""

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


def log_to_stderr(level: str) -> None:
    """Of libraries errors only: pygls logs whole bodies."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
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
