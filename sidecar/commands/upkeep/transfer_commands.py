"""`sidecar export` and `import`."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.console import Console
from rich.prompt import Prompt
from sidecar_client import Client, SidecarError
from sidecar_client.messages import BundleFormat

from sidecar.commands.own_daemon import own_daemon
from sidecar.commands.session_names import whole_id
from sidecar.commands.terminal import refused, say_each, shown, terminal, when
from sidecar.core.errors import SidecarError as SidecarFailed
from sidecar.replay.importers.agent_folders import EXPORT, agent_folders, newest, storages
from sidecar.replay.importers.recognition import storage_above

LISTED = 20
"""Recordings of a folder that are shown to choose from."""


def write_out(
    name: str | None, path: Path | None, *, last: bool, overwrite: bool, snapshots: bool
) -> int:
    target = None if path is None else path.absolute()
    try:
        session = whole_id(name, last=last)
    except SidecarFailed as error:
        return refused(terminal(), error.message)

    async def work(client: Client, console: Console) -> None:
        with console.status("writing"):
            done = await client.session.export(
                session, target, overwrite=overwrite, snapshots=snapshots
            )
        console.print(shown(f"{done.path}  ({_size(done.size)})"), soft_wrap=True)
        say_each(console, done.notes)

    return _run(work)


def read_in(
    path: Path | None, cwd: Path, format_name: BundleFormat | None, *, snapshots: bool
) -> int:
    if path is None or path.is_dir():
        path = _chosen([path] if path else agent_folders(Path.home(), os.environ))
        if path is None:
            return 1
    elif (storage := storage_above(path.absolute())) is not None:
        return refused(terminal(), EXPORT.format(path=storage))
    source, folder = path.absolute(), cwd.absolute()

    async def work(client: Client, console: Console) -> None:
        with console.status("reading"):
            made = await client.session.import_(
                source, format=format_name, cwd=folder, snapshots=snapshots
            )
        console.print(shown(f"{made.session_id}  ({made.format})"), soft_wrap=True)
        say_each(console, made.notes)

    return _run(work)


def _chosen(folders: list[Path]) -> Path | None:
    console = terminal()
    for storage in dict.fromkeys(found for folder in folders for found in storages(folder)):
        console.print(shown(EXPORT.format(path=storage)), soft_wrap=True)
    with console.status("looking"):
        found = newest(folders, LISTED)
    if not found:
        places = ", ".join(map(str, folders)) or "folders of Claude Code, Codex, pi or opencode"
        refused(console, f"There is no recording in {places}: name a file, or a folder of them.")
        return None
    for number, one in enumerate(found, 1):
        about = f"{number:3}  {when(one.used * 1000)}  {one.format}  {one.title}"
        console.print(shown(about), no_wrap=True, overflow="ellipsis", crop=True)
        console.print(shown(f"     {one.path}"), soft_wrap=True)
    if not sys.stdin.isatty():
        console.print("Name one of these files to import it.")
        return None
    numbers = [str(number) for number in range(1, len(found) + 1)]
    answer = Prompt.ask(
        "Which one? Nothing is none", console=console, default="", show_default=False
    )
    if answer not in numbers:
        console.print("Nothing was imported.")
        return None
    return found[int(answer) - 1].path


def _run(work: Callable[[Client, Console], Awaitable[None]]) -> int:
    console = terminal()

    async def run() -> None:
        async with own_daemon() as client:
            await work(client, console)

    try:
        asyncio.run(run())
    except SidecarError as error:
        return refused(console, error.message)
    return 0


def _size(count: int) -> str:
    return f"{count} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"
