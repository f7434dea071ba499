"""States of files built, compared, and led from one to another, to check what deltas say."""

from collections.abc import Mapping

from sidecar.core.files.tree import Delta, TreeChange, TreeEntry
from sidecar.core.text.digest import digest


def a_file(content: str, mode: int = 0o100644) -> TreeEntry:
    """A file whose hash is readable."""
    return TreeEntry(mode, f"b2:{content}", len(content))


def holding(content: bytes, mode: int = 0o100644) -> TreeEntry:
    """A file, or a link, with this content."""
    return TreeEntry(mode, digest(content), len(content))


def compare(before: Mapping[bytes, TreeEntry], after: Mapping[bytes, TreeEntry]) -> Delta:
    """Give what leads from one state to another."""
    found = [
        TreeChange(path, before.get(path), after.get(path))
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    ]
    return tuple(sorted(found, key=lambda change: change.path))


def apply(state: Mapping[bytes, TreeEntry], delta: Delta) -> dict[bytes, TreeEntry]:
    """Give the state that a delta leads to; where it does not fit, the delta is believed."""
    after = dict(state)
    for change in delta:
        if change.new is None or change.new.lost == "ignored":
            after.pop(change.path, None)
        else:
            after[change.path] = change.new
    return after
