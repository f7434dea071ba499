"""A workspace with a daemon that must have ended well."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plain import Spawn
from tests.faults.forked import Nursery
from tests.faults.place import Place
from tests.workspace.restore.site import site

__all__ = ["site"]


@pytest.fixture(scope="session")
def spawn() -> Iterator[Spawn | None]:
    """Start daemons by forking, where the system can; else as editors do."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    nursery = Nursery()
    yield nursery.fork
    nursery.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    if made.client.process.poll() is None:
        assert made.client.stop() == 0, made.client.stderr
    made.client.close()
