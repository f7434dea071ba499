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
