"""A long table is drawn as Rich draws the same one."""

from io import StringIO

import pytest
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from sidecar.commands.long_table import LongTable

WHAT = 12
ROWS = (
    ("● 1", "Fix the parser", "M src/a.py +1 -1"),
    ("2", "", ""),
    ("30", "短い 漢字 words here", "A 漢字/ファイル.txt +12, D lib/old.py -3 and 2 more"),
    ("4", "x" * 40, "M " + "long/" * 12 + "end.py"),
)


def drawn(what: RenderableType, columns: int) -> list[str]:
    file = StringIO()
    Console(file=file, width=columns).print(what)
    return file.getvalue().splitlines()


def by_rich() -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("what", no_wrap=True, overflow="ellipsis", max_width=WHAT)
    table.add_column("files", overflow="fold")
    for row in ROWS:
        table.add_row(*map(Text, row))
    return table


@pytest.mark.parametrize("columns", [12, 19, 20, 21, 22, 23, 24, 25, 30, 40, 60, 80, 200])
def test_a_long_table_is_drawn_as_by_rich(columns: int) -> None:
    table = LongTable("#", "what", "files", right=frozenset({0}), most={1: WHAT})
    for row in ROWS:
        table.add_row(*map(Text, row))
    assert drawn(table, columns) == drawn(by_rich(), columns)


@pytest.mark.parametrize("columns", [12, 20, 30, 40, 44, 45, 46, 47, 48, 50, 60, 62, 80, 97, 200])
@pytest.mark.parametrize("right", [{0}, {1, 2}])
def test_one_that_wraps_is_drawn_as_by_rich(columns: int, right: set[int]) -> None:
    heads, rich = ("#", "what", "why"), Table(box=None, pad_edge=False)
    table = LongTable(*heads, right=frozenset(right), wraps=True)
    for number, head in enumerate(heads):
        rich.add_column(head, justify="right" if number in right else "left")
    for number, what, why in ROWS:
        row = number, what[:22], f"{why} and {'so on ' * 4}, {'w' * 30}"
        table.add_row(*map(Text, row))
        rich.add_row(*map(Text, row))
    assert drawn(table, columns) == drawn(rich, columns)


def test_a_style_covers_a_row_and_its_cells_keep_their_own() -> None:
    table = LongTable("#", "what", right=frozenset(), most={})
    table.add_row(Text("1", "red"), Text("left"), style="dim")
    file = StringIO()
    Console(file=file, width=40, force_terminal=True, color_system="standard").print(table)
    _, line = file.getvalue().splitlines()
    assert line.startswith("\x1b[2;31m1\x1b[0m")
    assert "\x1b[2mleft\x1b[0m" in line
