"""Merges texts three ways, line by line."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.text.line_diff import Hunk, hunks, is_binary, split

MOST_BYTES = 2 * 1024 * 1024
MOST_LINES = 50_000
"""Lines of a text to merge; more take too long for waiting people."""

Unmergeable: TypeAlias = Literal["binary", "large"]

_OPEN, _MIDDLE, _CLOSE = b"<" * 7, b"=" * 7, b">" * 7


@dataclass(frozen=True, slots=True)
class MergedText:
    """`clashes` counts the places between conflict markers."""

    content: bytes
    clashes: int


def merge(
    base: bytes, mine: bytes, theirs: bytes, *, my_name: str = "mine", their_name: str = "theirs"
) -> MergedText | Unmergeable:
    """Merges two edits of `base`, byte for byte.

    Edits with no unchanged line between them clash; equal edits count once. Returns `"binary"`, or
    `"large"` beyond `MOST_BYTES` or `MOST_LINES`.
    """
    if theirs in (mine, base):
        return MergedText(mine, 0)
    if mine == base:
        return MergedText(theirs, 0)
    texts = (base, mine, theirs)
    if any(is_binary(text) for text in texts):
        return "binary"
    if any(len(text) > MOST_BYTES or text.count(b"\n") >= MOST_LINES for text in texts):
        return "large"
    old, one, other = (split(text) for text in texts)
    end = b"\r\n" if b"".join(one[:1] or other[:1]).endswith(b"\r\n") else b"\n"
    merged: list[bytes] = []
    at = clashes = 0
    for start, stop, my_hunks, their_hunks in _regions(hunks(old, one), hunks(old, other)):
        merged += old[at:start]
        at = stop
        left = _side(old, one, start, stop, my_hunks)
        right = _side(old, other, start, stop, their_hunks)
        if left == right or not their_hunks:
            merged += left
        elif not my_hunks:
            merged += right
        else:
            clashes += 1
            merged += _marked(left, right, my_name, their_name, end)
    merged += old[at:]
    return MergedText(b"".join(merged), clashes)


_Region: TypeAlias = tuple[int, int, list[Hunk], list[Hunk]]


def _regions(mine: Sequence[Hunk], theirs: Sequence[Hunk]) -> Iterator[_Region]:
    both = sorted([*((h, True) for h in mine), *((h, False) for h in theirs)])
    start = stop = -1
    my_hunks: list[Hunk] = []
    their_hunks: list[Hunk] = []
    for hunk, is_mine in both:
        if hunk.old_from > stop and (my_hunks or their_hunks):
            yield start, stop, my_hunks, their_hunks
            my_hunks, their_hunks = [], []
        if not (my_hunks or their_hunks):
            start = stop = hunk.old_from
        stop = max(stop, hunk.old_to)
        (my_hunks if is_mine else their_hunks).append(hunk)
    if my_hunks or their_hunks:
        yield start, stop, my_hunks, their_hunks


def _side(
    old: Sequence[bytes], new: Sequence[bytes], start: int, stop: int, own: Sequence[Hunk]
) -> list[bytes]:
    lines: list[bytes] = []
    for hunk in own:
        lines += old[start : hunk.old_from]
        lines += new[hunk.new_from : hunk.new_to]
        start = hunk.old_to
    lines += old[start:stop]
    return lines


def _marked(
    left: Sequence[bytes], right: Sequence[bytes], my_name: str, their_name: str, end: bytes
) -> list[bytes]:
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    most = min(len(left), len(right)) - head
    while tail < most and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    return [
        *left[:head],
        _OPEN + b" " + my_name.encode() + end,
        *_ended(left[head : len(left) - tail], end),
        _MIDDLE + end,
        *_ended(right[head : len(right) - tail], end),
        _CLOSE + b" " + their_name.encode() + end,
        *left[len(left) - tail :],
    ]


def _ended(lines: Sequence[bytes], end: bytes) -> Iterator[bytes]:
    for line in lines:
        yield line if line.endswith(b"\n") else line + end
