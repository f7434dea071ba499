"""`sidecar verify`."""

import asyncio
import os

from rich.console import Console
from rich.text import Text

from sidecar.commands.terminal import shown, terminal
from sidecar.config import load
from sidecar.core.errors import StorageFailed
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.daemon.stores import open_store
from sidecar.session.transfer.revival import reviving
from sidecar.store.format.values import VerifyReport
from sidecar.store.repair.rebuilt_store import repair

REPAIR = "`sidecar verify --repair` saves what is readable and keeps the damaged file aside."


def check(*, mend: bool = False) -> int:
    """Verifies the store; returns 1 for any problem.

    `mend` puts a damaged store aside and prints losses; then 1 only if that failed.
    """
    console = terminal()
    try:
        with console.status("reading the store"):
            report = asyncio.run(_report())
    except StorageFailed as error:
        _wrong(console, error.message)
        return _mend(console) if mend and error.kind == "corrupt" else 1
    _counts(console, report)
    for problem in report.problems:
        _wrong(console, problem)
    if not report.problems:
        _well(console, "every hash is as it was written, and nothing is missing")
        return 0
    if mend:
        return _mend(console)
    console.print(Text(REPAIR))
    return 1


def _mend(console: Console) -> int:
    config, _ = load(workspace=None, environment=os.environ, options={})
    try:
        with console.status("saving what is readable"):
            done = repair(config.data_dir, read_clock(), reviving(config))
    except StorageFailed as error:
        _wrong(console, error.message)
        return 1
    console.print(shown(f"The damaged store was put aside, unchanged: {done.aside}"))
    console.print("Delete that folder once you are sure that you need nothing more of it.")
    console.print("What could be read is in a new store:")
    _counts(console, done.kept)
    for line in done.lost:
        console.print(Text.assemble(("! ", "yellow"), shown(line)))
    if not done.lost:
        _well(console, "nothing is lost")
    return 0


def _counts(console: Console, report: VerifyReport) -> None:
    console.print(
        f"{report.sessions} sessions, {report.messages} messages, {report.parts} parts, "
        f"{report.records} records, {report.blobs} blobs"
    )


def _wrong(console: Console, text: str) -> None:
    console.print(Text.assemble(("✗ ", "red"), shown(text)))


def _well(console: Console, text: str) -> None:
    console.print(Text.assemble(("✓ ", "green"), text))


async def _report() -> VerifyReport:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = await asyncio.to_thread(open_store, config.data_dir)
    report = await store.verify()
    await store.close()
    return report
