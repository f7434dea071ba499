"""The page on security names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / ".github/SECURITY.md"


def test_every_test_that_is_named_is_there() -> None:
    cells = re.findall(r"`((?:tests/[\w/.]+)?(?:::\w+)?)`", PAGE.read_text("utf-8"))
    named = [cell for cell in cells if cell]
    assert len(named) > 35
    path = ""
    for cell in named:
        file, _, name = cell.partition("::")
        path = file or path
        assert (ROOT / path).exists(), path
        if name:
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), cell


def test_a_newcomer_finds_it() -> None:
    for name in ("README.md", "ARCHITECTURE.md"):
        assert ".github/SECURITY.md" in (ROOT / name).read_text("utf-8"), name
