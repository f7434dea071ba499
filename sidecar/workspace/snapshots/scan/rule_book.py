"""The rules that hold in each folder of a workspace, read once and kept from scan to scan.

What one scan reads is kept only where what it found is, too: a scan that comes to nothing leaves
it to the next one to find that rules are others.
"""

import os
from collections.abc import Container, Mapping
from pathlib import Path

from sidecar.workspace.snapshots.ignore import IgnoreRules, root_rules
from sidecar.workspace.snapshots.known_paths import ancestors

RULE_NAMES = frozenset({b".git", b".gitignore"})
"""What says which rules hold in the folder that it is in."""


class RuleBook:
    """Reads rules, beside those `rules` that are kept, by folder.

    `is_other`: a folder got other rules than it had. `unsaid`: folders of which no line says
    anything, as a first look found them.
    """

    def __init__(self, root: Path, rules: dict[bytes, IgnoreRules]) -> None:
        self._root = root
        self._kept = rules
        self._changes: dict[bytes, IgnoreRules | None] = {}
        self.is_other = False
        self.unsaid: set[bytes] = set()

    def known(self, folder: bytes) -> IgnoreRules | None:
        """Give the rules for what lies in a folder if they were read before."""
        return self._changes[folder] if folder in self._changes else self._kept.get(folder)

    def inside(self, folder: bytes) -> IgnoreRules:
        """Give the rules for what lies in a folder."""
        rules = self.known(folder)
        if rules is not None:
            return rules
        real = os.fsencode(self._root) + (b"/" + folder if folder else b"")
        return self._read(
            folder, (os.path.lexists(real + b"/.git"), os.path.lexists(real + b"/.gitignore"))
        )

    def listed(self, folder: bytes, names: list[bytes], *, stale: bool) -> IgnoreRules:
        """Give the rules for what lies in a folder, of which the names are known now.

        `stale`: those that were read before may not be what is written down now.
        """
        before = self.known(folder)
        own = (b".git" in names, b".gitignore" in names)
        if before is not None and not stale and before.own == own:
            return before
        self.is_other = self.is_other or before is not None
        return self._read(folder, own)

    def keep_all(self, listed: Mapping[bytes, list[bytes]]) -> bool:
        """Tell at once that all names in some folders are kept; `False` where that is not known.

        They lie in one folder, and nobody has listed them before. Most have no rules of their own.
        """
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
        """Give the rules that say whether a path is left out: those of the folder around it."""
        return self.inside(path.rpartition(b"/")[0])

    def ignores(self, path: bytes) -> bool:
        """Tell whether the rules leave out a path, or a folder that leads to it."""
        if any(self.outside(folder).ignored(folder, True) for folder in ancestors(path)):
            return True
        return self.outside(path).ignored(path, False)

    def drop(self, folder: bytes) -> None:
        """Forget what held in a folder that is gone, lest it holds when it is made again."""
        self._changes[folder] = None

    def forget(self, folder: bytes, kept: Container[bytes]) -> None:
        """Forget what held below a folder where nobody looks, now that other rules hold.

        `kept`: the folders that are looked into.
        """
        begin = folder + b"/" if folder else b""
        for path in self._kept.keys() | self._changes.keys():
            if path.startswith(begin) and path not in kept:
                self._changes[path] = None
        self.is_other = False

    def keep(self) -> bool:
        """Keep what was read; says whether that was anything."""
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
