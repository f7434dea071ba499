"""`sidecar archive` and `sidecar delete`: sessions that leave the store, whole or for good."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich import filesize
from rich.console import Console
from rich.prompt import Confirm
from rich.table import Table
from rich.text import Text
from sidecar_client import Client, SidecarError

from sidecar.commands.checkpoint_tables import visible
from sidecar.commands.own_daemon import own_daemon
from sidecar.config import load
from sidecar.core.parts import Json
from sidecar.session.archiving import bundles_of


def archive(sessions: Sequence[str], *, as_json: bool) -> int:
    """Put sessions away, or list those that were; gives the exit code."""
    console = Console(highlight=False)
    if not sessions:
        return _list(console, as_json=as_json)
    failed: list[str] = []
    done: list[dict[str, Json]] = []

    async def work(client: Client) -> None:
        for session in sessions:
            try:
                result = await client.archive_session(session)
            except SidecarError as error:
                failed.append(f"{session}: {error.message}")
                continue
            done.extend(
                {"sessionId": o.session_id, "path": o.path, "size": o.size, "freed": o.freed}
                for o in result.sessions
            )

    code = _run(console, work)
    if as_json:
        console.print_json(json.dumps({"sessions": done, "failed": failed}))
    else:
        for one in done:
            told = f"{filesize.decimal(int(str(one['freed'])))} → {one['path']}"
            console.print(Text(visible(f"{one['sessionId']}  {told}")), soft_wrap=True)
        if done:
            console.print("`sidecar import PATH` brings one back as it was.")
        for sentence in failed:
            console.print(Text(visible(sentence), style="red"), soft_wrap=True)
    return code or int(bool(failed))


def delete(sessions: Sequence[str], *, yes: bool) -> int:
    """Delete sessions with everything that only they held; gives the exit code."""
    console = Console(highlight=False)
    what = "this session" if len(sessions) == 1 else f"these {len(sessions)} sessions"
    question = (
        f"Delete {what}, with exports, reports and archived copies in the data folder, for good?"
    )
    if not yes and not Confirm.ask(question, console=console, default=False):
        console.print("Nothing was deleted.")
        return 1
    failed: list[str] = []
    notes: dict[str, None] = {}

    async def work(client: Client) -> None:
        for session in sessions:
            try:
                done = await client.delete_session(session)
                notes.update(dict.fromkeys(done.notes or ()))
                console.print(Text(f"{visible(session)} is gone"))
            except SidecarError as error:
                failed.append(f"{session}: {error.message}")

    code = _run(console, work)
    for sentence in notes:
        console.print(Text(visible(sentence)), soft_wrap=True)
    for sentence in failed:
        console.print(Text(visible(sentence), style="red"), soft_wrap=True)
    return code or int(bool(failed))


def _list(console: Console, *, as_json: bool) -> int:
    config, _ = load(workspace=None, environment=os.environ, options={})
    found = [(path, path.stat()) for path in bundles_of(config.data_dir)]
    if as_json:
        told: list[Json] = [
            {"sessionId": _session(path), "path": str(path), "size": about.st_size}
            for path, about in found
        ]
        console.print_json(json.dumps({"archived": told}))
        return 0
    if not found:
        console.print("Nothing is archived. `sidecar archive SESSION…` puts sessions away.")
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in ("session", "archived", "size", "bundle"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for path, about in found:
        when = datetime.fromtimestamp(about.st_mtime, UTC).astimezone()
        size = filesize.decimal(about.st_size)
        table.add_row(_session(path), f"{when:%Y-%m-%d %H:%M}", size, Text(visible(str(path))))
    console.print(table)
    return 0


def _session(path: Path) -> str:
    return path.name.partition("-")[0]


def _run(console: Console, work: Callable[[Client], Awaitable[None]]) -> int:
    async def run() -> None:
        async with own_daemon() as client:
            await work(client)

    try:
        asyncio.run(run())
    except SidecarError as error:
        console.print(Text(visible(error.message), style="red"), soft_wrap=True)
        return 1
    return 0
