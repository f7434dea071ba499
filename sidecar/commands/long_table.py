"""A table of many rows, drawn like Rich's in a fraction of the time."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from sidecar.commands.terminal import shown

GAP = "  "


class LongTable:
    """A table without a box, one line a row, except the folded last column.

    `right` numbers the columns that end alike; `most` caps a column's width, by number. With
    `wraps`, the last column breaks between words, and any does where there is little room.
    """

    def __init__(
        self,
        *heads: str,
        right: frozenset[int],
        most: dict[int, int] | None = None,
        wraps: bool = False,
    ) -> None:
        self._heads = heads
        self._right, self._most = right, most or {}
        self._wraps = wraps
        self._rows: list[tuple[tuple[Text, ...], str]] = []

    def add_row(self, *cells: Text | str, style: str = "") -> None:
        drawn = tuple(one if isinstance(one, Text) else shown(one) for one in cells)
        self._rows.append((drawn, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        head = tuple(Text(name) for name in self._heads)
        rows = [(head, "table.header"), *self._rows]
        widths = [max(map(_width, column)) for column in zip(*(r for r, _ in rows), strict=True)]
        for number, most in self._most.items():
            widths[number] = min(widths[number], most)
        room = options.max_width - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
        least = max(widths[:-1]) + 1 if self._wraps else _width(head[-1])
        folds = room < widths[-1]
        if folds and (room < least or len(widths) - 1 in self._right):
            # Rich shares what there is.
            yield self._by_rich()
            return
        widths[-1] = min(widths[-1], room)
        for cells, named in rows:
            style = console.get_style(named) if named else None
            for line in self._lines(console, cells, widths):
                yield from Segment.apply_style(line, style)
                yield Segment.line()

    def _lines(
        self, console: Console, cells: Sequence[Text], widths: Sequence[int]
    ) -> Iterator[list[Segment]]:
        *firm, last = cells
        folded = [last] if _width(last) <= widths[-1] else self._folded(console, last, widths[-1])
        for drawn in zip_longest(*([cell] for cell in firm), folded, fillvalue=Text()):
            line: list[Segment] = []
            for number, (cell, width) in enumerate(zip(drawn, widths, strict=True)):
                if number:
                    line.append(Segment(GAP))
                line.extend(self._cell(console, cell, width, right=number in self._right))
            yield line

    def _folded(self, console: Console, last: Text, width: int) -> list[Text]:
        return [*last.wrap(console, width, overflow="ellipsis" if self._wraps else "fold")]

    def _cell(self, console: Console, cell: Text, width: int, *, right: bool) -> Iterator[Segment]:
        if _width(cell) > width:
            cell = cell.copy()
            cell.truncate(width, overflow="ellipsis")
        blank = Segment(" " * (width - _width(cell)))
        if right:
            yield blank
        own = console.get_style(cell.style) if cell.style else None
        yield from Segment.apply_style(cell.render(console), own)
        if not right:
            yield blank

    def _by_rich(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for number, name in enumerate(self._heads):
            last = number == len(self._heads) - 1
            table.add_column(
                name,
                justify="right" if number in self._right else "left",
                no_wrap=not (last or self._wraps),
                overflow="fold" if last and not self._wraps else "ellipsis",
                max_width=self._most.get(number),
            )
        for cells, style in self._rows:
            table.add_row(*cells, style=style)
        return table


def _width(cell: Text) -> int:
    return cell_len(cell.plain)
