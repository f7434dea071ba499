"""`sidecar export` and `import`."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.console import Console
from sidecar_client import Client, SidecarError
from sidecar_client.messages import BundleFormat

from sidecar.commands.own_daemon import own_daemon
from sidecar.commands.session_names import whole_id
from sidecar.commands.terminal import refused, say_each, shown, terminal
from sidecar.core.errors import SidecarError as SidecarFailed


def write_out(name: str | None, path: Path | None, *, last: bool, overwrite: bool) -> int:
    target = None if path is None else path.absolute()
    try:
        session = whole_id(name, last=last)
    except SidecarFailed as error:
        return refused(terminal(), error.message)

    async def work(client: Client, console: Console) -> None:
        with console.status("writing"):
            done = await client.session.export(session, target, overwrite=overwrite)
        console.print(shown(f"{done.path}  ({_size(done.size)})"), soft_wrap=True)
        say_each(console, done.notes)

    return _run(work)


def read_in(path: Path, cwd: Path, format_name: BundleFormat | None) -> int:
    source, folder = path.absolute(), cwd.absolute()

    async def work(client: Client, console: Console) -> None:
        with console.status("reading"):
            made = await client.session.import_(source, format=format_name, cwd=folder)
        console.print(shown(f"{made.session_id}  ({made.format})"), soft_wrap=True)
        say_each(console, made.notes)

    return _run(work)


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
