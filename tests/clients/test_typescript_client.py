"""The TypeScript client's own tests, against the golden messages and this daemon."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients/typescript"
LIMIT = 300


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.skipif(
    not (CLIENT / "node_modules").is_dir(),
    reason="its packages are not installed: run npm ci in clients/typescript",
)
def test_its_own_tests_pass() -> None:
    daemon = json.dumps([sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone"])
    ran = subprocess.run(
        ["npm", "test"],
        cwd=CLIENT,
        env={**os.environ, "SIDECAR_COMMAND": daemon, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "the page of usage runs as it stands" in ran.stdout
