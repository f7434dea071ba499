"""Summarises change sets."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sidecar.core.files.changeset import (
    Author,
    ChangeSet,
    PathChange,
    attribute,
    only_folders,
    same,
)
from sidecar.core.files.strands import strands
from sidecar.core.files.tree import TreeChange, TreeEntry, above
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.line_diff import count, partly, unified
from sidecar.session.log.change_records import shown

MOST_COUNTS = 20_000
_AGENT = ("tool", "shell")
AT_ONCE = 200
"""Files with their contents in memory at once."""


class Differences:
    """Compares stored contents, which `read` gives by hash, caching line counts."""

    def __init__(self, read: Callable[[Iterable[str]], Awaitable[dict[str, bytes]]]) -> None:
        self._read = read
        self._counted: dict[tuple[str, str], tuple[int, int]] = {}

    async def counted(self, changes: Iterable[PathChange]) -> list[JsonObject]:
        found = _files(changes)
        await self._count(found)
        return [
            {**told(c), **_lines(self._counted.get(_pair(c), (0, 0))), **_sizes(c)} for c in found
        ]

    async def shown(
        self, changes: Iterable[PathChange], who: Mapping[bytes, Sequence[Author]]
    ) -> list[JsonObject]:
        """Describes changes with unified diffs and authors."""
        answer: list[JsonObject] = []
        found = _files(changes)
        for start in range(0, len(found), AT_ONCE):
            some = found[start : start + AT_ONCE]
            contents = await self._contents(some)
            answer += await asyncio.to_thread(lambda: [_diff(c, contents) for c in some])  # noqa: B023 - awaited at once
        for change, about in zip(found, answer, strict=True):
            several = (*who.get(change.source or b"", ()), *who.get(change.path, ()))
            names: list[Json] = list(dict.fromkeys(map(_named, several or (change.author,))))
            about |= {"authors": names, "author": names[0] if len(names) == 1 else "several"}
        return answer

    async def diff(
        self,
        path: bytes,
        old: TreeEntry | None,
        new: TreeEntry | None,
        content: bytes | None = None,
    ) -> str:
        """Returns "" for folders; `content` holds unstored new bytes."""
        change = PathChange(path, "modified", "user", old, new)
        if only_folders(change):
            return ""
        contents = dict(await self._contents([change]))
        if new is not None and content is not None:
            contents[new.hash] = content
        return str((await asyncio.to_thread(_diff, change, contents))["diff"])

    async def partly(
        self,
        old: TreeEntry,
        new: TreeEntry,
        content: bytes | None,
        chosen: Collection[str],
    ) -> bytes | None:
        """Changes a file by the chosen hunks of `diff`; `None` if one is not there."""
        found = await self._read({old.hash, new.hash})
        before, after = found.get(old.hash), found.get(new.hash, content)
        if before is None or after is None:
            return None
        return await asyncio.to_thread(partly, before, after, chosen)

    async def _count(self, changes: Sequence[PathChange]) -> None:
        fresh = [c for c in changes if _pair(c) not in self._counted]
        if len(self._counted) > MOST_COUNTS:
            self._counted.clear()
        for start in range(0, len(fresh), AT_ONCE):
            some = fresh[start : start + AT_ONCE]
            contents = await self._contents(some)
            self._counted.update(
                await asyncio.to_thread(lambda: {_pair(c): _count(c, contents) for c in some})  # noqa: B023 - awaited at once
            )

    async def _contents(self, changes: Iterable[PathChange]) -> dict[str, bytes]:
        entries = (entry for c in changes for entry in (c.old, c.new))
        return await self._read({e.hash for e in entries if e and e.hash})


def net(sets: Iterable[ChangeSet]) -> tuple[PathChange, ...]:
    """Sums up by path, as the agent's if the agent had a part."""
    sets = tuple(sets)
    first: dict[bytes, TreeEntry | None] = {}
    last: dict[bytes, TreeEntry | None] = {}
    for change in (change for one in sets for change in one.changes):
        for path, old, new in _pieces(change):
            first.setdefault(path, old)
            last[path] = new
    return _told(first, last, authors(sets))


def agents_part(sets: Sequence[ChangeSet]) -> tuple[PathChange, ...]:
    """Returns what is left of changes by the agent, or possibly so."""
    pieces = (piece for one in sets for change in one.changes for piece in _pieces(change))
    ends = {path: new for path, _, new in pieces}
    now = {path: entry for path, entry in ends.items() if entry is not None}
    targets: dict[bytes, TreeEntry | None] = {}
    left: dict[bytes, TreeEntry | None] = {}
    for path, strand in strands(sets, now).items():
        if strand.parts:
            targets[path], left[path] = strand.target, strand.left
        elif strand.unknown is not None:
            targets[path], left[path] = strand.unknown.old, strand.unknown.new
    return _told(targets, left, authors(sets))


def authors(sets: Iterable[ChangeSet]) -> dict[bytes, tuple[Author, ...]]:
    """Lists authors by path, the latest last; a merge removes the agent until undone."""
    found: dict[bytes, list[Author]] = {}
    taken_out: dict[bytes, list[Author]] = {}
    for change in (change for one in sets for change in one.changes):
        for path, _, _ in _pieces(change):
            own = found.setdefault(path, [])
            came: list[Author] = [change.author]
            if change.author == "merge":
                came = ["user"]
                taken_out[path] = [who for who in own if who in _AGENT]
                own[:] = [who for who in own if who not in _AGENT]
            elif change.author == "restore" and path in taken_out:
                came = taken_out.pop(path)
            own[:] = [*(who for who in own if who not in came), *came]
    return {path: tuple(own) for path, own in found.items()}


def _author(found: Sequence[Author]) -> Author:
    agents = [who for who in found if who in _AGENT]
    if agents:
        return agents[-1]
    return next((who for who in ("unknown", "user") if who in found), found[-1])


def paths_of(given: str, known: Iterable[bytes]) -> frozenset[bytes]:
    r"""Converts a client's relative path to bytes.

    A path with `\x` escapes, made by `shown`, is looked up in `known`.
    """
    wanted = given.removeprefix("./").rstrip("/")
    wanted = "" if wanted == "." else wanted
    if "\\x" not in wanted:
        return frozenset((os.fsencode(wanted),))
    every = {part for path in known for part in (path, *above(path))}
    return frozenset(path for path in every if shown(path) == wanted) or frozenset(
        (os.fsencode(wanted),)
    )


def told(change: PathChange) -> JsonObject:
    about: JsonObject = {
        "path": shown(change.path),
        "change": change.change,
        "author": _named(change.author),
    }
    if not all(entry is None or entry.restorable for entry in (change.old, change.new)):
        about["restorable"] = False
    return about if change.source is None else {**about, "from": shown(change.source)}


def _named(author: Author) -> str:
    return "restore" if author == "merge" else author


def _told(
    first: Mapping[bytes, TreeEntry | None],
    last: Mapping[bytes, TreeEntry | None],
    who: Mapping[bytes, Sequence[Author]],
) -> tuple[PathChange, ...]:
    delta = tuple(
        TreeChange(path, first[path], last[path])
        for path in sorted(first)
        if not same(first[path], last[path])
    )
    one = {path: _author(found) for path, found in who.items() if found}
    users = {path for path, author in one.items() if author == "user"}
    found = attribute(delta, tools=(), shell=True, saved=users, between_steps=False)
    return tuple(
        c if (author := one.get(c.path, c.author)) == c.author else replace(c, author=author)
        for c in found
    )


def _pieces(change: PathChange) -> Iterator[tuple[bytes, TreeEntry | None, TreeEntry | None]]:
    if change.source is None:
        yield change.path, change.old, change.new
    else:
        yield change.source, change.old, None
        yield change.path, None, change.new


def _files(changes: Iterable[PathChange]) -> list[PathChange]:
    return [c for c in changes if not only_folders(c)]


def _pair(change: PathChange) -> tuple[str, str]:
    return (change.old.hash if change.old else "", change.new.hash if change.new else "")


def _lines(counts: tuple[int, int]) -> JsonObject:
    return {"additions": counts[0], "deletions": counts[1]}


def _sizes(change: PathChange) -> JsonObject:
    before, now = (0 if e is None or e.is_folder else e.size for e in (change.old, change.new))
    return {"size": now, "sizeBefore": before}


def _count(change: PathChange, contents: Mapping[str, bytes]) -> tuple[int, int]:
    if _lost(change.old, contents) or _lost(change.new, contents):
        return 0, 0
    return count(_content(change.old, contents), _content(change.new, contents))


def _diff(change: PathChange, contents: Mapping[str, bytes]) -> JsonObject:
    about = told(change)
    if _lost(change.old, contents) or _lost(change.new, contents):
        text = "What it held is not stored, so it cannot be shown.\n"
        return {**about, "diff": text, **_lines((0, 0))}
    source = None if change.source is None else shown(change.source)
    old, new = _content(change.old, contents), _content(change.new, contents)
    found = unified(shown(change.path), old, new, source=source)
    return {**about, "diff": found.diff, **_lines((found.additions, found.deletions))}


def _lost(entry: TreeEntry | None, contents: Mapping[str, bytes]) -> bool:
    return entry is not None and not entry.is_folder and entry.hash not in contents


def _content(entry: TreeEntry | None, contents: Mapping[str, bytes]) -> bytes | None:
    return None if entry is None else contents.get(entry.hash)
