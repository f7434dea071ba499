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
    """Spans (start, end; characters), then the id for `recall`."""
    kept: list[str] = []
    at = 0
    for start, end in spans:
        between = text[at:start]
        if between.strip():
            kept.append(" […]\n" if "\n" in between and kept else " […] " if kept else "[…] ")
        elif kept:
            kept.append(between)
        kept.append(text[start:end])
        at = end
    if text[at:].strip() or not spans:
        kept.append(" […]" if kept else "[…]")
    return "".join(kept) + f"\n[shortened: recall {part_id} reads all of it]"
