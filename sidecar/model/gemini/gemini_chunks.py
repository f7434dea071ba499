"""Cuts the bytes of a streamed response into chunks.

Errors amid an answer come as chunks, or bare JSON lines.
"""

from collections.abc import AsyncIterator

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json
from sidecar.core.text.json_text import read_all

_IGNORED = (b"event:", b"id:", b"retry:")


@dataclass(slots=True)
class ChunkEvent:
    """A chunk, or a server's sign of life (`ping`)."""

    content: Json
    event: str | None = None


class ChunkCutter:
    """An `EventCutter` of server-sent events."""

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ChunkEvent]:
        """Gives complete chunks; raises ValueError for invalid JSON."""
        data, bare = list[bytes](), list[bytes]()
        async for line in _lines(iterator):
            if line.startswith(b"data:"):
                data.append(line[5:])
            elif not line:
                if data:
                    yield _chunk(data)
                    data = []
            elif line.startswith(b":"):
                yield ChunkEvent(None, "ping")
            elif not line.startswith(_IGNORED):
                bare.append(line)
                if _ends(bare):
                    yield _chunk(bare)
                    bare = []
        for rest in (data, bare):
            if rest:
                yield _chunk(rest)


def _ends(bare: list[bytes]) -> bool:
    """Whether the last line closes what the first opened; lines between are indented."""
    last, close = bare[-1], b"]" if bare[0].startswith(b"[") else b"}"
    return last.endswith(close) and (len(bare) == 1 or not last[:1].isspace())


async def _lines(iterator: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    begun: list[bytes] = []
    async for piece in iterator:
        first, *others = piece.split(b"\n")
        begun.append(first)
        for other in others:
            yield b"".join(begun).rstrip(b"\r")
            begun = [other]
    if last := b"".join(begun).rstrip(b"\r"):
        yield last


def _chunk(lines: list[bytes]) -> ChunkEvent:
    content = read_all(b"\n".join(lines).decode("utf-8", "replace"))
    # Bare errors come in a list.
    return ChunkEvent(content[0] if isinstance(content, list) and content else content)
