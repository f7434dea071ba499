"""A workspace with files for commands, and one with links out of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.tools.tool_contract import ToolContext
from tests.tools.conftest import tool_context


@pytest.fixture
def inside(root: Path, context: ToolContext) -> ToolContext:
    (root / "a").write_text("")
    (root / "link").symlink_to(root.parent)
    return context


@pytest.fixture
def plain(root: Path, context: ToolContext) -> ToolContext:
    fill(root)
    return context


@pytest.fixture
def work(plain: ToolContext) -> ToolContext:
    link(plain.cwd)
    return plain


@pytest.fixture(scope="module")
def standing_plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolContext]:
    """Make a workspace for tests that only look: hundreds of rows need no one each."""
    yield from _standing(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def standing_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolContext]:
    for context in _standing(tmp_path_factory.mktemp("work")):
        link(context.cwd)
        yield context


def _standing(folder: Path) -> Iterator[ToolContext]:
    root = folder / "root"
    root.mkdir()
    fill(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        yield tool_context(root)


def fill(root: Path) -> None:
    for name in ("a.py", "a", "b", "f", "src/a.py", "docs/x", "sub/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")


def link(root: Path) -> None:
    """Make links that lead out, and to what runs later."""
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
