"""Settings of editors for a wrapped agent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.wrap.editor_settings import EDITORS, name_of, settings_for

COMMAND = ("npx", "-y", "@zed-industries/claude-code-acp", 'a "b"')
ROOT = Path(__file__).parents[2]
ARGUMENTS = ["wrap", "--", *COMMAND]


def test_json_has_the_whole_command() -> None:
    zed = json.loads(settings_for("zed", "/bin/sidecar", COMMAND))["agent_servers"]
    named = zed["claude-code-acp (Sidecar)"]
    assert (named["type"], named["command"], named["args"]) == ("custom", "/bin/sidecar", ARGUMENTS)
    jetbrains = json.loads(settings_for("jetbrains", "/bin/sidecar", COMMAND))
    assert jetbrains["agent_servers"]["claude-code-acp (Sidecar)"]["args"] == ARGUMENTS
    code = json.loads(settings_for("vscode", "/bin/sidecar", COMMAND))
    assert code["acp.agents"]["claude-code-acp (Sidecar)"]["args"] == ARGUMENTS


@pytest.mark.parametrize("editor", ["codecompanion", "avante", "agent-shell"])
def test_others_quote_words(editor: str) -> None:
    text = settings_for(editor, "/bin/sidecar", COMMAND)
    assert r'"a \"b\""' in text
    assert '"wrap"' in text
    assert text.count("(") == text.count(")")
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("editor", EDITORS)
def test_the_page_shows_what_is_printed(editor: str) -> None:
    page = (ROOT / "docs/how-to/wrap.md").read_text(encoding="utf-8")
    assert settings_for(editor, "/path/to/sidecar", ("opencode", "acp")) + "````\n" in page


def test_an_unknown_editor_is_told_the_known() -> None:
    with pytest.raises(BadRequest, match="zed, jetbrains"):
        settings_for("ed", "sidecar", COMMAND)
    assert len(EDITORS) == 6


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("opencode", "acp"), "opencode (Sidecar)"),
        (("/opt/x/gemini", "--acp"), "gemini (Sidecar)"),
        (("npx", "codex-acp@1.2"), "codex-acp (Sidecar)"),
        (("python3", "/a/agent.py"), "agent.py (Sidecar)"),
    ],
)
def test_an_agent_is_called_by_its_program(command: tuple[str, ...], name: str) -> None:
    assert name_of(command) == name


def test_the_command_prints_them() -> None:
    words = [sys.executable, "-m", "sidecar", "wrap", "--print-config", "zed", "--", "cat", "-u"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    (server,) = json.loads(done.stdout)["agent_servers"].values()
    assert os.access(server["command"], os.X_OK), "an editor starts it"
    assert server["args"][:2] == ["wrap", "--"]
    assert server["args"][2].endswith("/cat")
    assert server["args"][3] == "-u"
