"""A real daemon in a temporary folder, spoken to as an editor would."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Bench, Desk, Start
from tests.e2e.plain import PlainClient, Spawn, each_ending_well
from tests.e2e.resident import SHARED, Open, command
from tests.fakes.messages_api import FakeMessagesApi
from tests.faults.forked import spawn
from tests.memory import path_on_disk

__all__ = ["path_on_disk", "spawn"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small folder to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("alpha\nbeta\ngamma\n")
    (folder / "main.py").write_text('def greet(name):\n    return "Hello, " + name\n')
    return folder


@pytest.fixture
def start(tmp_path: Path, spawn: Spawn | None) -> Iterator[Callable[..., PlainClient]]:
    """Start daemons over one store; what a test leaves running must end cleanly."""
    made = partial(PlainClient, tmp_path / "data", spawn=spawn)
    with each_ending_well(made) as begin:
        yield begin


@pytest.fixture
def desk(start: Start, workspace: Path) -> Iterator[Desk]:
    """Give a desk at which a test opens its session."""
    with FakeMessagesApi() as api:
        yield Desk(start, api, workspace)
        assert api.refused == []


@pytest.fixture
def bench(start: Start, workspace: Path) -> Iterator[Bench]:
    """Give a bench with a session that has the tools of ours."""
    with FakeMessagesApi() as api:
        bench = Bench(start, api, workspace)
        bench.open(tools=[], builtinTools=True)
        yield bench
        assert api.refused == []


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    return {
        "XDG_RUNTIME_DIR": str(run), "SIDECAR_DATA_DIR": str(tmp_path / "data"),
        "SIDECAR_LINGER": "60", "SIDECAR_OFFLINE_PACE": "0.02",
    }  # fmt: skip


@pytest.fixture
def window(tmp_path: Path, variables: dict[str, str]) -> Iterator[Open]:
    """Open a window; the shared daemon ends with the test."""
    opened: list[PlainClient] = []

    def open_one(
        env: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
        *,
        begun: bool = True,
        **answers: Any,
    ) -> PlainClient:
        client = PlainClient(
            tmp_path / "data", answers, env={**variables, **(env or {})}, arguments=SHARED
        )
        opened.append(client)
        if begun:
            client.start(**{"model": "offline", **(options or {})})
        return client

    yield open_one
    command(variables, "stop", "--now")
    for client in opened:
        client.kill()
