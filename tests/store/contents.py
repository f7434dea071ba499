"""Contents that a store keeps under their hashes."""

import random

from sidecar.core.files.tree import SeenEntry, TreeChange
from sidecar.core.text.digest import digest
from sidecar.store.content.blobs import press
from sidecar.store.content.chains import Addition
from sidecar.store.format.values import PutBlob
from sidecar.store.journal import Store
from tests.core.trees import holding


def noise(name: str, size: int = 5000) -> bytes:
    """What does not compress."""
    return random.Random(name).randbytes(size)


def blob(content: bytes) -> PutBlob:
    return PutBlob(digest(content), content)


def seen(content: bytes) -> SeenEntry:
    """A file as a snapshot saw it."""
    return SeenEntry(holding(content), 2**62, 2, 3, racy=True)


def added(path: bytes, content: bytes, old: bytes | None = None) -> Addition:
    """A snapshot's news of one file, which held something else before if `old` is given."""
    change = TreeChange(path, None if old is None else holding(old), holding(content))
    return Addition((change,), [press(content)], [(path, seen(content))])


async def kept(store: Store, content: bytes) -> bytes | None:
    """Give what the store has where this content belongs."""
    return await store.outputs.read(digest(content))
