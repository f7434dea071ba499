"""Read SQLite files page by page: damage costs only its own page.

Format 3 and write-ahead logs (https://sqlite.org/fileformat2.html).
"""

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass

HEADER = 100
SIZES = tuple(2**n for n in range(9, 17))
DEFAULT_SIZE = 4096
INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
LEAVES = (INDEX_LEAF, TABLE_LEAF)
MOST_OVERFLOW = 1 << 30
"""Of one row; a damaged length claims more."""

Value: TypeAlias = "int | float | str | bytes | None"
Row: TypeAlias = tuple[Value, ...]
BROKEN = (IndexError, ValueError, struct.error, OSError)
"""Of reading a damaged page; `ValueError` includes Unicode errors."""


@dataclass(slots=True)
class Pages:
    """A file's pages as of the last commit, with those `seen` so far."""

    size: int
    """Bytes per page."""
    handle: int
    """The file, open for reading throughout."""
    whole: int
    """Number of whole pages in the file."""
    logged: dict[int, bytes]
    """Pages in the log, by number."""
    cut: int | None = None
    """Pages after the log's last commit, `None` if unknown; later pages are void."""
    seen: set[int] = field(default_factory=set)
    damaged: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        return max(self.whole, max(self.logged, default=0)) if self.cut is None else self.cut

    def page(self, number: int) -> bytes:
        if not 1 <= number <= self.count:
            raise IndexError(number)
        if number in self.logged:
            return self.logged[number]
        if number > self.whole:
            raise IndexError(number)
        return os.pread(self.handle, self.size, (number - 1) * self.size)


def read_pages(handle: int, log: Path) -> Pages:
    """With its log, if any; raises OSError."""
    head = os.pread(handle, HEADER, 0)
    (size,) = struct.unpack(">H", head[16:18]) if len(head) == HEADER else (0,)
    size = 65536 if size == 1 else size
    size = size if size in SIZES else DEFAULT_SIZE
    logged, cut = _logged(log.read_bytes(), size) if log.exists() else ({}, None)
    return Pages(size, handle, os.fstat(handle).st_size // size, logged, cut)


def _logged(wal: bytes, size: int) -> tuple[dict[int, bytes], int | None]:
    """Returns the pages of whole commits, and the file's page count.

    A torn frame ends the log; the count is unknown then.
    """
    if len(wal) < 32:
        return {}, None
    magic, _, wal_size, _, salt_1, salt_2, sum_1, sum_2 = struct.unpack(">8I", wal[:32])
    order = {0x377F0682: "<", 0x377F0683: ">"}.get(magic)
    if order is None or wal_size != size or _checked(wal[:24], order, (0, 0)) != (sum_1, sum_2):
        return {}, None
    committed: dict[int, bytes] = {}
    cut: int | None = None
    waiting: dict[int, bytes] = {}
    sums = (sum_1, sum_2)
    for at in range(32, len(wal) - size - 23, size + 24):
        number, commit, one, two, *given = struct.unpack(">6I", wal[at : at + 24])
        data = wal[at + 24 : at + 24 + size]
        sums = _checked(wal[at : at + 8] + data, order, sums)
        if (one, two) != (salt_1, salt_2):
            # A frame of an earlier round of the log.
            break
        if sums != tuple(given):
            return committed, None
        waiting[number] = data
        if commit:
            committed |= waiting
            waiting, cut = {}, commit
    return committed, cut


def _checked(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return one, two


def tables(pages: Pages) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, row in rows(pages, 1):
        if len(row) == 5 and row[0] in ("table", "index"):
            name, root = row[1], row[3]
            if isinstance(name, str) and isinstance(root, int):
                found[name] = root
    return found


def rows(pages: Pages, root: int) -> Iterator[tuple[int, Row]]:
    """Yields (page kind, row) in a tree's order, without damaged pages.

    A row's number replaces a null first column.
    """
    waiting = [root]
    while waiting:
        number = waiting.pop()
        if number in pages.seen:
            continue
        pages.seen.add(number)
        try:
            kind, cells, right = _cells(pages, number)
        except BROKEN:
            pages.damaged.add(number)
            continue
        if not cells and number != root:
            # Only a root may be empty: a wrong page stands here.
            pages.damaged.add(number)
        if kind in (TABLE_INTERIOR, INDEX_INTERIOR):
            page = pages.page(number)
            below = [_number(page, at) for at in cells]
            waiting.extend(reversed([*below, right]))
        if kind != TABLE_INTERIOR:
            yield from ((kind, row) for row in _cell_rows(pages, number, kind, cells))


def orphans(pages: Pages) -> Iterator[tuple[int, Row]]:
    """Yields (page kind, row) from pages in no tree read before."""
    free = set(_free(pages))
    for number in range(1, pages.count + 1):
        if number in pages.seen or number in free:
            continue
        with suppress(*BROKEN):
            kind, cells, _ = _cells(pages, number)
            if kind in (*LEAVES, INDEX_INTERIOR):
                for row in _cell_rows(pages, number, kind, cells):
                    yield kind, row


def _free(pages: Pages) -> Iterator[int]:
    with suppress(*BROKEN):
        (trunk,) = struct.unpack(">I", pages.page(1)[32:36])
        known: set[int] = set()
        while trunk and trunk not in known:
            known.add(trunk)
            yield trunk
            page = pages.page(trunk)
            following, count = struct.unpack(">2I", page[:8])
            yield from struct.unpack(f">{count}I", page[8 : 8 + 4 * count])
            trunk = following


def _cells(pages: Pages, number: int) -> tuple[int, list[int], int]:
    page = pages.page(number)
    start = HEADER if number == 1 else 0
    kind, _, count = struct.unpack(">BHH", page[start : start + 5])
    interior = kind in (TABLE_INTERIOR, INDEX_INTERIOR)
    if not interior and kind not in LEAVES:
        raise ValueError(kind)
    first = start + (12 if interior else 8)
    if first + 2 * count > pages.size:
        raise ValueError(count)
    cells = list(struct.unpack(f">{count}H", page[first : first + 2 * count]))
    if any(not first <= at < pages.size for at in cells):
        raise ValueError(cells)
    return kind, cells, _number(page, start + 8) if interior else 0


def _cell_rows(pages: Pages, number: int, kind: int, cells: list[int]) -> Iterator[Row]:
    page = pages.page(number)
    for at in cells:
        try:
            yield _row(pages, page, kind, at)
        except BROKEN:
            pages.damaged.add(number)


def _row(pages: Pages, page: bytes, kind: int, at: int) -> Row:
    at += 4 if kind == INDEX_INTERIOR else 0
    length, at = _varint(page, at)
    rowid = 0
    if kind == TABLE_LEAF:
        rowid, at = _varint(page, at)
    columns = _columns(_payload(pages, page, at, length, kind))
    if kind == TABLE_LEAF and columns and columns[0] is None:
        return (rowid, *columns[1:])
    return columns


def _payload(pages: Pages, page: bytes, at: int, length: int, kind: int) -> bytes:
    usable = pages.size
    most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if length > MOST_OVERFLOW:
        raise ValueError(length)
    if length <= most:
        return _exactly(page[at : at + length], length)
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    local = local if local <= most else least
    pieces = [_exactly(page[at : at + local], local)]
    missing, following = length - local, _number(page, at + local)
    while missing > 0:
        more = pages.page(following)
        pages.seen.add(following)
        pieces.append(more[4 : 4 + missing])
        missing -= len(pieces[-1])
        following = _number(more, 0)
    return b"".join(pieces)


def _exactly(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise ValueError(length)
    return data


def _columns(payload: bytes) -> Row:
    end, at = _varint(payload, 0)
    values: list[Value] = []
    body = end
    while at < end:
        kind, at = _varint(payload, at)
        value, body = _value(payload, kind, body)
        values.append(value)
    if body != len(payload):
        raise ValueError(body)
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind >= 12:
        length = (kind - 12) // 2
        data = _exactly(payload[at : at + length], length)
        return (data.decode() if kind % 2 else data), at + length
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)], at
    length = (0, 1, 2, 3, 4, 6, 8, 8)[kind] if kind <= 7 else -1
    data = _exactly(payload[at : at + length], length)
    if kind == 7:
        return float(struct.unpack(">d", data)[0]), at + length
    return int.from_bytes(data, "big", signed=True), at + length


def _number(page: bytes, at: int) -> int:
    return int(struct.unpack(">I", page[at : at + 4])[0])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for position in range(9):
        byte = data[at + position]
        if position == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            break
    return value, at + position + 1
