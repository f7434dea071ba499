"""Cuts outputs and parts, and says how to read the rest."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass

Keep: TypeAlias = Literal["head", "tail", "both"]
"""The shown end: files and listings read from the top, commands say most at both."""

MAX_LINES = 2000
MAX_BYTES = 50 * 1024


@dataclass(frozen=True, slots=True)
class Cut:
    """A text for the model, with totals (lines, bytes) of the whole."""

    text: str
    cut: bool
    total_lines: int
    total_bytes: int


def cut(
    text: str,
    *,
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
    keep: Keep = "head",
    part_id: str = "",
) -> Cut:
    """Cuts to `max_lines` and `max_bytes`, plus a note with the id for `recall`.

    Cuts fall between code points, at line ends where cheap.
    """
    # A tool's JSON may hold lone surrogates; their size is counted as they would be encoded.
    data = text.encode("utf-8", "surrogatepass")
    total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    if len(data) <= max_bytes and total <= max_lines:
        return Cut(text, cut=False, total_lines=total, total_bytes=len(data))
    match keep:
        case "head":
            start, end = _head(data, max_lines, max_bytes), len(data)
        case "tail":
            start, end = 0, _tail(data, max_lines, max_bytes)
        case "both":
            start = _head(data, max_lines - max_lines // 2, max_bytes - max_bytes // 2)
            end = max(start, _tail(data, max_lines // 2, max_bytes // 2))
    note = _note(data[start:end], start, part_id)
    head, tail = (piece.decode("utf-8", "surrogatepass") for piece in (data[:start], data[end:]))
    above = "" if not head or head.endswith("\n") else "\n"
    shown = f"{head}{above}{note}\n{tail}" if tail else f"{head}{above}{note}"
    return Cut(shown, cut=True, total_lines=total, total_bytes=len(data))


def cut_to_tokens(
    text: str, most: int, tokens: Callable[[str], int], *, keep: Keep = "both", part_id: str = ""
) -> Cut:
    piece = cut(text, keep=keep, part_id=part_id)
    room = len(piece.text.encode("utf-8", "surrogatepass"))
    while room and (size := tokens(piece.text)) > most:
        # A tenth less than in proportion, so that few rounds suffice.
        room = room * most * 9 // (size * 10)
        piece = cut(text, max_bytes=room, keep=keep, part_id=part_id)
    return piece


def _note(left_out: bytes, offset: int, part_id: str) -> str:
    lines = max(1, left_out.count(b"\n"))
    read = f': recall {{"id": "{part_id}", "offset": {offset}}} reads them' if part_id else ""
    amount = f"{lines:,} line{'s' if lines > 1 else ''} ({len(left_out):,} bytes)"
    return f"[… {amount} left out{read} …]"


def _head(data: bytes, max_lines: int, max_bytes: int) -> int:
    end = min(max_bytes, len(data))
    at = -1
    for _ in range(max_lines):
        at = data.find(b"\n", at + 1, end)
        if at < 0:
            break
    else:
        return at + 1
    if end == len(data):
        return end
    newline = data.rfind(b"\n", end // 2, end)
    return newline + 1 if newline >= 0 else boundary(data, end, -1)


def _tail(data: bytes, max_lines: int, max_bytes: int) -> int:
    begin = max(0, len(data) - max_bytes)
    at = len(data) - data.endswith(b"\n")
    for _ in range(max_lines):
        at = data.rfind(b"\n", begin, at)
        if at < 0:
            break
    else:
        return at + 1
    if begin == 0:
        return 0
    newline = data.find(b"\n", begin - 1, begin + (len(data) - begin) // 2)
    return newline + 1 if newline >= 0 else boundary(data, begin, 1)


def boundary(data: bytes, index: int, step: int) -> int:
    """Moves `index` to a code point's edge, before (`step` -1) or after (1)."""
    while 0 < index < len(data) and data[index] & 0xC0 == 0x80:
        index += step
    return index


def lines_kept(text: str, ranges: Sequence[tuple[int, int]], part_id: str) -> str:
    """Keeps line `ranges` (first, last), from 1, inclusive; adds the id for `recall`."""
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
    """Keeps spans (start, end) of characters, with each gap's size, and the id for `recall`."""
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
