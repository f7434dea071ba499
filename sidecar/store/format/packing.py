"""Bodies on disk: tagged msgpack, long strings in blobs.

Opaque JSON is text: msgpack has no integers beyond 64 bits. Lone surrogates are possible.
"""

import re
from collections.abc import Callable
from typing import TypeAlias, assert_never

import msgpack

from sidecar.core.dataclass import dataclass
from sidecar.core.text.digest import digest
from sidecar.store.format.fields import BodyBroken, Fields, fields_of

TAG = b"mp1:"
SPILL_BYTES = 1024
"""Longer strings become blobs: compressed, and stored once."""
BLOB_EXTENSION = 1
_KIND = re.compile(
    re.escape(TAG) + rb"[\x80-\x8f](?:\xa2id(?:[\xa0-\xbf]|\xd9.)[ -~]*?\xa4type|"
    rb"\xa8revision(?:[\x00-\x7f]|\xcc.|\xcd.{2}|\xce.{4}|\xcf.{8})\xa4kind)[\xa0-\xbf]([a-z_]+)",
    re.S,
)
"""A map that begins with an `id` in plain letters and a `type`, as all parts are packed, or with a
`revision` and a `kind`, as all records."""

Plain: TypeAlias = "bool | int | str | list[Plain] | dict[str, Plain] | None"
ReadBlob: TypeAlias = Callable[[str], bytes]
"""Maps a hash to bytes; raises BodyBroken for a missing blob."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A body, its hash, and its blobs (hash, bytes)."""

    body: bytes
    hash: str
    blobs: tuple[tuple[str, bytes], ...]


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BodyBroken(f"text is not UTF-8: {error}") from error


def pack(fields: dict[str, Plain], *, spill: bool = True, previous: str = "") -> Packed:
    """Packs fields; `spill` moves strings over 1 KiB to blobs, `previous` chains the hash."""
    blobs: dict[str, bytes] = {}
    content = _spilled(fields, blobs) if spill else fields
    packed = msgpack.packb(content, unicode_errors="surrogatepass")
    assert packed is not None
    body = TAG + packed
    return Packed(body, digest(body, previous), tuple(blobs.items()))


def unpack(body: bytes, read: ReadBlob) -> Fields:
    """With strings from blobs; raises BodyBroken."""
    # A damaged row may hold a value of any type.
    if not isinstance(body, bytes) or not body.startswith(TAG):
        raise BodyBroken.unknown(f"format {body!r:.20}")

    def extension(code: int, data: bytes) -> str:
        if code != BLOB_EXTENSION:
            raise BodyBroken.unknown(f"extension {code}")
        return decode_text(read(data.decode("ascii", "replace")))

    try:
        content = msgpack.unpackb(
            body[len(TAG) :], unicode_errors="surrogatepass", ext_hook=extension
        )
    except ValueError as error:
        raise BodyBroken(f"not msgpack: {error}") from error
    return fields_of(content)


def kind_of(body: object) -> str:
    """Tells a part's or record's type in a tenth of `unpack`'s time; empty if in doubt."""
    found = _KIND.match(body) if isinstance(body, bytes) else None
    return "" if found is None else found[1].decode("ascii")


def spilled(body: bytes) -> frozenset[str]:
    names: set[str] = set()

    def extension(_: int, data: bytes) -> str:
        names.add(data.decode("ascii", "replace"))
        return ""

    try:
        msgpack.unpackb(body[len(TAG) :], unicode_errors="surrogatepass", ext_hook=extension)
    except (ValueError, TypeError):
        return frozenset()
    return frozenset(names)


def _spilled(value: Plain, blobs: dict[str, bytes]) -> object:
    match value:
        case str():
            if len(value) * 4 <= SPILL_BYTES:
                return value
            data = encode_text(value)
            if len(data) <= SPILL_BYTES:
                return value
            name = digest(data)
            blobs[name] = data
            return msgpack.ExtType(BLOB_EXTENSION, name.encode("ascii"))
        case list():
            return [_spilled(item, blobs) for item in value]
        case dict():
            return {key: _spilled(item, blobs) for key, item in value.items()}
        case bool() | int() | None:
            return value
        case _:
            assert_never(value)
