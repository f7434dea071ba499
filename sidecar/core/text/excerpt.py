"""Excerpts: lines or stretches of a text, with marks at gaps."""

from collections.abc import Sequence


def lines_kept(text: str, ranges: Sequence[tuple[int, int]], part_id: str) -> str:
    """Lines of `ranges` (first, last; from 1, inclusive), then the id for `recall`."""
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


def quoted(text: str, spans: Sequence[tuple[int, int]], part_id: str) -> str:
    """Spans (start, end; characters), each gap with its size, and the id for `recall`."""
    kept: list[str] = []
    at = 0
    for start, end in (*spans, (len(text), len(text))):
        kept += [_gap(text, at, start), text[start:end]]
        at = end
    return f"{''.join(kept).strip()}\n[shortened: recall {part_id} reads all of it]"


def _gap(text: str, start: int, end: int) -> str:
    gap = text[start:end]
    if not gap.strip():
        return gap
    if "\n" not in gap:
        return f" [⋯ {len(gap)} characters left out] "
    inside = start + len(gap) - len(gap.lstrip()), end - len(gap) + len(gap.rstrip())
    first, last = (text.count("\n", 0, place) + 1 for place in inside)
    lines = f"lines {first}-{last}" if last > first else f"line {first}"
    return f"\n⋯ {lines} left out\n"
