"""Content hashes, each with a tag that names its algorithm, so that another can stand beside."""

import hashlib

TAG = "b2:"


def digest(data: bytes, previous: str = "") -> str:
    """Hash bytes, chained to `previous` where one is given: `b2:` and 40 hex digits."""
    state = hashlib.blake2b(digest_size=20)
    if previous:
        state.update(previous.encode("ascii"))
    state.update(data)
    return TAG + state.hexdigest()


def content_hash(text: str) -> str:
    """Hash a file's text as it stands on disk: `sha256:` and 64 hex digits.

    What was no UTF-8 is a lone surrogate in it, and the byte that it was is hashed. Text with
    other lone surrogates was never written; it gets a hash that no file has.
    """
    try:
        return bytes_hash(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return bytes_hash(text.encode("utf-8", "surrogatepass"))


def bytes_hash(data: bytes) -> str:
    """Hash a file's bytes, as `content_hash` does its text."""
    return "sha256:" + hashlib.sha256(data).hexdigest()
