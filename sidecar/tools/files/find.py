"""`list_files` and `search`."""

import asyncio
import errno
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.tools import inputs
from sidecar.tools.files.grep import Match, compile_pattern, search_text
from sidecar.tools.files.reach import folder, reach
from sidecar.tools.files.ripgrep import run_ripgrep
from sidecar.tools.tool_contract import ToolAnswer, ToolContext
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.files import read_text
from sidecar.workspace.paths import Place, display, printable, spelt_names
from sidecar.workspace.variables import program
from sidecar.workspace.walk import TimeLeft, Unignored, glob, list_folder, walk

MAX_LISTED = 1000
DEFAULT_MATCHES = 200
MAX_MATCHES = 2000
DEADLINE = 20.0
"""Seconds; results until then are returned."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """A search below a real path; `accepts` and `shows`, by rules, filter relative paths."""

    pattern: str
    real: Path
    is_folder: bool
    glob: str | None
    accepts: Callable[[str], bool]
    shows: Callable[[str], bool]
    limit: int


async def list_files(given: JsonObject, context: ToolContext) -> ToolAnswer:
    pattern = inputs.optional_text(given, "pattern")
    place = await asyncio.to_thread(reach, inputs.optional_text(given, "path") or ".", context)
    real = await asyncio.to_thread(folder, place, context)
    late = False
    if pattern:
        accepts = await asyncio.to_thread(glob, pattern)
        found, late = await in_time(lambda left: _named(real, accepts, left), MAX_LISTED + 1)
    else:
        found = list(await asyncio.to_thread(list_folder, real))
    names = [printable(name) for name in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        names.append(f"[… more than {MAX_LISTED} entries; give a pattern or a narrower path]")
    if late:
        names.append(_late("listing"))
    none = f"[no file below {place.shown} matches {pattern}]" if pattern else "[empty folder]"
    return ToolAnswer(
        "\n".join(names) or none,
        title=f"{pattern} in {place.shown}" if pattern else place.shown,
        metadata={"path": place.shown, "files": min(len(found), MAX_LISTED)},
    )


async def search(given: JsonObject, context: ToolContext) -> ToolAnswer:
    pattern = inputs.text(given, "pattern")
    compile_pattern(pattern)
    only = inputs.optional_text(given, "glob") or None
    limit = min(inputs.whole(given, "limit", least=1) or DEFAULT_MATCHES, MAX_MATCHES)
    path = inputs.optional_text(given, "path") or "."
    place = await asyncio.to_thread(reach, path, context)
    is_folder = await asyncio.to_thread(_is_folder, place)
    if not is_folder and not await asyncio.to_thread(_is_plain, place.real):
        text = f"{place.shown} is no file that can be searched: a pipe, a socket or a device."
        raise BadRequest(text, "input.path")
    accepts = await asyncio.to_thread(glob, only) if only and is_folder else _any
    # Of a single file the rules were asked before.
    shows = await asyncio.to_thread(_shown_of, path, place, context) if is_folder else _any
    query = Query(pattern, place.real, is_folder, only, accepts, shows, limit + 1)
    matches, late = await _search(query, context)
    lines = [f"{_shown(query, match, context.cwd)}:{match.line}: {match.text}" for match in matches]
    if len(lines) > limit:
        lines[limit:] = [f"[… more than {limit} lines match; narrow the search]"]
    if late:
        lines.append(_late("search"))
    return ToolAnswer(
        "\n".join(lines) or f"[nothing in {place.shown} matches {pattern}]",
        title=f"{pattern} in {place.shown}",
        metadata={
            "path": place.shown,
            "matches": min(len(matches), limit),
            "files": len({match.path for match in matches[:limit]}),
        },
    )


def _any(_: str) -> bool:
    return True


def _shown_of(given: str, place: Place, context: ToolContext) -> Callable[[str], bool]:
    """Tells which files below a folder no rule keeps from the model, by any of its names."""
    kept, root = context.kept_back(), Path(os.path.realpath(context.cwd))
    if kept is None:
        return _any
    spelt = {*spelt_names(given, context.cwd)} - {place.shown, str(place.real)}

    @cache
    def shows(path: str) -> bool:
        name = printable(path)
        others = tuple(f"{folder}/{name}" for folder in spelt)
        real = place.real / path
        return not kept(str(real), printable(display(real, root)), others)

    return shows


async def _search(query: Query, context: ToolContext) -> tuple[list[Match], bool]:
    texts, early = await in_time(lambda left: _opened(query, context.buffers, left), None)
    opened = dict(texts)
    saved, late = await _on_disk(query, opened, context)
    unsaved, later = await in_time(lambda left: _in_buffers(query, opened, left), query.limit)
    both = sorted((*saved, *unsaved), key=lambda match: (match.path.split("/"), match.line))
    return both[: query.limit], early or late or later


async def _on_disk(
    query: Query, opened: dict[str, str], context: ToolContext
) -> tuple[list[Match], bool]:
    unignored = Unignored(query.real, _until(DEADLINE))

    def wanted(path: str) -> bool:
        # A glob given to ripgrep brings back files that .gitignore leaves out.
        found = path not in opened and (query.glob is None or unignored.has(path))
        return found and query.shows(path)

    # What starts may obey its folder, as version managers' programs do.
    ripgrep = program("rg", context.environment) if context.trusted else None
    if ripgrep is not None:
        ran = await run_ripgrep(
            ripgrep,
            unignored,
            query.pattern,
            query.glob,
            wanted,
            query.limit,
            DEADLINE,
            context.environment,
        )
        if not ran.failed:
            return ran.matches, ran.late
    return await in_time(lambda left: _by_ourselves(query, opened, left), query.limit)


_threads = ThreadPoolExecutor(4, "search")
"""Of its own: a message may have dozens of slow searches, and every window waits for the others."""


async def in_time(
    work: Callable[[TimeLeft], Iterator[T]], limit: int | None, seconds: float | None = None
) -> tuple[list[T], bool]:
    """Works in a thread; returns what came, and whether time ran out."""
    stopped = Event()
    until = _until(DEADLINE if seconds is None else seconds)

    def left() -> float:
        return 0.0 if stopped.is_set() else until()

    def run() -> tuple[list[T], bool]:
        found: list[T] = []
        try:
            found.extend(islice(work(left), limit))
        except TimeoutError:
            return found, True
        return found, False

    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, run)
    finally:
        # A thread cannot be cancelled; it is told to stop.
        stopped.set()


def _until(seconds: float) -> TimeLeft:
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def _named(real: Path, accepts: Callable[[str], bool], left: TimeLeft) -> Iterator[str]:
    return filter(accepts, walk(real, left))


def _by_ourselves(query: Query, opened: dict[str, str], left: TimeLeft) -> Iterator[Match]:
    matches = compile_pattern(query.pattern)
    base = query.real if query.is_folder else query.real.parent
    paths = walk(query.real, left) if query.is_folder else iter((query.real.name,))
    for path in paths:
        if path not in opened and query.accepts(path) and query.shows(path):
            yield from search_text(path, _text(base / path), matches, left)


def _in_buffers(query: Query, opened: dict[str, str], left: TimeLeft) -> Iterator[Match]:
    matches = compile_pattern(query.pattern)
    for path, text in opened.items():
        yield from search_text(path, text, matches, left)


def _opened(query: Query, buffers: Buffers, left: TimeLeft) -> Iterator[tuple[str, str]]:
    base = query.real if query.is_folder else query.real.parent
    unignored = Unignored(base, left)
    for real in buffers.open_paths():
        buffer = buffers.get(real)
        path = display(real, base)
        if buffer is None or (real != query.real and not query.is_folder):
            continue
        if (
            real.is_relative_to(base)
            and query.accepts(path)
            and query.shows(path)
            and (not query.is_folder or unignored.has(path))
        ):
            yield path, buffer.text


def _text(real: Path) -> str:
    try:
        return read_text(real)
    except (OSError, BadRequest):
        return ""


def _is_plain(real: Path) -> bool:
    return real.is_file()


def _is_folder(place: Place) -> bool:
    if not place.real.exists():
        raise FileNotFoundError(errno.ENOENT, "does not exist", str(place.real))
    return place.real.is_dir()


def _shown(query: Query, match: Match, cwd: Path) -> str:
    base = query.real if query.is_folder else query.real.parent
    return printable(display(base / match.path, Path(os.path.realpath(cwd))))


def _late(what: str) -> str:
    return f"[stopped, because it took too long; a narrower path makes the {what} complete]"
