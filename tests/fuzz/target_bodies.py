"""Stored bodies: each gives its value or BodyBroken, and what it gives can be stored again."""

from collections.abc import Callable
from typing import Any

import msgpack

from sidecar.core.files.tree import TreeChange, TreeEntry
from sidecar.core.text.digest import digest
from sidecar.store.content.blobs import expand, press
from sidecar.store.content.deltas import pack_delta, unpack_delta
from sidecar.store.content.restores import (
    FileMark,
    RestoreStep,
    pack_steps,
    unpack_stages,
    unpack_steps,
)
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.packing import BLOB_EXTENSION, TAG, Packed, ReadBlob, pack
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, deep, mutated, scrambled
from tests.store.samples import sample

SHARE = 350

LONGEST = 1_000
"""Characters of what is said of a broken body."""
BLOBS: dict[str, bytes] = {}
_SAMPLE = sample()
_PARTS = [part for message in _SAMPLE.messages for part in message.parts]


def _read(name: str) -> bytes:
    if name not in BLOBS:
        raise BodyBroken(f"blob {name:.100} is missing")
    return BLOBS[name]


def _packed(one: Packed) -> bytes:
    BLOBS.update(one.blobs)
    return one.body


def _session(row: Any) -> Packed:
    return pack(rows.session_fields(row))


def _message(message: Any) -> Packed:
    return pack(rows.message_fields(message))


def _record(record: Any) -> Packed:
    return pack(rows.record_fields(record))


Decode = Callable[[bytes, ReadBlob], Any]
SAMPLES: list[tuple[bytes, Decode, Callable[[Any], Packed]]] = [
    (_packed(_session(_SAMPLE.session)), rows.decode_session, _session),
    *((_packed(_message(one)), rows.decode_message, _message) for one in _SAMPLE.messages),
    *(
        (
            _packed(_record(one)),
            rows.decode_record,
            _record,
        )
        for one in _SAMPLE.records
    ),
    *(
        (_packed(rows.encode_part(one, 0)), rows.decode_part, lambda x: rows.encode_part(x, 0))
        for one in _PARTS
    ),
]
ENTRY = TreeEntry(0o100644, "b2:" + "0f" * 20, 5)
CHECKED: list[tuple[bytes, Callable[[bytes], object]]] = [
    (
        pack_delta((TreeChange(b"a", None, ENTRY), TreeChange(b"b/c", ENTRY, None)) * 9),
        unpack_delta,
    ),
    (
        pack_steps((RestoreStep("put", b"a", 1, 0, FileMark(33188, 1, 2, 3), None),) * 9),
        unpack_steps,
    ),
]
STAGES = msgpack.packb([b"/a", b"/b"])
JSON_TEXTS = ("[" * 5_000, "9" * 5_000, "NaN", "1e999", '"\\ud800"', "{}", "[]", "null", "{")
ODD_PACKED = (
    *(one for one in ODD if not isinstance(one, int) or -(2**63) <= one < 2**64),
    *(b"", b"\xff", msgpack.ExtType(BLOB_EXTENSION, b"b2:none"), msgpack.ExtType(7, b"x")),
    *(msgpack.ExtType(BLOB_EXTENSION, name.encode()) for name in BLOBS),
    *(msgpack.Timestamp(1, 1), {b"type": 1}, deep(400), "x" * 9_000, *JSON_TEXTS),
)

DONORS = [
    msgpack.unpackb(body[len(TAG) :], unicode_errors="surrogatepass") for body, _, _ in SAMPLES
]


def run(data: bytes) -> None:
    """Damage one body and read it."""
    dice = Dice(data)
    match dice.below(8):
        case 0:
            _checked(dice)
        case 1:
            _blob(dice)
        case 2:
            _given(lambda: unpack_stages(scrambled(STAGES, dice)))
        case _:
            _body(dice)


def _body(dice: Dice) -> None:
    body, decode, encode = dice.pick(SAMPLES)
    if dice.below(4):
        content = msgpack.unpackb(body[len(TAG) :], unicode_errors="surrogatepass")
        body = TAG + _again(mutated(content, dice, odd=ODD_PACKED, donors=DONORS), content)
    if dice.chance(4):
        body = scrambled(body, dice)
    value = _given(lambda: decode(body, _read))
    if value is None:
        return
    again = encode(value)
    blobs = {**BLOBS, **dict(again.blobs)}
    assert _same(decode(again.body, blobs.__getitem__), value), "it is stored as something else"


def _checked(dice: Dice) -> None:
    """Damage a body whose content has a hash: before the hash was made, or after."""
    body, decode = dice.pick(CHECKED)
    if dice.below(3):
        size = int.from_bytes(body[24:28], "big")
        encoding = {b"z": "zstd", b"r": "raw"}[body[3:4]]
        content = msgpack.unpackb(expand("", size, encoding, body[28:]))
        plain = _again(mutated(content, dice, odd=ODD_PACKED, donors=DONORS), content)
        if dice.chance(4):
            plain = scrambled(plain, dice)
        blob = press(plain)
        kind = b"z" if blob.encoding == "zstd" else b"r"
        head = bytes.fromhex(digest(plain).partition(":")[2]) + len(plain).to_bytes(4, "big")
        body = body[:3] + kind + head + blob.data
    else:
        body = scrambled(body, dice)
    _given(lambda: decode(body))


def _blob(dice: Dice) -> None:
    blob = press(dice.take(dice.below(300)) * dice.pick((1, 50, 3_000)))
    # A frame that claims some other size, as the row may, too.
    size = dice.pick((blob.size, blob.size, 0, -1, 2**31, 2**40, 2**62))
    stored = blob.data
    if dice.below(2) and blob.encoding == "zstd":
        stored = stored[:4] + b"\xe0" + size.to_bytes(8, "little", signed=size < 0) + stored[6:]
    stored = scrambled(stored, dice)
    _given(lambda: expand("x", size, dice.pick((blob.encoding, "zstd", "raw", "new")), stored))


def _given(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except BodyBroken as error:
        said = str(error)
    assert 0 < len(said) <= LONGEST, "what is said of it is too long"
    return None


def _again(content: object, otherwise: object) -> bytes:
    try:
        packed = msgpack.packb(content, unicode_errors="surrogatepass")
    except (OverflowError, ValueError, TypeError):
        packed = msgpack.packb(otherwise, unicode_errors="surrogatepass")
    assert packed is not None
    return packed


def _same(one: object, other: object) -> bool:
    # Not a number is not itself, but is written as it is read.
    return one == other or repr(one) == repr(other)
