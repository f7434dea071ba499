"""Excerpts: some lines of a text, with marks where others were left out."""

from collections.abc import Iterable, Sequence


def lines_kept(text: str, ranges: Sequence[tuple[int, int]], part_id: str) -> str:
    """Give the lines of `ranges` (first, last; counted from 1) with a mark at each gap.

    The first mark says how `recall` reads the rest.
    """
    lines = text.splitlines()
    kept: list[str] = []
    shown = 0
    at = 1
    for first, last in ranges:
        if first > at:
            kept.append("…")
        kept.extend(lines[first - 1 : last])
        shown += max(0, min(last, len(lines)) - first + 1)
        at = last + 1
    if at <= len(lines):
        kept.append("…")
    left = len(lines) - shown
    if left:
        kept.append(f"[{left} of {len(lines)} lines left out: recall {part_id}]")
    return "\n".join(kept)


def as_ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Join line numbers, ascending, into (first, last) ranges; a gap of one line is closed."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number <= ranges[-1][1] + 2:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)
