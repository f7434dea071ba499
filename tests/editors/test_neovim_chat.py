"""Real Neovim, old and new, on a screen: what is typed below the chat, and done in it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.terminal import Terminal
from tests.editors.test_neovim import PROGRAMS, go_to_the_chat, installed, on_a_screen
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
    with on_a_screen(installed(request.param), workspace) as terminal:
        go_to_the_chat(terminal)
        yield terminal
        terminal.type("\x1b")


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


def test_a_message_is_changed_and_sent_anew_and_answers_are_copied(screen: Terminal) -> None:
    screen.type("read notes.txt\x13")
    screen.wait("── 2 requests")
    screen.type("ilist files\x13")
    screen.wait(lambda text: text.count("── 2 requests") == 2)
    screen.type("\x17k?read notes\rc")
    screen.wait("2: files and conversation")
    screen.type("1\r")
    screen.wait("1: Go back now: no files")
    screen.type("1\r")
    screen.wait(lambda text: "── gone back" in text and "│read notes.txt" in text)
    assert f"{SAID} list files" not in screen.text()
    screen.type("A then list files\x13")
    screen.wait(f"{SAID} read notes.txt then list files")
    screen.wait("── 3 requests")
    screen.type("\x17k?What the tools\rY")
    screen.wait("copied the answer")
    screen.type('i\x12"')
    screen.wait(lambda text: "│- list_files: long.txt" in text.rpartition("3 requests")[2])


def test_code_of_an_answer_is_copied(screen: Terminal, workspace: Path) -> None:
    (workspace / "code.md").write_text("```\n")
    screen.type("read code.md\x13")
    screen.wait("── 2 requests")
    screen.type(
        "\x1b:lua require('sidecar.chat').update({sessionId=require('sidecar.session').id, update="
        "{sessionUpdate='agent_message_chunk', content={type='text', text="
        "'So:\\n```py\\none = 1\\n```\\nthat'}}})\r"
    )
    # The command line has these words, too.
    screen.wait("│one = 1")
    screen.type("\x17k?one = 1\rY")
    screen.wait("copied the code")
    screen.type(":echo 'it is ' .. strtrans(@@)\r")
    screen.wait("it is one = 1^@")


def test_failed_commands_are_open_at_their_end(screen: Terminal) -> None:
    screen.type("run `seq 400 459; exit 3`\x13")
    screen.wait("4: Always reject")
    screen.type("1\r")
    shown = screen.wait("── 2 requests")
    assert "✗ Run seq 400 459; exit 3  exit code 3  ⋯" in shown
    assert "│    459" in shown
    assert "│    430" not in shown
    screen.type("\x17k?Run seq\r")
    screen.wait("│    401")


def test_one_file_of_a_turn_is_taken_back(screen: Terminal, workspace: Path) -> None:
    screen.type(
        "replace `alpha` with `ALPHA` in notes.txt then replace `Hello` with `Hi` in main.py"
    )
    screen.type("\x13")
    for _ in range(2):
        screen.wait("1: Allow once")
        screen.type("1\r")
        screen.wait(lambda text: "1: Allow once" not in text)
    screen.wait("── 3 requests")
    screen.type(":Sidecar rollback\r")
    screen.wait("go back to")
    screen.type("1\r")
    screen.wait("4: one file")
    screen.type("4\r")
    asked = screen.wait("which file goes back")
    screen.type("2\r" if "2: notes.txt" in asked else "1\r")
    screen.wait("1: Go back now: 1 restored")
    screen.type("1\r")
    screen.wait("gone back: 1 restored")
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"
    assert "Hi, " in (workspace / "main.py").read_text()


def test_what_the_model_no_longer_sees_is_marked_and_recalled(screen: Terminal) -> None:
    screen.type("read long.txt\x13")
    screen.wait("── 2 requests")
    screen.type("iread long.txt\x13")
    screen.wait(lambda text: text.count("── 2 requests") == 2)
    assert "left out" not in screen.text()
    screen.type(":Sidecar! compact\r")
    screen.wait("── context ")
    screen.type("\x17kgg")
    marked = screen.wait("Done. What the tools said:   left out: ")
    assert re.search(r"✓ Read long.txt  ⋯ \d+  left out: \d+ to \d+", marked)
    screen.type("/Read long\rR")
    screen.wait("message + Read long.txt")
    screen.type("R")
    screen.wait("Read long.txt goes along no more")
    screen.type("R")
    screen.wait("message + Read long.txt")
    screen.type("iwho said it?\x13\x17kG")
    shown = screen.wait(f"{SAID} + Read long.txt")
    assert "message + Read" not in shown
    screen.wait(lambda text: "── 2 requests" in text.partition("+ Read long.txt")[2])
    screen.type(":Sidecar undo_compaction\r")
    screen.wait("taken back")
    screen.type("gg")
    screen.wait(lambda text: "∴ My rules" in text and "left out" not in text)
