"""Real Neovim, old and new, on a screen: what is typed below the chat, and done in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.installed import HERE
from tests.editors.terminal import Terminal
from tests.editors.test_neovim import PROGRAMS, installed, surroundings
from tests.editors.workspaces import lay_out

pytestmark = pytest.mark.long

SAID = "\u276f"
"""What stands before the user's messages."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return lay_out(tmp_path, lines=700)


@pytest.fixture(params=PROGRAMS)
def screen(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Terminal]:
    """Neovim of each version that is installed, in the window below the chat, in Insert mode."""
    nvim = installed(request.param)
    command = [nvim, "-u", "NONE", "-i", "NONE", "-n", "-S", str(HERE / "neovim/screen.lua")]
    terminal = Terminal([*command, "main.py"], workspace, surroundings(workspace))
    terminal.wait("/52k")
    terminal.type(":Sidecar\r")
    terminal.wait("<C-s> sends")
    yield terminal
    terminal.type("\x1b:qa!\r")
    assert terminal.end() == 0


def test_files_and_commands_are_completed(screen: Terminal, workspace: Path) -> None:
    (workspace / "src/deep").mkdir(parents=True)
    (workspace / "src/deep/some code.py").write_text("")
    (workspace / "notes.log").write_text("")
    (workspace / ".gitignore").write_text("*.log\n")
    screen.type("read @nts")
    assert "notes.log" not in screen.wait("│read @nts\n")
    screen.wait("     notes.txt")
    screen.type("\r\x13")
    screen.wait(f"{SAID} read @notes.txt")
    screen.wait("── 2 requests")
    screen.type("icompare @sdsce")
    screen.wait("src/deep/some code.py")
    screen.type("\x19")
    screen.wait('compare @"src/deep/some code.py"')
    screen.type("\x15/")
    screen.wait("/undo_compaction")
    screen.type("con")
    screen.wait(lambda text: "/undo_compaction" not in text)
    screen.type("\r\x13")
    screen.wait("tool results ")
    screen.type(":close\r:Sidecar\r/contxt\x13")
    screen.wait("there is no command /contxt; /context may be meant")
    assert f"{SAID} /contxt" not in screen.wait("│/contxt")
    screen.wait(":Sidecar! send sends it")
    screen.type("\x15/fork it")
    screen.wait(lambda text: "may be meant" not in text)
    screen.type("\x13")
    screen.wait("/fork takes no words after it")
    screen.type("\x15/etc/hosts is a path\x13")
    screen.wait(f"{SAID} /etc/hosts is a path")
    screen.type(":Sidecar! send /contxt\r")
    screen.wait(f"{SAID} /contxt")
    screen.type(":set completeopt?\r")
    screen.wait("completeopt=menuone,noinsert")
    screen.type("\x17k:set completeopt?\r")
    screen.wait("completeopt=menu,preview")
