"""What holds for all tests: which of them run, and the table of what was reached."""

import signal
from typing import Any

import pytest

from tests.figures import Figures

FIGURES = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--report`."""
    parser.addoption("--report", action="store_true", help="print what the tests reached")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Have `pytest` alone leave out the long tests, and use every core.

    Who names files, marks or processes gets what they name.
    """
    option, all_of_it = config.option, config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if hasattr(config, "workerinput") or not all_of_it:
        return
    option.markexpr = option.markexpr or "not long"
    if option.numprocesses is None and not option.usepdb:
        option.numprocesses = "auto"
    if option.numprocesses and option.dist == "no":
        option.dist = "loadfile"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell another process what is left out: from here it gets arguments, and no options."""
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table, and let processes that tests start be interrupted.

    A shell that starts this in the background has it ignore SIGINT, and children inherit that.
    """
    config.stash[FIGURES] = Figures()
    given = getattr(config, "workerinput", {})
    config.option.markexpr = given.get("markexpr", config.option.markexpr)
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
