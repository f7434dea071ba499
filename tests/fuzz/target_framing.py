"""Framing: any bytes give the same frames wherever they are cut, and what arrives can be sent."""

import json
from itertools import pairwise
from pathlib import Path

from sidecar.core.text.visible import mended
from sidecar.wire.framing import Arrived, Broken, Frame, FrameDecoder, Framing, encode
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, mutated, scrambled, text_of

SHARE = 350

MESSAGES = [
    json.loads(path.read_text("utf-8"))["message"]
    for path in sorted((Path(__file__).parents[2] / "protocol/golden").glob("*.json"))
]
NAMES = (b"Content-Length", b"content-length", b"Content-Type", b"\xff", b"", b"Content-Length ")
LENGTHS = (b"-1", b"", b"+2", b"2 ", b"\xb2", b"0x2", b"1e1", b"9" * 30, b"9" * 5_000, b"67108865")
BREAKS = (b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x0b", b"\x85", b"")


def run(data: bytes) -> None:
    """Decode a stream twice, whole and in pieces."""
    dice = Dice(data)
    stream = b"".join(_frame(dice) for _ in range(1 + dice.below(4)))
    stream = scrambled(stream, dice)
    cuts = sorted(dice.below(len(stream) + 1) for _ in range(dice.below(12)))
    whole, framing = _fed([stream])
    pieces = [stream[a:b] for a, b in pairwise([0, *cuts, len(stream)])]
    assert _fed(pieces) == (whole, framing), "where a stream is cut changed its frames"
    assert not any(isinstance(frame, Broken) for frame in whole[:-1]), "frames after a broken one"
    for frame in whole:
        if isinstance(frame, Arrived):
            _sent_on(frame, framing or "headers")


def _fed(pieces: list[bytes]) -> tuple[list[Frame], Framing | None]:
    decoder = FrameDecoder()
    return [frame for piece in pieces for frame in decoder.feed(piece)], decoder.framing


def _sent_on(frame: Arrived, framing: Framing) -> None:
    again, _ = _fed([encode(frame.value, framing)])
    # Two halves of a character that came one by one are one from then on, and one half is U+FFFD.
    frame = Arrived(json.loads(mended(json.dumps(frame.value, ensure_ascii=False))))
    blank = framing == "headers" or isinstance(frame.value, dict | list)
    assert not blank or again == [frame], "what arrived cannot be sent on"


def _frame(dice: Dice) -> bytes:
    body = _body(dice)
    kind = dice.below(8)
    if kind == 1:
        return body + dice.pick((b"\n", b"\r\n", b""))
    if kind == 2:
        return dice.take(dice.below(64))
    length = b"%d" % len(body)
    headers = [b"Content-Length: " + length]
    if kind >= 3:
        headers = [_header(dice, length) for _ in range(1 + dice.below(3))]
    end = dice.pick(BREAKS) if kind == 4 else b"\r\n"
    padding = b"x" * dice.pick((8_100, 8_190, 8_200, 20_000)) if kind == 5 else b""
    return padding + end.join(headers) + end + (b"" if kind == 6 else end) + body


def _header(dice: Dice, length: bytes) -> bytes:
    value = dice.pick((length, length, *LENGTHS))
    return dice.pick(NAMES) + dice.pick((b": ", b":", b" ", b"::")) + value


def _body(dice: Dice) -> bytes:
    value = mutated(dice.pick(MESSAGES), dice, odd=ODD, donors=MESSAGES)
    text = text_of(value)
    encoding = dice.pick(("utf-8", "utf-8", "utf-8", "utf-16", "utf-32-be", "latin-1"))
    errors = "replace" if encoding == "latin-1" else "surrogatepass"
    return text.encode(encoding, errors)
