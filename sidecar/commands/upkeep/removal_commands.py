"""`sidecar archive` and `sidecar delete`."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from rich import filesize
from rich.console import Console
from rich.prompt import Confirm
from rich.table import Table
from sidecar_client import Client, SidecarError

from sidecar.commands.own_daemon import own_daemon
from sidecar.commands.session_names import ids_alone
from sidecar.commands.terminal import refused, shown, terminal, when
from sidecar.config import load
from sidecar.core.errors import SidecarError as SidecarFailed
from sidecar.core.parts import Json
from sidecar.core.text.visible import visible_json
from sidecar.session.transfer.archive import bundles_of


def archive(sessions: Sequence[str], *, as_json: bool) -> int:
    """Archives sessions; without any, lists archived ones."""
    console = terminal()
    if not sessions:
        return _list(console, as_json=as_json)
    try:
        sessions = ids_alone(tuple(sessions))
    except SidecarFailed as error:
        return refused(console, error.message)
    failed: list[str] = []
    done: list[dict[str, Json]] = []

    async def work(client: Client) -> None:
        for session in sessions:
            try:
                result = await client.session.archive(session)
            except SidecarError as error:
                failed.append(f"{session}: {error.message}")
                continue
            done.extend(
                {"sessionId": o.session_id, "path": o.path, "size": o.size, "freed": o.freed}
                for o in result.sessions
            )

    code = _run(console, work)
    if as_json:
        print(visible_json({"sessions": list(done), "failed": list(failed)}, indent=2))
    else:
        for one in done:
            told = f"{filesize.decimal(int(str(one['freed'])))} → {one['path']}"
            console.print(shown(f"{one['sessionId']}  {told}"), soft_wrap=True)
        if done:
            console.print("`sidecar import PATH` brings one back as it was.")
        for sentence in failed:
            refused(console, sentence)
    return code or int(bool(failed))


def delete(sessions: Sequence[str], *, yes: bool) -> int:
    console = terminal()
    try:
        sessions = ids_alone(tuple(sessions))
    except SidecarFailed as error:
        refused(console, f"{error.message} Nothing was deleted.")
        return 1
    if not yes and not _agreed(console, sessions):
        console.print("Nothing was deleted.")
        return 1
    failed: list[str] = []
    notes: dict[str, None] = {}

    async def work(client: Client) -> None:
        for session in sessions:
            try:
                done = await client.session.delete(session)
                notes.update(dict.fromkeys(done.notes or ()))
                console.print(shown(f"{session} is gone"))
            except SidecarError as error:
                failed.append(f"{session}: {error.message}")

    code = _run(console, work)
    for sentence in notes:
        console.print(shown(sentence), soft_wrap=True)
    for sentence in failed:
        refused(console, sentence)
    return code or int(bool(failed))


def _agreed(console: Console, sessions: Sequence[str]) -> bool:
    question = (
        f"Delete {', '.join(sessions)}, with exports, reports and archived copies in the data "
        "folder, for good?"
    )
    return Confirm.ask(question, console=console, default=False)


def _list(console: Console, *, as_json: bool) -> int:
    config, _ = load(workspace=None, environment=os.environ, options={})
    found = [(path, path.stat()) for path in bundles_of(config.data_dir)]
    if as_json:
        told: list[Json] = [
            {"sessionId": _session(path), "path": str(path), "size": about.st_size}
            for path, about in found
        ]
        print(visible_json({"archived": told}, indent=2))
        return 0
    if not found:
        console.print("Nothing is archived. `sidecar archive SESSION…` puts sessions away.")
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in ("session", "archived", "size", "bundle"):
        table.add_column(heading, justify="right" if heading == "size" else "left")
    for path, about in found:
        size = filesize.decimal(about.st_size)
        table.add_row(shown(_session(path)), when(about.st_mtime * 1000), size, shown(str(path)))
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
        return refused(console, error.message)
    return 0
