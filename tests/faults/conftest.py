"""A workspace with a daemon that must have ended well; and the table of what was reached."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plain import Spawn
from tests.faults.figures import Figures
from tests.faults.forked import Nursery
from tests.faults.place import Place

FIGURES = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--report`."""
    parser.addoption("--report", action="store_true", help="print what the faults' tests reached")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table."""
    config.stash[FIGURES] = Figures()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table, if it was asked for."""
    if config.getoption("report", default=False):
        terminalreporter.section("what was reached")
        for line in config.stash[FIGURES].lines():
            terminalreporter.write_line(line)


@pytest.fixture
def figures(pytestconfig: pytest.Config) -> Figures:
    """Where a test puts what it reached."""
    return pytestconfig.stash[FIGURES]


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
