"""What people ask first of a program."""

import subprocess
import sys

import pytest

from sidecar import __version__


def test_it_says_its_version() -> None:
    command = [sys.executable, "-m", "sidecar", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"sidecar {__version__}\n"


WINDOWS = """
import asyncio, subprocess, sys  # as they are here; what follows is taken for Windows
sys.platform = "win32"
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
sys.argv[0] = "sidecar"
from sidecar.cli import main
main()
"""


@pytest.mark.parametrize("words", ["serve --stdio", "--stdio", "demo", "status", "doctor", "", "x"])
def test_on_windows_one_sentence_says_where_it_runs(words: str) -> None:
    command = [sys.executable, "-c", WINDOWS, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sidecar: runs on Linux and macOS; on Windows, install and run it in WSL\n"
    )


def test_on_windows_it_says_its_version() -> None:
    command = [sys.executable, "-c", WINDOWS, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"sidecar {__version__}\n"
