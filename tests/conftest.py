"""What holds for all tests: which run, that none leaves the machine, what they reached."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from tests.examples import begin
from tests.figures import Figures

FIGURES = pytest.StashKey[Figures]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--report`."""
    parser.addoption("--report", action="store_true", help="print what the tests reached")


SOUGHT: list[str] = []
"""Where this process has tried to go beyond the machine."""


def stay_here(event: str, given: tuple[Any, ...]) -> None:
    """Refuse what would leave the machine, and keep it: code may take a failure as one of many."""
    if event == "socket.connect" and isinstance(given[1], tuple):
        host = given[1][0]
    elif event == "socket.getaddrinfo":
        host = given[0]
    else:
        return
    if not is_here(host):
        SOUGHT.append(str(host))
        raise PermissionError(f"a test may not reach {host}")


def is_here(host: object) -> bool:
    """Whether a host is this machine, by its address or its usual name."""
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def nothing_sought() -> Iterator[None]:
    """No test reaches a real model or the internet."""
    SOUGHT.clear()
    yield
    assert SOUGHT == []


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Have `pytest` alone leave out the long tests, and use every core.

    Who names files, marks or processes gets what they name. Modules are compiled once: tests start
    thousands of processes.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    option, all_of_it = config.option, config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if hasattr(config, "workerinput") or not all_of_it:
        return
    option.markexpr = option.markexpr or "not long"
    if option.numprocesses is None and not option.usepdb:
        option.numprocesses = "auto"
    if option.numprocesses and option.dist == "no":
        option.dist = "loadfile"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among modules and tests that stay: half the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell another process what is left out: from here it gets arguments, and no options."""
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    """Begin with an empty table, and let processes that tests start be interrupted.

    None of them gets a key that the environment may have: without one no model answers.
    Nor does one share a daemon with the user's windows, or leave one behind, unless a test says so:
    where CI is set each window has its own.
    A shell that starts this in the background has it ignore SIGINT, and children inherit that.
    """
    config.stash[FIGURES] = Figures()
    sys.addaudithook(stay_here)
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        del os.environ[name]
    os.environ["CI"] = "true"
    given = getattr(config, "workerinput", {})
    config.option.markexpr = given.get("markexpr", config.option.markexpr)
    begin(short=config.option.markexpr == "not long")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have the long run try all examples of what the short run tries with few."""
    for item in items if config.option.markexpr == "long" else ():
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("long")


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
