"""Real Emacs: its plugin compiles, and a user's day is played in it, without a screen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PLUGIN = ROOT / "editors/emacs"
FILES = sorted(path.name for path in PLUGIN.glob("*.el"))
EMACS = shutil.which("emacs") or ""
LIMIT = 240.0
OPTIONS = '(:model "offline" :workspaceTrusted t :permissions (:allow ["edit"]))'

pytestmark = pytest.mark.skipif(not EMACS, reason="there is no emacs on PATH")


def emacs(folder: Path, *arguments: str, limit: float = LIMIT) -> subprocess.CompletedProcess[str]:
    """Run Emacs without a screen and without anybody's settings."""
    return subprocess.run(
        [EMACS, "-Q", "--batch", "-L", str(PLUGIN), *arguments],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")},
            "HOME": str(folder.parent),
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "SIDECAR_DATA_DIR": str(folder.parent / "data"),
            "SIDECAR_OFFLINE_PACE": "0.005",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def play(folder: Path, name: str) -> str:
    """Play a part of the scenario; gives the session that it ended with."""
    command = f'("{sys.executable}" "-m" "sidecar" "serve" "--stdio")'
    played = emacs(
        folder,
        "-l",
        str(Path(__file__).parent / "emacs_scenario.el"),
        "--eval",
        f"(setq sidecar-command '{command} sidecar-options '{OPTIONS} sidecar-api-key nil)",
        "--funcall",
        name,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    return played.stdout.splitlines()[-1]


def test_a_day_with_the_plugin(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("alpha\nbeta\ngamma\n")
    (workspace / "main.py").write_text('def greet(name):\n    return "Hello, " + name\n')
    (workspace / "long.txt").write_text("a line of many words, all of them alike\n" * 900)
    session = play(workspace, "scenario-first")
    assert session.startswith("session ses_")
    assert play(workspace, "scenario-second") == session


@pytest.mark.parametrize("name", FILES)
def test_it_compiles_without_warnings(tmp_path: Path, name: str) -> None:
    for file in FILES:
        shutil.copy(PLUGIN / file, tmp_path)
    strict = "(setq byte-compile-error-on-warn t)"
    made = emacs(tmp_path, "-L", ".", "--eval", strict, "-f", "batch-byte-compile", name)
    assert (made.returncode, made.stderr) == (0, "")


@pytest.mark.parametrize("name", FILES)
def test_it_is_documented_as_emacs_wants_it(tmp_path: Path, name: str) -> None:
    check = f'(progn (require \'checkdoc) (checkdoc-file "{PLUGIN / name}"))'
    assert emacs(tmp_path, "--eval", check).stderr == ""


def test_the_key_comes_from_auth_source_or_a_function(tmp_path: Path) -> None:
    (tmp_path / "authinfo").write_text("machine api.anthropic.com login apikey password sk-kept\n")
    found = emacs(
        tmp_path,
        "-l",
        "sidecar",
        "--eval",
        '(let ((auth-sources (list "authinfo")) (desk (sidecar-desk--make :root "/x")))'
        '  (dolist (sidecar-api-key (list \'auth-source nil (lambda () "sk-called")))'
        '    (princ (format "%S\\n" (plist-get (plist-get (sidecar--introduction desk)'
        "           :initializationOptions) :provider)))))",
    )
    assert found.stdout == '(:apiKey "sk-kept")\nnil\n(:apiKey "sk-called")\n', found.stderr


def test_the_plugin_is_small() -> None:
    lines = {name: (PLUGIN / name).read_text("utf-8").count("\n") for name in FILES}
    assert max(lines.values()) <= 400
    assert sum(lines.values()) - lines["sidecar-chat.el"] <= 1_000
