"""Reads each folder's ignore rules once.

Changes are kept only with a scan's result: after a failed scan, the next notices them again.
"""

import os
from collections.abc import Container, Mapping
from pathlib import Path

from sidecar.workspace.snapshots.ignore import IgnoreRules, root_rules
from sidecar.workspace.snapshots.known_paths import ancestors

RULE_NAMES = frozenset({b".git", b".gitignore"})
"""Names that determine the rules of their folder."""


class RuleBook:
    """Ignore rules by folder; `is_other`: whether a folder's rules changed.

    `unsaid`: folders that no line matches.
    """

    def __init__(self, root: Path, rules: dict[bytes, IgnoreRules]) -> None:
        self._root = root
        self._kept = rules
        self._changes: dict[bytes, IgnoreRules | None] = {}
        self.is_other = False
        self.unsaid: set[bytes] = set()

    def known(self, folder: bytes) -> IgnoreRules | None:
        return self._changes[folder] if folder in self._changes else self._kept.get(folder)

    def inside(self, folder: bytes) -> IgnoreRules:
        rules = self.known(folder)
        if rules is not None:
            return rules
        real = os.fsencode(self._root) + (b"/" + folder if folder else b"")
        return self._read(
            folder, (os.path.lexists(real + b"/.git"), os.path.lexists(real + b"/.gitignore"))
        )

    def listed(self, folder: bytes, names: list[bytes], *, stale: bool) -> IgnoreRules:
        """`stale`: rules read before may be outdated."""
        before = self.known(folder)
        own = (b".git" in names, b".gitignore" in names)
        if before is not None and not stale and before.own == own:
            return before
        self.is_other = self.is_other or before is not None
        return self._read(folder, own)

    def keep_all(self, listed: Mapping[bytes, list[bytes]]) -> bool:
        """Whether no name in new folders of one parent is ignored; `False` where unknown."""
        folder = next(iter(listed), b"")
        if not folder or not self.unsaid.issuperset(listed):
            return False
        names = [name for names in listed.values() for name in names]
        rules = self.outside(folder).inside(
            self._root, folder, git=False, gitignore=False, unsaid=True
        )
        if RULE_NAMES.isdisjoint(names) and rules.keeps_all(names):
            self._changes |= dict.fromkeys(listed, rules)
            return True
        return False

    def outside(self, path: bytes) -> IgnoreRules:
        return self.inside(path.rpartition(b"/")[0])

    def ignores(self, path: bytes) -> bool:
        if any(self.outside(folder).ignored(folder, True) for folder in ancestors(path)):
            return True
        return self.outside(path).ignored(path, False)

    def drop(self, folder: bytes) -> None:
        self._changes[folder] = None

    def forget(self, folder: bytes, kept: Container[bytes]) -> None:
        begin = folder + b"/" if folder else b""
        for path in self._kept.keys() | self._changes.keys():
            if path.startswith(begin) and path not in kept:
                self._changes[path] = None
        self.is_other = False

    def keep(self) -> bool:
        for folder, rules in self._changes.items():
            if rules is None:
                self._kept.pop(folder, None)
            else:
                self._kept[folder] = rules
        return bool(self._changes)

    def _read(self, folder: bytes, own: tuple[bool, bool]) -> IgnoreRules:
        if folder:
            git, gitignore = own
            outer = self.outside(folder)
            rules = outer.inside(
                self._root, folder, git=git, gitignore=gitignore, unsaid=folder in self.unsaid
            )
        else:
            rules = root_rules(self._root)
        self._changes[folder] = rules
        return rules
