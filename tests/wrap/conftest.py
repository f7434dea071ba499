"""Where recorders live in a test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient
from tests.e2e.resident import SHARED
from tests.wrap.homes import end_all, shared_variables


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """In a shared daemon, which ends with the test; gives the variables that say so."""
    variables = shared_variables(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield variables
    end_all(variables)


@pytest.fixture(params=["own", "shared"])
def home(request: pytest.FixtureRequest) -> str:
    """In a process of their own, as where `CI` is set, and in a shared daemon."""
    if request.param == "shared":
        request.getfixturevalue("shared")
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("user\n")
    return made


@pytest.fixture
def variables(tmp_path: Path, shared: dict[str, str]) -> dict[str, str]:
    return {**shared, "SIDECAR_DATA_DIR": str(tmp_path / "data"), "SIDECAR_OFFLINE_PACE": "0.02"}


@pytest.fixture
def window(tmp_path: Path, variables: dict[str, str]) -> Iterator[Callable[[], PlainClient]]:
    clients: list[PlainClient] = []

    def open_one() -> PlainClient:
        clients.append(PlainClient(tmp_path / "data", {}, env=variables, arguments=SHARED))
        clients[-1].start(model="offline")
        return clients[-1]

    yield open_one
    for client in clients:
        client.kill()
