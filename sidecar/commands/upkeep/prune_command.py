"""`sidecar prune`."""

import asyncio
import os
import secrets
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from rich import filesize
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from sidecar.commands.terminal import INTERRUPTED, refused, say_each, shown, terminal
from sidecar.config import Config, load
from sidecar.config.retention import Retention
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.core.parts import JsonObject, Millis
from sidecar.core.text.visible import many, visible_json
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.daemon.stores import open_store
from sidecar.session.transfer.archive import Ground, settle
from sidecar.session.transfer.erasure import erase
from sidecar.session.transfer.sweep import SweepProgress, SweptSessions, carry_out, quiet, shrink
from sidecar.store.connection.free_pages import Space
from sidecar.store.connection.lease import this_process
from sidecar.store.journal import Store
from sidecar.store.retention.retention_due import RetentionPlan

STOPPED = "Stopped. What was done until here stands, and nothing is half done."
BUSY = "Another process sweeps the store right now. Try again in a minute."
CANNOT_SHRINK = (
    "This store was made by an earlier Sidecar, and its file cannot be made smaller in slices: "
    "`sidecar prune --rebuild` rewrites it once, while no window can write."
)
WORDS = {"outputs": "outputs", "sessions": "sessions to archive", "space": "giving space back"}


@dataclass(frozen=True, slots=True)
class PruneChoices:
    """Options of a prune; each given rule replaces the configured one."""

    dry_run: bool = False
    as_json: bool = False
    rebuild: bool = False
    outputs_days: int | None = None
    outputs_mib: int | None = None
    archive_days: int | None = None
    sessions_mib: int | None = None

    def rules(self, configured: Retention) -> Retention:
        given = {
            "outputs_days": self.outputs_days,
            "outputs_mib": self.outputs_mib,
            "archive_days": self.archive_days,
            "sessions_mib": self.sessions_mib,
        }
        return replace(configured, **{k: v for k, v in given.items() if v is not None})


def prune(how: PruneChoices) -> int:
    console = terminal()
    config, _ = load(workspace=None, environment=os.environ, options={})
    try:
        asyncio.run(_prune(console, config, how))
    except SidecarError as error:
        return refused(console, error.message)
    except KeyboardInterrupt:
        console.print(STOPPED)
        return INTERRUPTED
    return 0


async def _prune(console: Console, config: Config, how: PruneChoices) -> None:
    store = await asyncio.to_thread(open_store, config.data_dir)
    try:
        if how.dry_run:
            plan = await store.keeping.plan(how.rules(config.retention))
            _show_plan(console, plan, await store.pages.space(), how)
        else:
            await _really(console, store, config, how)
    finally:
        await store.close()


async def _really(console: Console, store: Store, config: Config, how: PruneChoices) -> None:
    owner = this_process(f"prune-{secrets.token_hex(8)}")
    ground = Ground(store, read_clock, owner)
    if not await store.keeping.claim(owner, every=0):
        raise StorageFailed(BUSY, kind="io")
    try:
        await settle(ground)
        await erase(ground)
        plan = await store.keeping.plan(how.rules(config.retention))
        if plan.noticed and not how.as_json:
            console.print(plan.noticed, soft_wrap=True)
        before = await store.pages.space()
        with _bars(console, shown=not how.as_json) as progress:
            tell = _teller(progress, shown=not how.as_json)
            done = await carry_out(ground, plan, tell)
            if how.rebuild:
                await store.pages.rebuild()
            after = await shrink(ground, tell)
    finally:
        await store.keeping.swept(owner.token, whole=False)
    _show_done(console, done, (before, after), plan.noticed, how)


def _bars(console: Console, *, shown: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f}%"))
    return Progress(*columns, console=console, transient=True, disable=not shown)


def _teller(progress: Progress, *, shown: bool) -> SweepProgress:
    if not shown:
        return quiet
    tasks: dict[str, TaskID] = {}

    def tell(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = progress.add_task(WORDS[what], total=total)
        progress.update(tasks[what], completed=done)

    return tell


def _show_plan(console: Console, plan: RetentionPlan, space: Space, how: PruneChoices) -> None:
    if how.as_json:
        told: JsonObject = {
            "dryRun": True,
            "outputs": len(plan.outputs),
            "sessions": [one.id for one in plan.sessions],
            "bytes": plan.size,
            "fileBytes": space.size,
            "freeBytes": space.free,
            "noticed": plan.noticed,
        }
        print(visible_json(told, indent=2))
        return
    if plan.noticed:
        console.print(plan.noticed, soft_wrap=True)
    if plan.outputs or plan.sessions:
        console.print(_table(plan))
    console.print(
        f"Would go: {many(len(plan.outputs), 'output')} and "
        f"{many(len(plan.sessions), 'session')} (into bundles), {filesize.decimal(plan.size)}. "
        f"The file has {filesize.decimal(space.size)}, of which {filesize.decimal(space.free)} "
        "are free already.",
        soft_wrap=True,
    )
    if not space.shrinks:
        console.print(CANNOT_SHRINK, soft_wrap=True)


def _table(plan: RetentionPlan) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("what goes", "session", "since", "why", "frees"):
        table.add_column(heading, justify="right" if heading == "frees" else "left")
    counts = Counter((one.session_id, one.why, one.bound) for one in plan.outputs)
    oldest: dict[tuple[str, str, int], Millis] = {}
    for one in plan.outputs:
        oldest.setdefault((one.session_id, one.why, one.bound), one.at)
    for (session_id, why, bound), count in counts.items():
        reason = f"over {bound} days old" if why == "age" else f"over {bound} MiB in all"
        since = _day(oldest[session_id, why, bound])
        table.add_row(many(count, "output"), shown(session_id), since, reason, "")
    if plan.outputs:
        table.add_row("", "", "", "outputs together", filesize.decimal(plan.outputs_size))
    for session in plan.sessions:
        reason = f"subtask of {session.parent}" if session.parent else "to be archived"
        size, since = filesize.decimal(session.size), _day(session.updated)
        title = shown(session.title or "(untitled)")
        table.add_row(title, shown(session.id), since, reason, size)
    return table


def _show_done(
    console: Console,
    done: SweptSessions,
    spaces: tuple[Space, Space],
    noticed: str,
    how: PruneChoices,
) -> None:
    before, after = spaces
    if how.as_json:
        told: JsonObject = {
            "dryRun": False,
            "outputs": done.outputs.count,
            "sessions": [one.session_id for one in done.sessions],
            "bundles": [str(one.path) for one in done.sessions],
            "skipped": list(done.skipped),
            "bytes": done.size,
            "fileBytes": after.size,
            "freeBytes": after.free,
            "noticed": noticed,
        }
        print(visible_json(told, indent=2))
        return
    console.print(
        f"Gone: {many(done.outputs.count, 'output')} and "
        f"{many(len(done.sessions), 'session')} (into bundles), {filesize.decimal(done.size)}. "
        f"The file had {filesize.decimal(before.size)} and has {filesize.decimal(after.size)}.",
        soft_wrap=True,
    )
    say_each(console, (f"{one.session_id}  {one.path}" for one in done.sessions))
    say_each(console, done.skipped)
    if not after.shrinks:
        console.print(CANNOT_SHRINK, soft_wrap=True)


def _day(at: Millis) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y-%m-%d}"
