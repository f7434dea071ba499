"""Pictures are read right, whatever each row was filtered by."""

import struct
import zlib

import pytest

from tests.observe.report.pictures import SIGNATURE, read


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(rows: bytes, width: int = 2, height: int = 2) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return SIGNATURE + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("kind", "second"),
    [
        (0, (9, 200, 30, 7, 7, 7)),
        (1, (9, 200, 30, 254, 63, 233)),
        (2, (8, 198, 27, 13, 243, 4)),
        (3, (9, 199, 29, 134, 153, 247)),
        (4, (8, 198, 27, 13, 63, 233)),
    ],
)
def test_colours_are_read_whatever_the_filter(kind: int, second: tuple[int, ...]) -> None:
    picture = read(png(bytes((0, 1, 2, 3, 250, 20, 3, kind, *second))))
    assert (picture.width, picture.height) == (2, 2)
    assert picture.colours() == {"#010203", "#fa1403", "#09c81e", "#070707"}


def test_a_broken_picture_is_none() -> None:
    whole = png(bytes(14))
    with pytest.raises(AssertionError):
        read(whole[:40] + b"x" + whole[41:])
