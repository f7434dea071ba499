"""A stream is cut, and joined again it is the same."""

from hypothesis import given
from hypothesis import strategies as st

from sidecar.wrap.frame_reader import LineJoiner
from sidecar.wrap.line_gate import LineGate, LookedLine, PassingBytes

STREAM = st.lists(st.sampled_from([b"\n", b"\r", b"name", b"na", b"me", b"{x}", b"\xff"])).map(
    b"".join
)
SIZES = st.lists(st.integers(1, 9))


def pieces(stream: bytes, sizes: list[int]) -> list[bytes]:
    found, at = [], 0
    for size in sizes:
        found.append(stream[at : at + size])
        at += size
    return [piece for piece in (*found, stream[at:]) if piece]


@given(STREAM, SIZES)
def test_nothing_is_lost_and_each_line_of_interest_is_looked_at(
    stream: bytes, sizes: list[int]
) -> None:
    gate, came, looked = LineGate([b"name"], 1000), b"", []
    for piece in pieces(stream, sizes):
        for one in gate.take(piece):
            came += one.line if isinstance(one, LookedLine) else one.data
            looked += [one.line] if isinstance(one, LookedLine) else []
    came += b"".join(one.data for one in gate.flush())
    assert came == stream
    assert looked == [line + b"\n" for line in stream.split(b"\n")[:-1] if b"name" in line]


def test_a_line_that_is_too_long_passes_as_it_is() -> None:
    gate = LineGate([b"name"], 4)
    assert list(gate.take(b"name1")) == [PassingBytes(b"name1")]
    assert gate.inside
    assert list(gate.take(b"name\nname\nx")) == [PassingBytes(b"name\n"), LookedLine(b"name\n")]
    assert not gate.inside


@given(STREAM, SIZES)
def test_lines_are_joined_from_pieces(stream: bytes, sizes: list[int]) -> None:
    joiner = LineJoiner()
    lines = [line for piece in pieces(stream, sizes) for line in joiner.take(piece)]
    assert lines == stream.split(b"\n")[:-1]


def test_a_line_with_a_gap_is_left_out() -> None:
    joiner = LineJoiner()
    assert list(joiner.take(b"one\ntw")) == [b"one"]
    joiner.lose()
    assert list(joiner.take(b"o\nthree\n")) == [b"three"]
