"""Both framings, wherever the bytes are cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.wire.framing import Arrived, Broken, Frame, FrameDecoder, Framing, Malformed, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
messages = st.lists(
    st.dictionaries(st.text(max_size=8), values, max_size=4), min_size=1, max_size=5
)


def fed(data: bytes, cuts: list[int]) -> list[Frame]:
    decoder, frames = FrameDecoder(), []
    for size in cuts:
        frames += decoder.feed(data[:size])
        data = data[size:]
    return frames + decoder.feed(data)


@given(messages, st.sampled_from(["headers", "lines"]), st.lists(st.integers(1, 40), max_size=30))
def test_what_is_encoded_comes_back(sent: list[Any], framing: Framing, cuts: list[int]) -> None:
    data = b"".join(encode(message, framing) for message in sent)
    assert fed(data, cuts) == [Arrived(message) for message in sent]
    assert all(type(a) is type(b) for a, b in zip(sent, sent, strict=True))


def test_numbers_and_keys_are_kept() -> None:
    odd = {"file-path": 1.0, "class": 2**80, "_x": None, "jsonrpc": {"jsonrpc": "x"}}
    (frame,) = FrameDecoder().feed(encode(odd, "headers"))
    assert frame == Arrived(odd)
    assert isinstance(frame.value["file-path"], float)


def test_half_characters_spoil_no_message_for_readers_that_refuse_them() -> None:
    (frame,) = FrameDecoder().feed(encode({"a": "\ud83d\ude00 \ud800 \udcf6 é"}, "lines"))
    assert frame == Arrived({"a": "\U0001f600 \ufffd \ufffd é"})
    assert b"\\u" not in encode({"a": "\ud800"}, "lines")


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Type: x\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: x; charset=utf-8\r\n\r\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\n\n",
    ],
)
def test_headers_have_no_case_and_no_order(header: bytes) -> None:
    assert fed(header + b"{}", [3]) == [Arrived({})]


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Type: x\r\n\r\n{}",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999\r\n\r\n",
        b"x" * 9000,
    ],
)
def test_lost_framing_is_said(data: bytes) -> None:
    frames = fed(data + b"Content-Length: 2\r\n\r\n{}", [5])
    assert len(frames) == 1
    assert isinstance(frames[0], Broken)


@pytest.mark.parametrize("body", [b"{not json", b'{"a": NaN}', b"[" * 100_000, b"\xff\xfe", b""])
def test_a_bad_body_does_not_end_the_stream(body: bytes) -> None:
    framed = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    frames = fed(framed + encode({"after": 1}, "headers"), [10, 10])
    assert isinstance(frames[0], Malformed)
    assert frames[1] == Arrived({"after": 1})


def test_lines_are_told_by_the_first_byte() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(b'\n  {"a": 1}\n\n{bad}\n{"b": "\xc3\xa9') == [
        Arrived({"a": 1}),
        Malformed(decoder_reason(b"{bad}")),
    ]
    assert decoder.feed(b'"}\n') == [Arrived({"b": "é"})]
    assert decoder.framing == "lines"


def decoder_reason(body: bytes) -> str:
    try:
        json.loads(body)
    except ValueError as error:
        return f"not JSON: {error}"
    raise AssertionError


def test_a_line_that_is_too_long_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidecar.wire.framing.MAX_BODY", 20)
    decoder = FrameDecoder()
    assert decoder.feed(b'{"a": "' + b"x" * 30) == [
        Malformed("a line is longer than the 20 bytes that are taken")
    ]
    assert decoder.feed(b"x" * 100) == []
    assert decoder.feed(b'x"}\n{"b": 1}\n') == [Arrived({"b": 1})]


@given(messages, st.lists(st.integers(1, 40), max_size=30), st.sampled_from([8_000, 8_300]))
def test_long_headers_are_lost_wherever_they_are_cut(
    sent: list[Any], cuts: list[int], size: int
) -> None:
    data = b"X: %b\r\n" % (b"x" * size) + encode(sent[0], "headers")
    frames = fed(data, cuts)
    assert frames == fed(data, [size])
    assert isinstance(frames[0], Broken) is (size > 8_192)


def test_a_message_may_have_64_mib_and_no_more() -> None:
    most = 64 * 1024 * 1024
    assert FrameDecoder().feed(b"Content-Length: %d\r\n\r\n{" % most) == []
    (frame,) = FrameDecoder().feed(b"Content-Length: %d\r\n\r\n{" % (most + 1))
    assert isinstance(frame, Broken)


def test_a_length_of_thousands_of_digits_is_too_large() -> None:
    (frame,) = FrameDecoder().feed(b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}")
    assert isinstance(frame, Broken)
    assert "larger than" in frame.reason
    assert len(frame.reason) < 200


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"9" * 4_301])
def test_a_number_that_could_not_be_sent_on_is_refused(number: bytes) -> None:
    first, second = FrameDecoder().feed(b'{"a":' + number + b'}\n{"b":1e300}\n')
    assert isinstance(first, Malformed)
    assert second == Arrived({"b": 1e300})
