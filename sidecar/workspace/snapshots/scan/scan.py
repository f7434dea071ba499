"""Finds possible changes by stat alone. Blocks: runs in a thread.

Rules exclude new paths only: as in git, a later rule takes no known file away from a restore.
"""

import os
import stat
from pathlib import Path

from sidecar.core.files.tree import SeenEntry
from sidecar.workspace.snapshots.ignore import IgnoreRules
from sidecar.workspace.snapshots.known_paths import (
    KnownPaths,
    ancestors,
    is_tracked_kind,
    join,
    unchanged,
)
from sidecar.workspace.snapshots.scan.first_look import first_look
from sidecar.workspace.snapshots.scan.rule_book import RULE_NAMES, RuleBook
from sidecar.workspace.snapshots.stat_table import StatTable
from sidecar.workspace.snapshots.watch.unwatched_paths import Unwatched
from sidecar.workspace.snapshots.watch.watch import FEW, Noticed, Watch
from sidecar.workspace.unlinked_open import stat_straight
from sidecar.workspace.unlinked_path import PathMoved

FEW_BYTES = 256 * 1024
"""Bytes of few files, read on the event loop."""

_CTIME, _INODE, _RACY = map(SeenEntry._fields.index, ("ctime", "inode", "racy"))
_Visit = tuple[bytes, bool, bool, bool]
"""Path; whether to list it again; whether to read rules again; whether ignored before."""


class Scan:
    """One look at a workspace.

    `stats`: of paths not proven unchanged. `gone`: known paths now missing. `shown`: new paths
    ignored before. `linked`: inodes with several hard links. `unread`: names by folder, of a first
    look begun at `begun` (ms).
    """

    def __init__(
        self,
        root: Path,
        state: KnownPaths,
        rules: dict[bytes, IgnoreRules],
        watch: Watch | None,
        unwatched: Unwatched,
        begun: int | None = None,
    ) -> None:
        self._base = os.fsencode(root)
        self._state = state
        self._watch = watch
        self._follow = unwatched.follow
        self._table: StatTable | None = None
        self.rules = RuleBook(root, rules)
        self.stats: dict[bytes, os.stat_result] = {}
        self.gone: set[bytes] = set()
        self.shown: set[bytes] = set()
        self.linked: dict[bytes, int] = {}
        self.unread: dict[bytes, dict[bytes, SeenEntry]] = {}
        self._begun = begun
        self.root_stat: os.stat_result | None = None
        self._visited: set[bytes] = set()
        self._closed: set[bytes] = set()
        """Known folders found to be none."""

    def noticed(self, noticed: Noticed, rules: bool) -> None:
        """Looks at noticed paths; raises WatchFailed.

        `rules`: rule files outside the workspace changed.
        """
        if noticed.all:
            # Where events were lost, folders may have come and gone that are to be watched.
            self.everything(deep=self._watch is not None, rules=rules, again=True)
        else:
            # Changed rules first, so that no path is judged by old ones.
            rules_of = {path for path in noticed.paths if path.rpartition(b"/")[2] in RULE_NAMES}
            for path in sorted(rules_of):
                self.path(path, deep=False)
            for path in sorted(noticed.folders):
                self.path(path, deep=True)
            for path in sorted(noticed.paths - noticed.folders - rules_of):
                self.path(path, deep=False)
        if self.linked:
            self._other_names()

    def everything(self, *, deep: bool, rules: bool = False, again: bool = False) -> None:
        """Looks at all paths; `deep` also lists folders with an unchanged stat.

        `again`: known paths were looked at before, so a table of stats pays.
        """
        known = self._state.root
        found = os.lstat(self._base)
        if known is None or (known.st_ino, known.st_dev) != (found.st_ino, found.st_dev):
            deep = True
        self.root_stat = found
        if again and not deep:
            self._table = self._state.table(self._base)
        suspects = set() if self._table is None else self._table.suspects()
        if self._begun is None:
            self._visit((b"", True, rules, False), everywhere=deep)
        else:
            self._begin(self._begun)
        # Outer folders first, since they decide about inner ones.
        for folder in sorted({path.rpartition(b"/")[0] for path in suspects - self._follow}):
            looked = folder in self._visited or folder in self._closed
            if not looked and folder in self._state.folders:
                self._visit((folder, False, False, False), everywhere=False)
        for path in sorted(self._follow):
            self.path(path, deep=False)

    @property
    def few(self) -> bool:
        sizes = [found.st_size for found in self.stats.values()]
        return len(sizes) <= FEW and sum(sizes) <= FEW_BYTES

    def path(self, path: bytes, *, deep: bool) -> None:
        """With `deep`, or at a new folder, looks at everything below too."""
        if not path:
            self._visit((b"", True, False, False), everywhere=True)
            return
        target = self._target(path)
        if target is None:
            return
        folder, _, name = target.rpartition(b"/")
        if name in RULE_NAMES:
            self._read_anew(folder)
            return
        seen = self._state.get(target)
        try:
            found = os.lstat(self._base + b"/" + target)
        except OSError as error:
            if seen is not None:
                self._miss(target, error)
            return
        is_folder = stat.S_ISDIR(found.st_mode)
        if self._is_left_out(self.rules.inside(folder), target, is_folder, seen):
            if found.st_nlink > 1 and not is_folder:
                self.linked[target] = found.st_ino
            if seen is not None:
                self._lose(target)
            return
        self._found(target, seen, found)
        if is_folder and (deep or seen is None or seen.entry.mode != found.st_mode):
            self._visit((target, True, False, False), everywhere=True)

    def _read_anew(self, folder: bytes) -> None:
        if folder:
            found, seen = self._stat(folder), self._state.get(folder)
            if found is None or not stat.S_ISDIR(found.st_mode):
                self.path(folder, deep=False)
                return
            self._found(folder, seen, found)
        self._visit((folder, True, True, False), everywhere=True)

    def _target(self, path: bytes) -> bytes | None:
        """Returns the path, or its outermost unknown folder; `None` if looked at already."""
        followed = path in self._follow
        known = followed or self._state.get(path) is not None
        if known and not self._visited and not self._closed:
            return path
        inside = path.rpartition(b"/")[0]
        for folder in ancestors(path):
            # A followed path may lie in an ignored folder, skipped by visits.
            around = folder in self._visited or folder in self._closed
            if around and (folder == inside or not followed):
                return None
            if not known and not self._state.is_folder(folder):
                return folder
        return None if path in self._visited or path in self.gone else path

    def _stat(self, path: bytes) -> os.stat_result | None:
        try:
            return os.lstat(self._base + b"/" + path)
        except OSError:
            return None

    def _is_there(self, path: bytes) -> bool:
        try:
            stat_straight(self._base + b"/" + path)
        except OSError as error:
            return isinstance(error, PermissionError) and not isinstance(error, PathMoved)
        return True

    def _stands(self, path: bytes) -> bool:
        seen = self._state.get(path)
        try:
            found = os.lstat(self._base + b"/" + path)
        except OSError as error:
            return seen is not None and isinstance(error, PermissionError)
        return seen is not None and unchanged(seen, found)

    def _found(self, path: bytes, seen: SeenEntry | None, found: os.stat_result) -> bool:
        mode = found.st_mode
        if not is_tracked_kind(mode):
            if seen is not None:
                self._lose(path)
            return True
        if found.st_nlink > 1 and stat.S_ISREG(mode):
            self.linked[path] = found.st_ino
        if seen is None:
            self.stats[path] = found
            return False
        same = unchanged(seen, found)
        if not same:
            self.stats[path] = found
        if seen.entry.is_folder and not stat.S_ISDIR(mode):
            self._close(path)
        return same

    def _other_names(self) -> None:
        inodes = set(self.linked.values())
        for path, seen in list(self._state.items()):
            if seen.inode in inodes and not seen.entry.is_folder and path not in self.linked:
                self.linked[path] = seen.inode
                found = self._stat(path)
                if found is not None and path not in self.gone:
                    self._found(path, seen, found)

    def _miss(self, path: bytes, error: OSError) -> None:
        # In an unreadable folder, a path may still exist.
        if not isinstance(error, PermissionError):
            self._lose(path)

    def _lose(self, path: bytes) -> None:
        self.gone.add(path)
        if path in self._state.folders:
            self._close(path)

    def _close(self, folder: bytes) -> None:
        self._leave(folder)
        begin = folder + b"/"
        inner = (p for p in self._follow if p.startswith(begin) and self._state.get(p) is not None)
        for path in {*self._state.below(folder), *inner}:
            # A tool of ours wrote these where nobody looks, so each is asked about by itself.
            if path in self._follow and self._is_there(path):
                continue
            self.gone.add(path)
            self.stats.pop(path, None)
            if path in self._state.folders:
                self._leave(path)

    def _leave(self, folder: bytes) -> None:
        self._closed.add(folder)
        self.rules.drop(folder)
        if self._watch is not None:
            self._watch.drop(folder)

    def _visit(self, first: _Visit, *, everywhere: bool) -> None:
        pending = [first]
        while pending:
            folder, listed, anew, unseen = pending.pop()
            self._visited.add(folder)
            if listed or everywhere:
                pending += self._list(folder, anew, unseen)
            else:
                pending += self._compare(folder)
        if self.rules.is_other:
            # Folders that are proven unchanged are there without a visit.
            self.rules.forget(first[0], self._visited | self._state.folders.keys())

    def _compare(self, folder: bytes) -> list[_Visit]:
        inner: list[_Visit] = []
        prefix = self._base + b"/" + (folder + b"/" if folder else b"")
        lstat, table = os.lstat, self._table
        for name, seen in self._state.folders[folder].items():
            try:
                found = lstat(prefix + name)
            except OSError as error:
                self._miss(join(folder, name), error)
                continue
            # By far the commonest case, so written out, and touching few objects: none is in the
            # CPU's caches. Every change of a file changes its ctime or inode.
            same = seen[_CTIME] == found.st_ctime_ns and seen[_INODE] == found.st_ino
            if same and seen[_RACY]:
                same = unchanged(seen, found)
            if same and table is not None:
                table.prove(join(folder, name))
                continue
            mode = found.st_mode
            if same and mode & 0o170000 != 0o040000:
                continue
            if name == b".gitignore" and not same:
                return self._list(folder, True, False)
            path = join(folder, name)
            if not same:
                self._found(path, seen, found)
            if stat.S_ISDIR(mode):
                inner.append((path, not same, False, False))
        return inner

    def _begin(self, begun: int) -> None:
        found = first_look(self._base, begun, self.rules, self._names, self._is_left_out)
        self.unread, self.linked = found.folders, found.linked
        self._visited.update(found.folders)

    def _list(self, folder: bytes, anew: bool, unseen: bool) -> list[_Visit]:
        names = self._names(folder)
        if names is None:
            return []
        known = self._state.folders.get(folder, {})
        before = self.rules.known(folder)
        stale = anew or (b".gitignore" in names and not self._stands(join(folder, b".gitignore")))
        rules = self.rules.listed(folder, names, stale=stale)
        fresh = before is not None and rules is not before
        begin = folder + b"/" if folder else b""
        prefix = self._base + b"/" + begin
        keeps_all = rules.keeps_all(names)
        inner: list[_Visit] = []
        lstat, table = os.lstat, self._table
        for name in names:
            path = begin + name
            seen = known.get(name)
            try:
                found = lstat(prefix + name)
            except OSError as error:
                if seen is not None:
                    self._miss(path, error)
                continue
            is_folder = found.st_mode & 0o170000 == 0o040000
            if not keeps_all and self._is_left_out(rules, path, is_folder, seen):
                if seen is not None:
                    self._lose(path)
                continue
            same = self._found(path, seen, found)
            if table is not None and same and seen is not None:
                table.prove(path)
            was_ignored = seen is None and (
                unseen or (fresh and before is not None and before.ignored(path, is_folder))
            )
            if was_ignored:
                self.shown.add(path)
            if is_folder and (table is None or not same or fresh):
                inner.append((path, not same or fresh, anew or fresh, was_ignored))
        for name in known.keys() - set(names) if known else ():
            self._lose(join(folder, name))
        return inner

    def _names(self, folder: bytes) -> list[bytes] | None:
        try:
            if self._watch is not None:
                self._watch.add(folder)
            return os.listdir(self._base + b"/" + folder if folder else self._base)
        except PermissionError:
            # In an unreadable folder, paths may still exist.
            below = self._state.below(folder)
            self._visited.update(path for path in below if path in self._state.folders)
        except OSError:
            self._close(folder)
        return None

    def _is_left_out(
        self, rules: IgnoreRules, path: bytes, is_folder: bool, seen: SeenEntry | None = None
    ) -> bool:
        kept = (seen is not None and seen.entry.is_folder == is_folder) or path in self._follow
        return not kept and rules.ignored(path, is_folder)
