"""Where blobs are kept; damaged ones are refused, and given no more room than they really take."""

import random
import resource
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from sidecar.store.content.blobs import (
    AT_ONCE,
    MOST_RECENT_BYTES,
    expand,
    get_blobs,
    press,
    put_new,
)
from sidecar.store.format.fields import BodyBroken
from tests.store.on_disk import in_memory


@pytest.fixture
def _little_room() -> Iterator[None]:
    """Let a demand for a gigabyte at once fail."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + (512 << 20), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc says how much room there is")
@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize("size", [AT_ONCE + 1, 2**30, 2**31, 2**40, 2**62])
def test_a_frame_that_claims_much_gets_no_room(size: int) -> None:
    blob = press(b"some words " * 100)
    claims = blob.data[:4] + b"\xe0" + size.to_bytes(8, "little") + blob.data[6:]
    with pytest.raises(BodyBroken, match="blob x is damaged"):
        expand("x", size, "zstd", claims)


def test_what_is_really_large_is_given_whole() -> None:
    data = bytes(range(256)) * ((AT_ONCE >> 8) + 1)
    blob = press(data)
    assert expand("x", blob.size, blob.encoding, blob.data) == data
    with pytest.raises(BodyBroken, match="blob x is damaged"):
        expand("x", blob.size, blob.encoding, blob.data[:-5])


def test_a_large_blob_is_written_where_it_stays() -> None:
    dice = random.Random(0)
    short, large = (press(dice.randbytes(MOST_RECENT_BYTES + more)) for more in (0, 1))
    with closing(in_memory()) as con:
        for added in (short.size + large.size, 0):
            assert put_new(con, [short, large], recent=True) == added
        found = [
            con.execute(f"SELECT hash FROM {table}").fetchall() for table in ("recent", "blob")
        ]
        assert found == [[(short.hash,)], [(large.hash,)]]
        assert get_blobs(con, [short.hash, large.hash]).keys() == {short.hash, large.hash}
