"""Compares bytes line by line. Only line feeds end lines."""

import re
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from sidecar.core.dataclass import dataclass

STEPS = 400_000
"""Work for the fewest changes; beyond, whole stretches count as changed."""
_QUICK = 24 * 24
"""Work of a first try: most edits are small, and preparing for large ones costs more."""
_MOST_EDITS = 400
_CONTEXT = 3
_NO_END = "\\ No newline at end of file"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_QUOTED = re.compile(rf'{CONTROL.pattern}|["\\]')
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}


class Hunk(NamedTuple):
    """Lines `old_from` to `old_to` (exclusive, from 0) became `new_from` to `new_to`."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


@dataclass(frozen=True, slots=True)
class Difference:
    """`diff` is a unified diff; empty for equal texts, a sentence for binary data."""

    diff: str
    additions: int
    deletions: int


def split(data: bytes) -> list[bytes]:
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        # `splitlines` is twice as quick, but would also divide at single carriage returns.
        return data.splitlines(keepends=True)
    parts = data.split(b"\n")
    last = parts.pop()
    lines = [part + b"\n" for part in parts]
    if last:
        lines.append(last)
    return lines


def is_binary(data: bytes) -> bool:
    return b"\0" in data


def hunks(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Hunk]:
    """Finds changed stretches, with an equal line between any two."""
    head = _shared(old, new)
    most = min(len(old), len(new)) - head
    tail = _shared(old[len(old) - most :][::-1], new[len(new) - most :][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[Hunk] = []
    i = j = 0
    ends = (len(middle_old), len(middle_new), 0)
    for x, y, length in [*_matches(middle_old, middle_new), ends]:
        if x > i or y > j:
            found.append(Hunk(head + i, head + x, head + j, head + y))
        i, j = x + length, y + length
    return found


def count(old: bytes | None, new: bytes | None) -> tuple[int, int]:
    """Counts lines (added, deleted); (0, 0) for binary data."""
    old, new = old or b"", new or b""
    if old == new or is_binary(old) or is_binary(new):
        return 0, 0
    if not old or not new:
        return len(split(new)), len(split(old))
    return _total(hunks(split(old), split(new)))


def in_header(name: str) -> str:
    """Quotes control characters as git does, against forged diff lines."""
    if CONTROL.search(name) is None:
        return name
    return f'"{_QUOTED.sub(lambda found: _escaped(found[0]), name)}"'


def _escaped(sign: str) -> str:
    return _ESCAPES.get(sign) or "".join(f"\\{byte:03o}" for byte in sign.encode())


def unified(
    path: str,
    old: bytes | None,
    new: bytes | None,
    *,
    source: str | None = None,
    most: int = 2000,
) -> Difference:
    """Takes `None` for a missing file.

    `source`: the old path, if another. `most`: lines shown, context included. Bytes outside UTF-8
    become U+FFFD.
    """
    before, after = old or b"", new or b""
    if before == after:
        return Difference("", 0, 0)
    from_name = "/dev/null" if old is None else in_header(f"a/{source or path}")
    to_name = "/dev/null" if new is None else in_header(f"b/{path}")
    if is_binary(before) or is_binary(after):
        return Difference(f"Binary files {from_name} and {to_name} differ\n", 0, 0)
    old_lines, new_lines = split(before), split(after)
    found = hunks(old_lines, new_lines)
    shown = [f"--- {from_name}\n+++ {to_name}\n"]
    room, left = most, 0
    for sign, lines in _body(old_lines, new_lines, found):
        shown.append(_shown(sign, lines[:room]))
        left += max(0, len(lines) - room)
        room = max(0, room - len(lines))
    if left:
        shown.append(f"[… {left} more lines]\n")
    return Difference("".join(shown), *_total(found))


def _total(found: Sequence[Hunk]) -> tuple[int, int]:
    return sum(h.new_to - h.new_from for h in found), sum(h.old_to - h.old_from for h in found)


def partly(old: bytes, new: bytes, chosen: Collection[str]) -> bytes | None:
    """Changes `old` by the chosen hunks of `unified`, each from its `@@` line on.

    Returns `None` if one of them is not there.
    """
    old_lines, new_lines = split(old), split(new)
    left, kept, at = set(chosen), [], 0
    for group in _groups(hunks(old_lines, new_lines)):
        hunk = "".join(_shown(sign, lines) for sign, lines in _group(old_lines, new_lines, group))
        if hunk in left:
            left.discard(hunk)
            first, last = group[0], group[-1]
            kept += [*old_lines[at : first.old_from], *new_lines[first.new_from : last.new_to]]
            at = last.old_to
    return None if left else b"".join((*kept, *old_lines[at:]))


_Stretch: TypeAlias = tuple[str, Sequence[bytes]]
"""Lines with a diff's sign."""


def _body(old: list[bytes], new: list[bytes], found: Sequence[Hunk]) -> Iterator[_Stretch]:
    for group in _groups(found):
        yield from _group(old, new, group)


def _groups(found: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Puts together what is shown as one."""
    group: list[Hunk] = []
    for hunk in found:
        if group and hunk.old_from - group[-1].old_to > 2 * _CONTEXT:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _group(old: list[bytes], new: list[bytes], group: Sequence[Hunk]) -> Iterator[_Stretch]:
    first, last = group[0], group[-1]
    before = min(_CONTEXT, first.old_from)
    after = min(_CONTEXT, len(old) - last.old_to)
    old_span = _span(first.old_from - before, last.old_to + after)
    new_span = _span(first.new_from - before, last.new_to + after)
    yield "", (f"@@ -{old_span} +{new_span} @@\n".encode(),)
    at = first.old_from - before
    for hunk in group:
        yield " ", old[at : hunk.old_from]
        yield "-", old[hunk.old_from : hunk.old_to]
        yield "+", new[hunk.new_from : hunk.new_to]
        at = hunk.old_to
    yield " ", old[at : at + after]


def _span(start: int, end: int) -> str:
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"


def _shown(sign: str, lines: Sequence[bytes]) -> str:
    if not lines:
        return ""
    # A line end is never part of another character, so all can be decoded at once.
    text = b"".join(lines).decode("utf-8", "replace")
    ended = text.removesuffix("\n")
    signed = sign + ended.replace("\n", f"\n{sign}") + "\n"
    return signed if len(ended) < len(text) else f"{signed}{_NO_END}\n"


def _shared(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    # Slices are compared in C, so halving is quicker than going line by line.
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


_Match: TypeAlias = tuple[int, int, int]
"""Start in the old and the new text, and number, of equal lines."""


def _matches(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[_Match]:
    pairs = _fewest(old, new, _QUICK)
    if pairs is not None:
        return _stretches(pairs)
    # Lines missing in the other text cannot match and only cost time.
    in_old, in_new = set(old), set(new)
    xs = [i for i, line in enumerate(old) if line in in_new]
    ys = [j for j, line in enumerate(new) if line in in_old]
    names: dict[Hashable, int] = {}
    a = [names.setdefault(old[i], len(names)) for i in xs]
    b = [names.setdefault(new[j], len(names)) for j in ys]
    pairs = _fewest(a, b, STEPS)
    if pairs is None:
        pairs = _anchored(a, b)
    return _stretches([(xs[i], ys[j]) for i, j in pairs])


def _stretches(pairs: Iterable[tuple[int, int]]) -> list[_Match]:
    found: list[_Match] = []
    start_x = start_y = next_x = next_y = 0
    for x, y in pairs:
        if x != next_x or y != next_y:
            if next_x > start_x:
                found.append((start_x, start_y, next_x - start_x))
            start_x, start_y = x, y
        next_x, next_y = x + 1, y + 1
    if next_x > start_x:
        found.append((start_x, start_y, next_x - start_x))
    return found


def _anchored(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    budget = STEPS
    found: list[tuple[int, int]] = []
    i = j = 0
    for x, y in [*_anchors(a, b), (len(a), len(b))]:
        between = _fewest(a[i:x], b[j:y], budget)
        if between is not None:
            edits = (x - i) + (y - j) - 2 * len(between)
            budget -= edits * edits
            found += [(i + p, j + q) for p, q in between]
        else:
            budget -= _MOST_EDITS * _MOST_EDITS
        if x < len(a):
            found.append((x, y))
        i, j = x + 1, y + 1
    return found


def _anchors(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    in_a, in_b = _once(a), _once(b)
    tops: list[int] = []
    ends: list[tuple[int, int]] = []
    behind: dict[tuple[int, int], tuple[int, int] | None] = {}
    for line, x in in_a.items():
        y = in_b.get(line)
        if y is None:
            continue
        at = bisect_left(tops, y)
        behind[x, y] = ends[at - 1] if at else None
        tops[at : at + 1] = [y]
        ends[at : at + 1] = [(x, y)]
    found: list[tuple[int, int]] = []
    pair = ends[-1] if ends else None
    while pair is not None:
        found.append(pair)
        pair = behind[pair]
    return found[::-1]


def _once(lines: Sequence[int]) -> dict[int, int]:
    places: dict[int, int] = {}
    more: set[int] = set()
    for at, line in enumerate(lines):
        if places.setdefault(line, at) != at:
            more.add(line)
    return {line: at for line, at in places.items() if line not in more}


def _fewest(a: Sequence[object], b: Sequence[object], steps: int) -> list[tuple[int, int]] | None:
    """Pairs equal lines by Myers' greedy algorithm; `None` beyond `steps` or `_MOST_EDITS`."""
    n, m = len(a), len(b)
    if not n or not m:
        return []
    middle = _MOST_EDITS + 1
    reach = [0] * (2 * middle + 1)
    trace: list[list[int]] = []
    for edits in range(min(n + m, _MOST_EDITS) + 1):
        if edits * edits > steps:
            return None
        trace.append(reach[middle - edits - 1 : middle + edits + 2])
        for k in range(-edits, edits + 1, 2):
            at = middle + k
            down = k == -edits or (k != edits and reach[at - 1] < reach[at + 1])
            x = reach[at + 1] if down else reach[at - 1] + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x += 1
                y += 1
            reach[at] = x
            if x >= n and y >= m:
                return _way_back(trace, n, m)
    return None


def _way_back(trace: list[list[int]], n: int, m: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    x, y = n, m
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        at = k + edits + 1
        down = k == -edits or (k != edits and reach[at - 1] < reach[at + 1])
        from_x = (reach[at + 1] if down else reach[at - 1]) if edits else 0
        from_y = from_x - (k + 1 if down else k - 1) if edits else 0
        after_x = from_x + (1 if edits and not down else 0)
        while x > after_x:
            x -= 1
            y -= 1
            pairs.append((x, y))
        x, y = from_x, from_y
    return pairs[::-1]
