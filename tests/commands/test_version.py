"""What people ask first of a program."""

import subprocess
import sys

from sidecar import __version__


def test_it_says_its_version() -> None:
    command = [sys.executable, "-m", "sidecar", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"sidecar {__version__}\n"
