"""Plugins are thin: what the daemon could own is not in them."""

import re
from pathlib import Path

import pytest

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


def test_every_installer_that_is_named_is_there() -> None:
    root = EDITORS.parent
    texts = [EDITORS / "README.md", *sorted((root / "tests/editors").glob("*.py"))]
    named = {n for t in texts for n in re.findall(r"tests/editors/(install\w*\.sh)", t.read_text())}
    assert {"install.sh", "install_helix.sh", "install_neovim.sh"} <= named
    assert [n for n in sorted(named) if not (root / "tests/editors" / n).is_file()] == []
