"""Contents that a store keeps under their hashes."""

import random

from sidecar.core.text.digest import digest
from sidecar.store.format.values import PutBlob
from sidecar.store.journal import Store


def noise(name: str, size: int = 5000) -> bytes:
    """What does not compress."""
    return random.Random(name).randbytes(size)


def blob(content: bytes) -> PutBlob:
    return PutBlob(digest(content), content)


async def kept(store: Store, content: bytes) -> bytes | None:
    """Give what the store has where this content belongs."""
    return await store.outputs.read(digest(content))
