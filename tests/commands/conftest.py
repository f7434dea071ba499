"""A real daemon beside the commands that look at what it stores."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk
from tests.e2e.plain import PlainClient, Spawn, each_ending_well
from tests.fakes.messages_api import FakeMessagesApi
from tests.faults.forked import spawn
from tests.memory import path_on_disk

__all__ = ["path_on_disk", "spawn"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give the data folder of the daemon and of the command."""
    return tmp_path / "data"


@pytest.fixture
def desk(tmp_path: Path, data: Path, spawn: Spawn | None) -> Iterator[Desk]:
    workspace = tmp_path / "work"
    workspace.mkdir()

    def make(**given: Any) -> PlainClient:
        return PlainClient(data, **{"spawn": spawn, **given})

    with each_ending_well(make) as start, FakeMessagesApi() as api:
        yield Desk(start, api, workspace)
