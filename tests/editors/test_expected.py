"""The table of what editors' users expect names tests and pictures that there are."""

import re
from pathlib import Path

import pytest

from tests.editors.installed import HERE, ROOT

PAGE = ROOT / "docs/reference/editors.md"
COLUMNS = {
    "VS Code": ("editors/test_vscode.py", "editors/test_views.py"),
    "Neovim": ("editors/test_neovim*.py",),
    "Emacs": ("editors/test_emacs*.py",),
    "ACP": ("e2e/test_acp_*.py",),
}
TOGETHER = "test_one_session_in_vs_code_neovim_emacs_and_an_acp_client"
CODE = re.compile(r"`([^`]+)`")
PICTURE = re.compile(r"(\w+)-\*-([\w-]+)")


def cells() -> list[tuple[str, str, str]]:
    """Give each cell with its row and its column."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    (heads,) = {tuple(row[1:]) for row in rows if row[0] == "what is expected"}
    assert heads == tuple(COLUMNS)
    return [
        (row[0], column, cell)
        for row in rows
        if row[0] != "what is expected"
        for column, cell in zip(COLUMNS, row[1:], strict=True)
    ]


def named_in(column: str) -> set[str]:
    """Give the names of a column's tests."""
    found = [path for glob in COLUMNS[column] for path in (ROOT / "tests").glob(glob)]
    return {name for path in found for name in re.findall(r"def (test_\w+)", path.read_text())}


def wrong(column: str, cell: str) -> str:
    """Say what a cell names that is not there, or what it lacks."""
    if cell.startswith("no"):
        return "" if re.fullmatch(r"no: \S.+", cell) else "no reason"
    test, *pictures = CODE.findall(cell)
    if test not in named_in(column) | {TOGETHER}:
        return f"there is no {test}"
    for name in pictures:
        shown = PICTURE.fullmatch(name)
        file = HERE / "vscode" / f"{shown[1] if shown else ''}.mjs"
        if not shown or not file.is_file() or f'picture("{shown[2]}")' not in file.read_text():
            return f"there is no picture {name}"
        if not is_of(test, file):
            return f"{test} does not play {file.name}"
    return ""


def is_of(test: str, scenario: Path) -> bool:
    """Whether a test of VS Code's plays a scenario."""
    text = (HERE / "test_vscode.py").read_text()
    body = text.partition(f"def {test}(")[2].partition("\ndef ")[0]
    return f'"{scenario.name}"' in body


@pytest.mark.parametrize(("row", "column", "cell"), cells())
def test_each_cell_names_what_there_is(row: str, column: str, cell: str) -> None:
    assert wrong(column, cell) == "", row


def test_a_wrong_cell_is_found() -> None:
    first = "`test_the_input_of_the_chat`"
    assert wrong("VS Code", f"{first}, `composer-*-mention`") == ""
    assert "no picture" in wrong("VS Code", f"{first}, `composer-*-none`")
    assert "does not play" in wrong("VS Code", f"{first}, `views-*-context`")
    assert "there is no" in wrong("Emacs", first)
    assert wrong("ACP", "no") == "no reason"
