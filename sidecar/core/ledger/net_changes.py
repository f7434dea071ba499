"""Net effects of changes: files that differ, hunks that still stand."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.replacements import Replacement
from sidecar.core.parts import PartId

TELLING = 12
"""Characters of a line that tells a place: shorter ones stand in many."""
_MARGIN = " \t\r0123456789→|:+-"
LONGEST = 20_000
"""Characters of a text that are compared."""
CHANGED, DELETED = "Changed", "Deleted"
LEAST_SAVED = 10
"""Characters that a mention of a folder must save."""
MOST_NAMED, MOST_FOLDERS = 40, 12
"""Files of a list that are named, the newest; folders by which the others are counted."""
_TOLD = re.compile(rf"({CHANGED}|{DELETED})(?: in (.+?))?: (.+)")
_MORE = re.compile(r"And (\d+) more (?:changed|deleted)(?: in|:) .+")


@dataclass(frozen=True, slots=True)
class NetHunk:
    """A net edit: `old` became `new`, by calls `part_ids`, oldest first."""

    old: str
    new: str
    part_ids: tuple[PartId, ...]


def net_changes(
    replaced: Iterable[tuple[PartId, Replacement]],
) -> dict[str, list[NetHunk]]:
    """Joins edits into hunks by file, the last changed at the end."""
    files: dict[str, list[NetHunk]] = {}
    for part_id, one in replaced:
        for path, hunks in files.items():
            if hunks and one.may_reach(path):
                hunks.clear()
        if one.path:
            hunks = files.pop(one.path, [])
            files[one.path] = hunks
            if one.old is None or one.new is None:
                hunks.clear()
            elif one.every and any(one.old in hunk.new for hunk in hunks):
                hunks[:] = _everywhere(hunks, one.old, one.new, part_id)
            else:
                _take(hunks, one.old, one.new, part_id)
    return files


def _everywhere(hunks: Iterable[NetHunk], old: str, new: str, part_id: PartId) -> Iterator[NetHunk]:
    for hunk in hunks:
        if old not in hunk.new:
            yield hunk
        elif (joined := hunk.new.replace(old, new)) != hunk.old:
            yield _joined(hunk, joined, part_id)


def _joined(hunk: NetHunk, text: str, part_id: PartId) -> NetHunk:
    return NetHunk(hunk.old, text, (*hunk.part_ids, part_id))


def _take(hunks: list[NetHunk], old: str, new: str, part_id: PartId) -> None:
    """Joins an edit with earlier hunks that its text holds, or that hold it.

    Hunks whose lines it removes give way. An edit around a hunk starts from the text before the
    hunk.
    """
    for number in reversed(range(len(hunks))):
        before = hunks[number]
        if old in before.new:
            joined = before.new.replace(old, new, 1)
            del hunks[number]
            if joined != before.old:
                hunks.append(_joined(before, joined, part_id))
            return
    kept = set(new.split("\n"))
    removed = {line.strip() for line in old[:LONGEST].split("\n") if line not in kept}
    telling = {line for line in removed if len(line) >= TELLING}
    part_ids: tuple[PartId, ...] = (part_id,)
    for hunk in [hunk for hunk in hunks if _holds(old, hunk.new)]:
        old = old.replace(hunk.new, hunk.old)
        part_ids = (*hunk.part_ids, *part_ids)
        hunks.remove(hunk)
    hunks[:] = [hunk for hunk in hunks if telling.isdisjoint(map(str.strip, hunk.new.split("\n")))]
    if old != new:
        hunks.append(NetHunk(old, new, part_ids))


def _holds(text: str, part: str) -> bool:
    return len(part.strip()) >= TELLING and len(part) < len(text) and text.count(part) == 1


def diff_lines(hunk: NetHunk, stands: Set[str] = frozenset()) -> list[str]:
    """Gives a hunk's place and its `-` and `+` lines.

    Empty if all new lines are in `stands`, the lines in view.
    """
    place, gone, come = _differing(hunk.old, hunk.new)
    differ = [*(f"-{line}" for line in gone), *(f"+{line}" for line in come)]
    return [*place, *differ] if differ and not _are_among(come, stands) else []


def plain_lines(texts: Iterable[str]) -> set[str]:
    """Gives lines without the tool's margin of numbers or signs."""
    return {line.lstrip(_MARGIN).rstrip() for text in texts for line in text.split("\n")}


def _are_among(lines: Sequence[str], stands: Set[str]) -> bool:
    telling = {line for line in plain_lines(lines) if len(line) > 2}
    return bool(telling) and telling <= stands


def _differing(before: str, after: str) -> tuple[list[str], list[str], list[str]]:
    """Gives the place as `@@ line`, if any, lines that went, and lines that came."""
    old, new = (text.split("\n") if text else [] for text in (before, after))
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end = len(new) - tail
    above = next((line for line in reversed(new[:head]) if len(line.strip()) >= TELLING), "")
    below = next((line for line in new[end:] if len(line.strip()) >= TELLING), "")
    place = [f"@@ {above}"] if above else [f"@@ above {below.strip()}"] if below else []
    return place, old[head : len(old) - tail], new[head:end]


def net_files(calls: Iterable[Sequence[TouchedFile]], told: Collection[str] = ()) -> dict[str, str]:
    """Tells by path which files end changed or deleted, newest last.

    Omits paths moved away by a call, those made and deleted again unless `told`, and folders of
    which a file was changed.
    """
    now: dict[str, str] = {}
    made: set[str] = set()
    folders: set[str] = set()
    for touched in calls:
        moved = {_base(one.path) for one in touched if one.operation == "created"}
        for one in touched:
            path, before = one.path, now.pop(one.path, None)
            if one.operation != "deleted":
                if before is None and one.operation == "created":
                    made.add(path)
                for folder in _above(path):
                    folders.add(folder)
                    now.pop(folder, None)
                if path not in folders:
                    now[path] = CHANGED
                continue
            relative = not _is_absolute(path)
            for other in list(now):
                if other.startswith(f"{path}/") or (relative and other.endswith(f"/{path}")):
                    del now[other]
            if path in told or (path not in made and _base(path) not in moved):
                now[path] = DELETED
    return now


def file_lines(files: dict[str, str], told: Mapping[str, str]) -> Iterator[str]:
    """Names the newest files and counts the others by folder, without those `told` alike."""
    for title in (CHANGED, DELETED):
        paths = [path for path in reversed(files) if files[path] == title]
        inside = _inside(paths)
        paths = [path for path in paths if title != told.get(path) and path not in inside]
        paths, more = paths[:MOST_NAMED], paths[MOST_NAMED:]
        groups: list[tuple[str, list[str]]] = []
        while root := _root(paths):
            within = [path.removeprefix(root) for path in paths if path.startswith(root)]
            groups.append((root, within))
            paths = [path for path in paths if not path.startswith(root)]
        for root, within in sorted(groups, key=lambda group: -len(group[1])):
            yield f"{title} in {root}: {', '.join(within)}"
        if paths:
            yield f"{title}: {', '.join(paths)}"
        if more:
            yield f"And {len(more)} more {title.lower()}{by_folder(more)}; recall lists them"


def by_folder(paths: Sequence[str]) -> str:
    folders = (folder + _separator(folder) for folder in _above(paths[0]))
    root = next((one for one in folders if all(path.startswith(one) for path in paths)), "")
    own = "itself" if root else "."
    counts = Counter(next(_above(path.removeprefix(root)), own) for path in paths).most_common()
    if root and counts[0] == ("itself", len(paths)):
        return f" in {root}"
    rest = sum(count for _, count in counts[MOST_FOLDERS:])
    told = [f"{folder} ({count})" for folder, count in counts[:MOST_FOLDERS]]
    where = f" in {root}" if root else ""
    return f"{where}: {', '.join([*told, *([f'elsewhere ({rest})'] if rest else [])])}"


def told_files(texts: Iterable[str]) -> dict[str, str]:
    """Parses lines of `file_lines` by path."""
    found = (_TOLD.fullmatch(line) for text in texts for line in text.splitlines())
    return {
        (line[2] or "") + path: line[1]
        for line in found
        if line is not None
        for path in line[3].split(", ")
    }


def told_more(texts: Iterable[str]) -> int:
    """Counts files that `file_lines` counted without naming."""
    found = (_MORE.fullmatch(line) for text in texts for line in text.splitlines())
    return sum(int(line[1]) for line in found if line is not None)


def _root(paths: Sequence[str]) -> str:
    counts: dict[str, int] = {}
    for path in paths:
        for folder in _above(path):
            root = folder + _separator(path)
            counts[root] = counts.get(root, 0) + 1
    saved = {root: (count - 1) * len(root) for root, count in counts.items()}
    best = max(saved, key=lambda root: saved[root], default="")
    return best if saved.get(best, 0) >= LEAST_SAVED else ""


def _above(path: str) -> Iterator[str]:
    separator = _separator(path)
    while separator in path:
        path = path.rpartition(separator)[0]
        if path:
            yield path


def _is_absolute(path: str) -> bool:
    return path[:1] in "/~" or path[1:2] == ":"


def _separator(path: str) -> str:
    return "\\" if "\\" in path and "/" not in path else "/"


def _base(path: str) -> str:
    return path.rpartition(_separator(path))[2]


def _inside(paths: Sequence[str]) -> frozenset[str]:
    tails: dict[str, list[str]] = {}
    for path in filter(_is_absolute, paths):
        tails.setdefault(_base(path), []).append(path.replace("\\", "/"))
    return frozenset(
        path
        for path in paths
        if not _is_absolute(path)
        and any(whole.endswith(f"/{path}") for whole in tails.get(_base(path), ()))
    )
