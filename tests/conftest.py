"""What holds for all tests; and the table of what was reached."""

import signal

import pytest

from tests.figures import Figures

FIGURES = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--report`."""
    parser.addoption("--report", action="store_true", help="print what the tests reached")


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table, and let processes that tests start be interrupted.

    A shell that starts this in the background has it ignore SIGINT, and children inherit that.
    """
    config.stash[FIGURES] = Figures()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table, if it was asked for; a test that gave no figure because it failed is in it.

    So no row can be missed for being absent.
    """
    if not config.getoption("report", default=False):
        return
    terminalreporter.section("what was reached")
    for line in config.stash[FIGURES].lines():
        terminalreporter.write_line(line)
    for how in ("failed", "error", "skipped"):
        for one in terminalreporter.stats.get(how, []):
            terminalreporter.write_line(f"{how}: {one.nodeid}")


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Figures:
    """Where a test puts what it reached."""
    return pytestconfig.stash[FIGURES]
