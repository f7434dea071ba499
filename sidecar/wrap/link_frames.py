"""What tap and recorder say to each other: a letter, four bytes of length, content."""

import struct
from typing import Final

HEAD: Final = struct.Struct(">cI")
NUMBER: Final = struct.Struct(">I")
HELD: Final = struct.Struct(">I?d")

# --- from the tap ---
NAME: Final = b"N"
"""The agent's program; the first frame."""
UP: Final = b"U"
"""Bytes from the editor that went on; need not end at a line's end."""
DOWN: Final = b"D"
"""Bytes from the agent, as it wrote them."""
PROMPT: Final = b"P"
"""A whole prompt that is held: `HELD`, then the line as it came.

`HELD` has its number, whether words were put in front, and when it will go on by itself, in seconds
of the clock that the machine's processes share.
"""
ASKED: Final = b"A"
"""A request for us."""
LOST_UP: Final = b"u"
LOST_DOWN: Final = b"d"
"""Bytes of a stream were left out here."""

# --- from the recorder ---
READY: Final = b"R"
GO: Final = b"G"
"""The prompt of this number may go on."""
LINE: Final = b"L"
"""A line for the editor."""
KNOWN: Final = b"K"
"""The agent answers methods of ours itself: it is Sidecar."""
WORDS: Final = b"W"
"""JSON: `[session, words]` to put before the session's next prompt."""


def frame(kind: bytes, content: bytes = b"") -> bytes:
    return HEAD.pack(kind, len(content)) + content
