"""Every file passes here before the first turn."""

import os
from collections.abc import Callable
from functools import partial

from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import SeenEntry, TreeEntry
from sidecar.workspace.snapshots.ignore import IgnoreRules
from sidecar.workspace.snapshots.known_paths import unread_of
from sidecar.workspace.snapshots.scan.rule_book import RuleBook

AT_ONCE = 64
"""Sibling folders listed before names are checked against rules."""

Folders = dict[bytes, dict[bytes, SeenEntry]]


@dataclass(frozen=True, slots=True)
class FirstLook:
    """`folders`: names in each; `linked`: inodes of files with several hard links."""

    folders: Folders
    linked: dict[bytes, int]


def first_look(
    base: bytes,
    at: int,
    rules: RuleBook,
    names_in: Callable[[bytes], list[bytes] | None],
    left_out: Callable[[IgnoreRules, bytes, bool], bool],
) -> FirstLook:
    """Lists and stats all paths; `at`: start time (ms).

    `names_in` watches and lists a folder; `left_out`: whether rules ignore a path.
    """
    found = FirstLook({}, {})
    pending = [[b""]]
    while pending:
        listed: dict[bytes, list[bytes]] = {}
        for folder in pending.pop():
            found.folders[folder] = {}
            names = names_in(folder)
            if names is not None:
                listed[folder] = names
        all_kept = rules.keep_all(listed)
        for folder, names in listed.items():
            ask = None
            if not all_kept:
                own = rules.listed(folder, names, stale=False)
                ask = None if own.keeps_all(names) else partial(left_out, own)
            inner = _take(base, folder, names, at, ask, found)
            if not inner:
                continue
            if ask is None:
                rules.unsaid.update(inner)
            pending += [inner[n : n + AT_ONCE] for n in range(0, len(inner), AT_ONCE)]
    return found


def _take(
    base: bytes,
    folder: bytes,
    names: list[bytes],
    at: int,
    left_out: Callable[[bytes, bool], bool] | None,
    into: FirstLook,
) -> list[bytes]:
    inner: list[bytes] = []
    begin = folder + b"/" if folder else b""
    prefix = base + b"/" + begin
    taken = into.folders[folder]
    lstat, new = os.lstat, tuple.__new__
    for name in names:
        try:
            found = lstat(prefix + name)
        except OSError:
            continue
        mode = found.st_mode
        kind = mode & 0o170000
        if left_out is not None and left_out(begin + name, kind == 0o040000):
            continue
        if kind == 0o100000:
            # `unread_of` a file, written out because all else is few beside them.
            mtime = found.st_mtime_ns
            entry = new(TreeEntry, (mode, "", found.st_size, "unread", mtime))
            taken[name] = new(
                SeenEntry, (entry, mtime, found.st_ctime_ns, found.st_ino, False, False)
            )
            if found.st_nlink > 1:
                into.linked[begin + name] = found.st_ino
        elif kind == 0o040000:
            taken[name] = unread_of(found, at)
            inner.append(begin + name)
        elif kind == 0o120000:
            taken[name] = unread_of(found, at)
    return inner
