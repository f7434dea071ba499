"""Limits on foreign tools, whose definitions go out with every request, and on servers' messages.

A server, or the client, may take a third of 128k tokens.
"""

import json
from typing import Final

from sidecar.core.parts import JsonObject
from sidecar.core.text.json_text import is_deep

MOST_TOOLS: Final = 128
"""Of one MCP server, or of a client."""
MOST_DESCRIPTION: Final = 4_000
"""Characters of a tool's description."""
MOST_SCHEMA: Final = 16 * 1024
"""Characters of the JSON schema of a tool's input."""
MOST_OF_ALL: Final = 128 * 1024
"""Characters of all descriptions and schemas together."""
MOST_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes of one message of an MCP server."""
MOST_VALUES: Final = 100_000
"""Values of one message: to read millions of them takes many seconds, and gigabytes."""


def schema_size(schema: JsonObject) -> int:
    """As JSON; beyond any limit if nested too deep."""
    return MOST_OF_ALL + 1 if is_deep(schema) else len(json.dumps(schema, ensure_ascii=False))


class MessageSize:
    """How much of a message's JSON has come, in any pieces."""

    def __init__(self) -> None:
        self._bytes = 0
        self._values = 0
        self._in_string = False
        """Never at the beginning of a line: JSON's strings have none in them."""
        self._held = b""

    def add(self, piece: bytes) -> str:
        """Returns what there is too much of, or ""."""
        self._bytes += len(piece)
        if self._bytes > MOST_MESSAGE:
            return f"{MOST_MESSAGE // 1024 // 1024} MiB"
        piece = (self._held + piece).replace(rb"\\", b"")
        self._held = b"\\" if piece.endswith(b"\\") else b""
        self._values += piece.count(b"\n") + piece.count(b"\r")
        for n, line in enumerate(piece.splitlines() if self._values <= MOST_VALUES else ()):
            parts = line.replace(rb"\"", b"").split(b'"')
            inside = self._in_string and not n
            for part in parts[inside::2]:
                self._values += part.count(b",") + part.count(b"[") + part.count(b"{")
            self._in_string = inside ^ (len(parts) % 2 == 0)
        self._in_string &= not piece.endswith((b"\n", b"\r"))
        return f"{MOST_VALUES:,} values" if self._values > MOST_VALUES else ""
