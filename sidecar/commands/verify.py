"""`sidecar verify`: reads the whole store, derives every hash again, and says what is wrong."""

import asyncio
import os

from rich.console import Console

from sidecar.config import load
from sidecar.core.errors import StorageFailed
from sidecar.daemon import open_store
from sidecar.store.values import VerifyReport


def check() -> int:
    """Print what was looked at and every problem; the exit code is 1 if there is one."""
    console = Console(highlight=False)
    try:
        with console.status("reading the store"):
            report = asyncio.run(_report())
    except StorageFailed as error:
        console.print(f"[red]{error.message}[/]")
        return 1
    console.print(
        f"{report.sessions} sessions, {report.messages} messages, {report.parts} parts, "
        f"{report.records} records, {report.blobs} blobs"
    )
    for problem in report.problems:
        console.print(f"[red]✗[/] {problem}")
    if not report.problems:
        console.print("[green]✓[/] every hash is as it was written, and nothing is missing")
    return 1 if report.problems else 0


async def _report() -> VerifyReport:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = await asyncio.to_thread(open_store, config.data_dir)
    report = await store.verify()
    await store.close()
    return report
