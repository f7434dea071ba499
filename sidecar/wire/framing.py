"""Bytes to messages and back.

LSP's `Content-Length:` headers; or one JSON object a line, if the first byte is `{` or `[`.
"""

import json
import re
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import plain, read
from sidecar.core.text.visible import mended

Framing: TypeAlias = Literal["headers", "lines"]

MAX_HEADER = 8 * 1024
MAX_BODY = 64 * 1024 * 1024
_BLANK = b" \t\r\n"
_DIGITS = 20
_HEAD_SIZE = 1024
_HEAD = re.compile(
    rb'\s*\{((?:\s*"(?:jsonrpc|id|method)"\s*:'
    rb'\s*(?:0|[1-9]\d{0,14}|"[ !#-\[\]-~]{0,200}")\s*,)+\s*"[a-z]+"\s*:)'
)


@dataclass(frozen=True, slots=True)
class Arrived:
    """A JSON value, exactly as sent."""

    value: Json


@dataclass(frozen=True, slots=True)
class Malformed:
    """A body other than JSON; the stream continues."""

    reason: str


@dataclass(frozen=True, slots=True)
class DroppedMessage:
    """A message too large for memory; the stream continues.

    `head`: its first members, with the id to answer; the member after them is null.
    """

    head: JsonObject


@dataclass(frozen=True, slots=True)
class Broken:
    """Nothing further can be read."""

    reason: str


Frame: TypeAlias = Arrived | Malformed | DroppedMessage | Broken


class FrameDecoder:
    """Splits bytes into frames; buffers one frame at most."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._lost = 0
        self._searched = 0
        self._broken = False
        self._skipping = False
        self.framing: Framing | None = None

    def feed(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        try:
            self._buffer += data
        except MemoryError:
            if self._length is None and self.framing != "lines":
                raise
            frames.append(self._give_up())
            self._buffer += data
        while not self._broken and (frame := self._next()) is not None:
            frames.append(frame)
            self._broken = isinstance(frame, Broken)
        return frames

    def _give_up(self) -> DroppedMessage:
        head = _head(self._buffer)
        if self._length is None:
            self._skipping = True
        else:
            self._lost = self._length - len(self._buffer)
            self._length = None
        self._buffer = bytearray()
        self._searched = 0
        return DroppedMessage(head)

    def _next(self) -> Frame | None:
        if self.framing is None and not self._choose():
            return None
        return self._line() if self.framing == "lines" else self._framed()

    def _choose(self) -> bool:
        start = bytes(self._buffer).lstrip(_BLANK)
        del self._buffer[: len(self._buffer) - len(start)]
        if start:
            self.framing = "lines" if start[:1] in (b"{", b"[") else "headers"
        return bool(start)

    def _line(self) -> Frame | None:
        while (end := self._buffer.find(b"\n", self._searched)) >= 0:
            line = self._cut(end + 1)
            self._searched = 0
            if self._skipping:
                self._skipping = False
            elif isinstance(line, DroppedMessage):
                return line
            elif not line.isspace():
                return parse(line)
        self._searched = len(self._buffer)
        if self._skipping:
            self._drop()
        elif self._searched > MAX_BODY:
            # Where the next line begins is known, so that only this one is lost.
            self._skipping = True
            self._drop()
            return Malformed(f"a line is longer than the {MAX_BODY} bytes that are taken")
        return None

    def _drop(self) -> None:
        self._buffer.clear()
        self._searched = 0

    def _cut(self, size: int) -> bytes | DroppedMessage:
        try:
            with memoryview(self._buffer) as whole:
                return bytes(whole[:size])
        except MemoryError:
            return DroppedMessage(_head(self._buffer))
        finally:
            del self._buffer[:size]

    def _framed(self) -> Frame | None:
        if self._lost:
            here = min(self._lost, len(self._buffer))
            del self._buffer[:here]
            self._lost -= here
        if self._length is None:
            header = self._header()
            if not isinstance(header, int):
                return header
            self._length = header
        if len(self._buffer) < self._length:
            return None
        body = self._cut(self._length)
        self._length = None
        return body if isinstance(body, DroppedMessage) else parse(body)

    def _header(self) -> int | Broken | None:
        while self._buffer.startswith((b"\r", b"\n")):
            del self._buffer[:1]
        marks = (b"\r\n\r\n", b"\n\n")
        ends = [(at, len(mark)) for mark in marks if (at := self._buffer.find(mark)) >= 0]
        # Headers ending beyond the limit count as too long, like headers without an end so far.
        at, mark = min(ends, default=(len(self._buffer), 0))
        if at > MAX_HEADER:
            return Broken(f"headers are longer than {MAX_HEADER} bytes")
        if not ends:
            return None
        lines = bytes(self._buffer[:at]).decode("latin-1").splitlines()
        del self._buffer[: at + mark]
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip().lower() == "content-length" and value.strip().isascii():
                return _length(value.strip())
        return Broken("a frame has no Content-Length header")


def parse(body: bytes) -> Arrived | Malformed | DroppedMessage:
    """Numbers keep all digits; NaN and infinity are refused."""
    try:
        return Arrived(read(body))
    except ValueError as error:
        return Malformed(f"not JSON: {error}")
    except MemoryError:
        return DroppedMessage(_head(body))


def encode(message: Json, framing: Framing) -> bytes:
    try:
        text = _json(message)
    except ValueError:
        # A number that JSON cannot say.
        text = _json(plain(message))
    try:
        body = text.encode()
    except UnicodeEncodeError:
        # JSON could escape half characters, but many readers refuse such a message.
        body = mended(text).encode()
    return (
        body + b"\n" if framing == "lines" else b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )


def _json(message: Json) -> str:
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _head(message: bytes | bytearray) -> JsonObject:
    found = _HEAD.match(message[:_HEAD_SIZE])
    head = {} if found is None else read(b"{%bnull}" % found[1])
    return head if isinstance(head, dict) else {}


def _length(value: str) -> int | Broken:
    if not value.isdigit():
        return Broken(f"Content-Length is {value!r}, which is no number")
    # Python refuses to read numbers of thousands of digits.
    if len(value) > _DIGITS or int(value) > MAX_BODY:
        told = value if len(value) <= _DIGITS else f"{value[:_DIGITS]}…"
        return Broken(f"a message of {told} bytes is larger than the {MAX_BODY} that are taken")
    return int(value)
