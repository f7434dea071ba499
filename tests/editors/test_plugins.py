"""Plugins are thin: what the daemon could own is not in them."""

import re
from functools import cache
from pathlib import Path

import pytest

from sidecar.core.text.visible import visible

EDITORS = Path(__file__).parents[2] / "editors"
MOST_LINES = 1000
"""Lines of code of a plugin without its views; blank lines and comments are none."""
COMMENT = re.compile(r"^\s*(//|/\*|\*|--|;)")

# The views of VS Code are in folders of their own.
PLUGINS = {"vscode": "vscode/src/*.ts"}


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_is_under_a_thousand_lines_without_its_views(name: str) -> None:
    files = list(EDITORS.glob(PLUGINS[name]))
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    code = [line for line in lines if line.strip() and not COMMENT.match(line)]
    assert 300 < len(code) < MOST_LINES


SPANS = {
    "vscode/src/views/visible.ts": (
        r"const HIDDEN = (.*?);",
        r"\\u\{?(\w+)\}?(?:-\\u\{?(\w+)\}?)?",
    ),
    "neovim/lua/sidecar/view.lua": (r"local HIDDEN = \{(.*?)\n\}", r"\{ (\w+)(?:, (\w+))? \}"),
    "emacs/sidecar-visible.el": (r"\(rx \(any(.*?)\)\)\)", r"([#x\da-f]+)(?: \. ([#x\da-f]+))?"),
}
"""Where an editor has its list of what is not seen, and a span of it."""
HAVE_SHAPE = {*range(0x600, 0x606), 0x6DD, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Marks of numbers, which the daemon writes out for terminals."""


@cache
def hidden() -> set[int]:
    """Give the characters that the daemon writes out behind a letter."""
    codes = {*range(9), *range(11, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000)}
    return {code for code in codes if visible(f"a{chr(code)}") != f"a{chr(code)}"}


@pytest.mark.parametrize("name", SPANS)
def test_each_editor_writes_out_all_that_the_daemon_does(name: str) -> None:
    block, span = SPANS[name]
    text = re.search(block, (EDITORS / name).read_text("utf-8"), re.DOTALL)
    assert text
    base = 16 if name.endswith(".ts") else 0
    pairs = [[one.replace("#", "0") for one in pair if one] for pair in re.findall(span, text[1])]
    spans = [range(int(pair[0], base), int(pair[-1], base) + 1) for pair in pairs]
    written_out = {code for codes in spans for code in codes}
    assert sorted(written_out - hidden()) == []
    assert sorted(hidden() - written_out - HAVE_SHAPE) == []


def test_every_installer_that_is_named_is_there() -> None:
    root = EDITORS.parent
    texts = [EDITORS / "README.md", *sorted((root / "tests/editors").glob("*.py"))]
    named = {n for t in texts for n in re.findall(r"tests/editors/(install\w*\.sh)", t.read_text())}
    assert {"install.sh", "install_helix.sh", "install_neovim.sh"} <= named
    assert [n for n in sorted(named) if not (root / "tests/editors" / n).is_file()] == []
