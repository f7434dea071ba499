"""Hashes content; each hash names its algorithm."""

import hashlib

TAG = "b2:"


def digest(data: bytes, previous: str = "") -> str:
    """Returns `b2:` and 40 hex digits, covering `previous` too."""
    state = hashlib.blake2b(digest_size=20)
    if previous:
        state.update(previous.encode("ascii"))
    state.update(data)
    return TAG + state.hexdigest()


def content_hash(text: str) -> str:
    """Returns `sha256:` and 64 hex digits; U+DC80 to U+DCFF count as their bytes."""
    try:
        return bytes_hash(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return bytes_hash(text.encode("utf-8", "surrogatepass"))


def bytes_hash(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
