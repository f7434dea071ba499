"""Real Helix on a terminal, as any editor without a plugin: commands, code actions, messages."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.editors.installed import EDITORS, ROOT
from tests.editors.terminal import Terminal

UNPACKED = EDITORS / "helix/hx"
HELIX = str(UNPACKED) if UNPACKED.exists() else shutil.which("hx") or ""
SHOW = "[editor.lsp]\ndisplay-messages = true\ndisplay-progress-messages = true\n"
DAEMON = """
[language-server.sidecar]
command = "{python}"
args = ["-m", "sidecar", "serve", "--stdio"]
environment = {{ PYTHONPATH = "{root}", SIDECAR_DATA_DIR = "{data}" }}
config = {{ model = "offline", workspaceTrusted = true, permissions = {{ allow = ["edit"] }} }}

[[language]]
name = "python"
language-servers = ["sidecar"]
"""

pytestmark = pytest.mark.skipif(
    not HELIX, reason="there is no Helix: run tests/editors/install_helix.sh, or put hx on PATH"
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder that Helix takes for a workspace, and settings beside it."""
    settings = tmp_path / "config/helix"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text(SHOW)
    about = DAEMON.format(python=sys.executable, root=ROOT, data=tmp_path / "data")
    (settings / "languages.toml").write_text(about)
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "main.py").write_text("replace `alpha` with `ALPHA` in notes.txt\nread long.txt\n")
    (work / "notes.txt").write_text("alpha\nbeta\n")
    (work / "long.txt").write_text("a line of many words, all of them alike\n" * 900)
    return work


@pytest.fixture
def helix(work: Path) -> Iterator[Terminal]:
    """Helix with a file open."""
    terminal = Terminal(
        [HELIX, "main.py"],
        work,
        {
            **{k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")},
            "HOME": str(work.parent),
            "XDG_CONFIG_HOME": str(work.parent / "config"),
            "XDG_CACHE_HOME": str(work.parent / "cache"),
        },
    )
    terminal.wait("NOR")
    yield terminal
    with suppress(ProcessLookupError):
        os.kill(terminal.pid, signal.SIGKILL)


def give(helix: Terminal, command: str, told: str) -> str:
    """Give a command of the server's, and wait for what is told on the last line."""
    helix.type(f":lsp-workspace-command sidecar.{command}")
    helix.wait(f":lsp-workspace-command sidecar.{command}")
    helix.type("\r")
    return helix.wait(lambda screen: told in screen and ":lsp-" not in screen).splitlines()[-1]


def act(helix: Terminal, action: str, told: str, *, line: int = 1) -> str:
    """Select a line, choose a code action by its words, and wait for what is told.

    Nothing is typed into the file: Helix 25.01 sends changes that come fast in any order.
    """
    helix.type(f"{line}ggx a")
    helix.wait(action)
    helix.type("\r" if action.endswith("this") else "\x0e\r")
    return helix.wait(lambda screen: told in screen and "Sidecar: send" not in screen)


def test_a_session_without_a_plugin(helix: Terminal, work: Path) -> None:
    # The daemon starts while Helix shows the file already; until then, it knows no commands.
    helix.wait(lambda _: (work.parent / "data").exists())
    first = give(helix, "context", "% · ")
    assert "/192k" in first
    act(helix, "Sidecar: send this", "edit_file: Changed")
    assert (work / "notes.txt").read_text() == "ALPHA\nbeta\n"
    (work / "notes.txt").write_text("ALPHA\nbeta\nmine\n")
    act(helix, "Sidecar: take back the newest turn", "Went back")
    assert (work / "notes.txt").read_text() == "alpha\nbeta\nmine\n"
    give(helix, "redo", "Went forth again")
    assert (work / "notes.txt").read_text() == "ALPHA\nbeta\nmine\n"
    for _ in range(3):
        act(helix, "Sidecar: send this", "said: - read_file", line=2)
        full = give(helix, "context", "Cache ")
    compacted = give(helix, "compact", "Compacted")
    assert _percent(compacted) < _percent(full)
    give(helix, "undoCompaction", "taken back")
    give(helix, "rollback", "cannot ask")
    helix.type(":q!\r")
    assert helix.end() == 0


def _percent(line: str) -> int:
    return int(line.partition("%")[0].split()[-1].lstrip("~"))
