"""Packs deltas: tagged, compressed msgpack with a checksum."""

import msgpack

from sidecar.core.files.tree import Delta, TreeChange, TreeEntry
from sidecar.core.text.digest import digest
from sidecar.store.content.blobs import expand, press
from sidecar.store.format.fields import BodyBroken

TAG = b"sd1"
"""Then `r` or `z` (raw or zstd), 20 bytes of hash, 4 of size, the changes."""


def pack_delta(delta: Delta) -> bytes:
    plain = msgpack.packb([(c.path, _plain(c.old), _plain(c.new)) for c in delta])
    assert plain is not None
    blob = press(plain)
    kind = b"z" if blob.encoding == "zstd" else b"r"
    head = bytes.fromhex(blob.hash.partition(":")[2]) + blob.size.to_bytes(4, "big")
    return TAG + kind + head + blob.data


def unpack_delta(body: bytes) -> Delta:
    """Raises BodyBroken."""
    # A damaged row may hold a value of any type.
    if not isinstance(body, bytes) or not body.startswith(TAG) or len(body) < 28:
        raise BodyBroken(f"a delta has the unknown format {body!r:.20}")
    size = int.from_bytes(body[24:28], "big")
    encoding = {b"z": "zstd", b"r": "raw"}.get(body[3:4], "unknown")
    data = expand("of a delta", size, encoding, body[28:])
    if digest(data) != f"b2:{body[4:24].hex()}":
        raise BodyBroken("a delta is damaged: its content has another hash")
    try:
        rows = msgpack.unpackb(data)
        return tuple(TreeChange(path, _entry(old), _entry(new)) for path, old, new in rows)
    except (ValueError, TypeError) as error:
        raise BodyBroken(f"a delta is no list of changes: {error}") from error


def _plain(entry: TreeEntry | None) -> tuple[object, ...] | None:
    if entry is None:
        return None
    mode, name, *others = entry
    return mode, bytes.fromhex(name.removeprefix("b2:")), *others


def _entry(fields: list[object] | None) -> TreeEntry | None:
    if fields is None:
        return None
    mode, name, size, lost, version = fields
    if not isinstance(name, bytes):
        raise TypeError("a hash is no bytes")
    return TreeEntry(mode, f"b2:{name.hex()}" if name else "", size, lost, version)  # type: ignore[arg-type] # checked by the hash
