"""A real daemon in a temporary folder, spoken to as an editor would."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small folder to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("alpha\nbeta\ngamma\n")
    (folder / "main.py").write_text('def greet(name):\n    return "Hello, " + name\n')
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., PlainClient]]:
    """Start daemons over one store; what a test leaves running must end cleanly."""
    started: list[PlainClient] = []

    def begin(**given: Any) -> PlainClient:
        client = PlainClient(tmp_path / "data", **given)
        started.append(client)
        return client

    yield begin
    for client in started:
        if client.process.poll() is None:
            assert client.stop() == 0, client.stderr
        client.close()
        assert not client.unexpected
