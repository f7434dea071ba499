"""A workspace with files for commands, and one with links out of it."""

from pathlib import Path

import pytest

from sidecar.tools.tool_contract import ToolContext


@pytest.fixture
def plain(root: Path, context: ToolContext) -> ToolContext:
    for name in ("a.py", "a", "b", "f", "src/a.py", "docs/x", "sub/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    return context


@pytest.fixture
def work(plain: ToolContext) -> ToolContext:
    """Make links that lead out, and to what runs later."""
    root = plain.cwd
    (root.parent / "beside").write_text("")
    (root.parent / "elsewhere").mkdir()
    (root.parent / "elsewhere" / "secret").write_text("")
    (root / "outside").symlink_to(root.parent / "elsewhere")
    (root.parent / ".way").symlink_to(root)
    (root / "deep").symlink_to("docs/in")
    (root / "docs" / "in").mkdir()
    (root / "docs" / "in" / "out").symlink_to(root.parent / "elsewhere")
    (root / "hist").symlink_to(".git")
    (root / "linked").symlink_to(".vscode")
    (root / ".envrc").symlink_to("env.sh")
    (root / "kept.py").symlink_to("bin/rg")
    return plain
