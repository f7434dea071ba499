"""Where recorders live in a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
