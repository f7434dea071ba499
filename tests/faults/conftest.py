"""A workspace with a daemon that must have ended well."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plain import Spawn
from tests.faults.forked import spawn
from tests.faults.place import Place
from tests.workspace.restore.site import site

__all__ = ["site", "spawn"]


@pytest.fixture
def place(tmp_path: Path, spawn: Spawn | None) -> Iterator[Place]:
    made = Place(tmp_path, spawn)
    yield made
    if made.client.process.poll() is None:
        assert made.client.stop() == 0, made.client.stderr
    made.client.close()
