"""Reads PNG pictures of a browser's, as far as a browser makes them: 8 bits, not interlaced."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SAMPLES = {2: 3, 6: 4}
"""Bytes of a pixel, by the kind of colour: with and without transparency."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Its size in pixels, and its rows still packed."""

    width: int
    height: int
    samples: int
    packed: bytes

    def colours(self) -> set[str]:
        """Give every colour that a pixel has, as `#rrggbb`."""
        row, raw = self.width * self.samples, zlib.decompress(self.packed)
        assert len(raw) == (row + 1) * self.height
        above, found = bytearray(row), set[bytes]()
        for start in range(0, len(raw), row + 1):
            above = _unfiltered(raw[start], raw[start + 1 : start + 1 + row], above, self.samples)
            found |= {bytes(above[at : at + 3]) for at in range(0, row, self.samples)}
        return {f"#{colour.hex()}" for colour in found}


def read(data: bytes) -> Picture:
    """Read a picture's size and where its rows are; raises AssertionError where it is broken."""
    chunks = list(_chunks(data))
    assert chunks[0][0] == b"IHDR"
    assert chunks[-1][0] == b"IEND"
    width, height, depth, kind, *ways = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, *ways) == (8, 0, 0, 0)
    packed = b"".join(body for name, body in chunks if name == b"IDAT")
    return Picture(width, height, SAMPLES[kind], packed)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert data.startswith(SIGNATURE)
    at = len(SIGNATURE)
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        assert zlib.crc32(name + body) == check, name
        yield name, body
        at += 12 + length


def _unfiltered(kind: int, row: bytes, above: bytearray, samples: int) -> bytearray:
    """Take back what was subtracted from each byte: what stands before it, above it, or both."""
    if kind == 0:
        return bytearray(row)
    if kind == 2:
        return bytearray((a + b) & 255 for a, b in zip(row, above, strict=True))
    done = bytearray(row)
    for at, byte in enumerate(row):
        left = done[at - samples] if at >= samples else 0
        up = above[at]
        if kind == 1:
            by = left
        elif kind == 3:
            by = (left + up) // 2
        else:
            corner = above[at - samples] if at >= samples else 0
            apart = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            by = (left, up, corner)[apart.index(min(apart))]
        done[at] = (byte + by) & 255
    return done
