"""Finds files by a few letters of their paths."""

import asyncio
import heapq
import os
from collections.abc import Iterator
from pathlib import Path

from sidecar.tools.files.find import in_time
from sidecar.workspace.paths import printable
from sidecar.workspace.walk import TimeLeft, walk

MAX_WALKED = 100_000
SECONDS = 2.0

Rank = tuple[int, int, int]


async def find_names(cwd: Path, query: str, limit: int) -> tuple[list[str], bool]:
    """Returns the best matches first, and whether the walk stopped early."""
    real = Path(await asyncio.to_thread(os.path.realpath, cwd))
    wanted = query.strip().lower()
    found, late = await in_time(lambda left: _best(real, wanted, limit, left), limit + 1, SECONDS)
    return [printable(path) for path in found], late


def _best(real: Path, wanted: str, limit: int, left: TimeLeft) -> Iterator[str]:
    late = False

    def ranked() -> Iterator[tuple[Rank, str]]:
        nonlocal late
        try:
            for number, path in enumerate(walk(real, left)):
                if number == MAX_WALKED:
                    late = True
                    return
                if (rank := _rank(path.lower(), wanted)) is not None:
                    yield rank, path
        except TimeoutError:
            late = True

    yield from (path for _, path in heapq.nsmallest(limit, ranked()))
    if late:
        raise TimeoutError


def _rank(path: str, wanted: str) -> Rank | None:
    """Lower is better: letters together, in the name, near each other, in a short path."""
    if not wanted:
        return path.count("/"), 0, 0
    start = path.rfind("/") + 1
    at = path.find(wanted, start)
    if at >= 0:
        return (0 if at == start else 1), 0, len(path)
    if wanted in path:
        return 2, 0, len(path)
    for tier, place in ((3, start), (4, 0)):
        span = _span(path, wanted, place)
        if span is not None:
            return tier, span, len(path)
    return None


def _span(path: str, wanted: str, place: int) -> int | None:
    first = -1
    for letter in wanted:
        place = path.find(letter, place) + 1
        if not place:
            return None
        first = place if first < 0 else first
    return place - first
