"""Makes a restore's verdicts possible together, and orders its actions."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field

from sidecar.core.dataclass import dataclass
from sidecar.core.files.reconcile import OTHERS, Choices
from sidecar.core.files.strands import Strand
from sidecar.core.files.tree import TreeEntry, above, name, parent
from sidecar.core.files.undo import PathVerdict, in_the_way, shown, with_it

_FOLDER = 0o040755
_OPEN = 0o300
"""Bits without which an owner can change nothing in a folder."""


@dataclass(slots=True)
class Placing:
    """Verdicts on paths, adjusted until they fit each other.

    `pairs`: renames (new, old). `needed`: folders made only for their contents.
    """

    strands: Mapping[bytes, Strand]
    now: Mapping[bytes, TreeEntry]
    inside: Callable[[bytes], Iterable[bytes]]
    choices: Choices
    pairs: Collection[tuple[bytes, bytes]]
    verdicts: dict[bytes, PathVerdict]
    needed: dict[bytes, TreeEntry] = field(default_factory=dict)

    def settle(self) -> None:
        """Withdraws verdicts until the rest is possible."""
        while self._blocked() | self._parted() | self._full():
            pass
        self._need()

    def _after(self, path: bytes) -> TreeEntry | None:
        verdict = self.verdicts.get(path)
        return verdict.entry if verdict is not None and verdict.acts else self.now.get(path)

    def _acting(self) -> list[tuple[bytes, PathVerdict]]:
        return [(path, verdict) for path, verdict in self.verdicts.items() if verdict.acts]

    def _blocked(self) -> bool:
        found = False
        for path, verdict in sorted(self._acting()):
            if verdict.entry is None:
                continue
            for folder in above(path):
                there = self._after(folder)
                if there is not None and not there.is_folder:
                    reason = f"Its folder {shown(folder)} is a {there.kind} now."
                    self.verdicts[path] = in_the_way(self.choices, reason)
                    found = True
                    break
        return found

    def _parted(self) -> bool:
        found = False
        for pair in self.pairs:
            for path, other in (pair, pair[::-1]):
                stays = self.verdicts[other]
                if self.verdicts[path].acts and not stays.acts:
                    self.verdicts[path] = with_it(stays, other)
                    found = True
        return found

    def _full(self) -> bool:
        found = False
        coming: dict[bytes, set[bytes]] = {}
        acting = self._acting()
        for path, verdict in acting:
            if verdict.entry is not None:
                coming.setdefault(parent(path), set()).add(path)
        for path, verdict in sorted(acting, key=lambda item: (-_depth(item[0]), item[0])):
            now = self.now.get(path)
            going = verdict.entry is None or not verdict.entry.is_folder
            if now is None or not now.is_folder or not going:
                continue
            left = {child for child in self.inside(path) if not self._goes(child)}
            left |= coming.get(path, set())
            if left:
                reason = f"It is not empty: {_few(left)}."
                if verdict.entry is None:
                    self.verdicts[path] = PathVerdict("skipped", f"Left where it is. {reason}")
                else:
                    self.verdicts[path] = in_the_way(self.choices, reason)
                found = True
        return found

    def _goes(self, path: bytes) -> bool:
        verdict = self.verdicts.get(path)
        return verdict is not None and verdict.acts and verdict.entry is None

    def _need(self) -> None:
        for path, verdict in self._acting():
            if verdict.entry is None:
                continue
            for folder in above(path):
                strand = self.strands.get(folder)
                if strand is not None and self._after(folder) is None:
                    known = [e for part in strand.parts for e in (part.new, part.old)]
                    entry = next((e for e in known if e is not None and e.is_folder), None)
                    self.needed[folder] = entry or TreeEntry(_FOLDER)
        for folder, entry in self.needed.items():
            reason = f"Made again for what comes back in it, though {OTHERS} removed it."
            self.verdicts[folder] = PathVerdict("restored", reason, entry)


def order(
    paths: Iterable[bytes],
    now: Mapping[bytes, TreeEntry],
    after: Callable[[bytes], TreeEntry | None],
) -> list[bytes]:
    """Orders paths to make each action possible.

    Folders open first and close last; emptied folders go inner first, new ones come outer first.
    """
    listed = list(paths)
    solid = {p for p in listed if (entry := after(p)) is not None and not entry.is_folder}

    def key(path: bytes) -> tuple[int, int, bytes]:
        old, new, depth = now.get(path), after(path), _depth(path)
        if new is None:
            if old is None or not old.is_folder:
                return 1, 0, path
            makes_room = any(folder in solid for folder in above(path))
            return (2 if makes_room else 5), -depth, path
        if not new.is_folder:
            return 4, 0, path
        if old is None or not old.is_folder:
            return 3, depth, path
        opened = new.mode & _OPEN == _OPEN
        return (0, depth, path) if opened else (6, -depth, path)

    return sorted(listed, key=key)


def children(now: Mapping[bytes, TreeEntry]) -> Callable[[bytes], Iterable[bytes]]:
    known: dict[bytes, list[bytes]] = {}
    for path in now:
        known.setdefault(parent(path), []).append(path)
    return lambda folder: known.get(folder, ())


def _depth(path: bytes) -> int:
    return path.count(b"/")


def _few(paths: Collection[bytes]) -> str:
    names = [shown(name(path)) for path in sorted(paths)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
