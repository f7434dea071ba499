"""Paths without events, looked at each time.

Ignored files written by tools, files with several hard links, rule files outside the workspace.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from sidecar.workspace.snapshots.ignore import IgnoreRules
from sidecar.workspace.snapshots.known_paths import KnownPaths, unchanged
from sidecar.workspace.snapshots.watch.watch import Noticed

MOST_LINKED = 1000
"""Files with several hard links; with more, all files are looked at."""


class Unwatched:
    """Paths checked at each snapshot; `follow`: ignored files written by tools."""

    def __init__(self, base: bytes) -> None:
        self._base = base
        self.follow: set[bytes] = set()
        self._linked: dict[bytes, int] = {}
        self._outside: dict[Path, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self.follow or self._linked or self._outside)

    def notice(self, state: KnownPaths, into: Noticed) -> bool:
        """Returns whether rule files outside changed."""
        for path in (*self.follow, *self._linked):
            seen = state.get(path)
            try:
                found = os.lstat(self._base + b"/" + path)
            except OSError:
                if seen is not None:
                    into.add(path)
                else:
                    self._linked.pop(path, None)
                continue
            if not unchanged(seen, found) if seen is not None else path in self.follow:
                into.add(path)
        changed = [path for path, stamp in self._outside.items() if _stamp(path) != stamp]
        return bool(changed)

    def rules(self, all_rules: Iterable[IgnoreRules]) -> None:
        # Most folders share the same few, and to compare their paths would take far longer.
        distinct = {id(rules): rules for rules in all_rules}.values()
        paths = {path for rules in distinct for path in rules.outside}
        self._outside = {path: _stamp(path) for path in paths}

    def link(self, linked: dict[bytes, int]) -> bool:
        self._linked.update(linked)
        return len(self._linked) <= MOST_LINKED


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_mtime_ns, found.st_size
