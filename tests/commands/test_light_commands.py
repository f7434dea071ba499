"""What a command imports is what it needs: seconds of each use go into imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVING = {
    "pygls", "lsprotocol.types", "sidecar.wire.server", "sidecar.daemon.windows", "anthropic",
}  # fmt: skip
SESSIONS = {"sidecar.session.lifecycle.session", "sidecar.session.turn.turn"}
ARGUMENTS = {"pydantic"}
"""Typer loads it from 0.29 on."""
PLANNING = {"sidecar.core.policies", "sidecar.core.ledger.facts", "sidecar.core.plans.plan"}


def imported(folder: Path, *command: str) -> set[str]:
    """Give the names of all modules that a command imported until its end."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-P", "-m", "sidecar", *command],
        env={**os.environ, "SIDECAR_DATA_DIR": str(folder), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = done.stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (("sessions",), SERVING | SESSIONS | PLANNING),
        (("config", "show"), SERVING | SESSIONS | PLANNING | {"sidecar.store.journal"}),
        (("doctor",), SERVING | SESSIONS | PLANNING | {"sidecar.session.environment"}),
        (("checkpoints",), SERVING | SESSIONS | PLANNING),
        (("inspect",), SERVING | {"sidecar.session.lifecycle.session", "pathspec"}),
        (("report",), SERVING | {"sidecar.session.lifecycle.session", "pathspec"}),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_a_command_imports_what_it_needs(
    tmp_path: Path, command: tuple[str, ...], unneeded: set[str]
) -> None:
    found = imported(tmp_path, *command)
    assert "sidecar.config" in found or command[0] == "checkpoints"
    assert found & (unneeded | ARGUMENTS) == set()
