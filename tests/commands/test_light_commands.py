"""What a command imports is what it needs: seconds of each use go into imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient, say
from tests.replay.neutral_files import line, text, write

SERVING = {
    "pygls", "lsprotocol.types", "sidecar.wire.server", "sidecar.daemon.windows", "anthropic",
}  # fmt: skip
SESSIONS = {"sidecar.session.lifecycle.session", "sidecar.session.turn.turn"}
ARGUMENTS = {"pydantic"}
"""Typer loads it from 0.29 on."""
OPEN = SESSIONS | {
    "sidecar.session.environment", "sidecar.session.lifecycle.assembly", "sidecar.tools.runner",
    "sidecar.tools.rules.permission", "sidecar.workspace.workspaces",
}  # fmt: skip
"""What only who opens a session needs."""
PLANNING = {"sidecar.core.policies", "sidecar.core.ledger.facts", "sidecar.core.plans.plan"}
PLANNED = {
    "sidecar.core.plans.rebuild", "sidecar.core.plans.draft", "sidecar.core.ledger.units",
    "sidecar.core.policies.evict", "sidecar.core.summaries.model_summary",
}  # fmt: skip
"""What makes a plan, which who only measures a session does not."""
WRITING = {
    "sidecar.store.content.changes", "sidecar.store.content.snapshot_rows",
    "sidecar.store.content.fact_rows", "sidecar.store.retention.sweeper",
    "sidecar.store.repair.verification",
}  # fmt: skip
PROMPTS = {"sidecar.core.prompt.render", "sidecar.core.prompt.prompt"}
ANSWERS = {"sidecar.core.conversation.stream"}
"""What a model answers, which nobody asks who only looks."""
TALKING = {"sidecar.session.log.events", "sidecar.session.interface", "sidecar.core.ledger.ledger"}


SESSION = "SESSION"
"""Stands for the id of a stored session."""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "SIDECAR_DATA_DIR": str(folder / "data"), "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Give a folder with a data folder, and the id of the session in that."""
    folder = tmp_path_factory.mktemp("light")
    said = [line("user", 1_000, text("Hi you")), line("assistant", 2_000, text("Hi"))]
    path = write(folder / "theirs.jsonl", said)
    told = run(folder, "-P", "-m", "sidecar", "import", str(path), "--format", "neutral").stdout
    return folder, told.split()[0]


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (("sessions",), SERVING | SESSIONS | PLANNING | WRITING | PROMPTS),
        (("config", "show"), SERVING | SESSIONS | PLANNING | PROMPTS | {"sidecar.store.journal"}),
        (("doctor",), SERVING | SESSIONS | PLANNING | {"sidecar.session.environment"}),
        (("checkpoints", SESSION), SERVING | OPEN | PLANNING | WRITING | TALKING | ANSWERS),
        (("inspect", SESSION), SERVING | OPEN | WRITING | PLANNED | ANSWERS),
        (("report", SESSION), SERVING | OPEN | PLANNED | ANSWERS),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_a_command_imports_what_it_needs(
    stored: tuple[Path, str], command: tuple[str, ...], unneeded: set[str]
) -> None:
    folder, session = stored
    given = (session if one == SESSION else one for one in command)
    told = run(folder, "-X", "importtime", "-P", "-m", "sidecar", *given).stderr
    told_of = (one for one in told.splitlines() if one.startswith("import time:"))
    found = {one.rpartition("|")[2].strip() for one in told_of}
    assert "sidecar.config" in found
    assert found & (unneeded | ARGUMENTS) == set()


def test_who_looks_at_what_a_daemon_counted_loads_no_tokenizer(tmp_path: Path) -> None:
    client = PlainClient(tmp_path / "data")
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(tmp_path)})["sessionId"]
    say(client, session, "Hi you")
    assert client.stop() == 0
    told = run(tmp_path, "-X", "importtime", "-P", "-m", "sidecar", "inspect", session)
    assert "Hi you" in told.stdout
    assert "tiktoken" not in told.stderr
