"""`sidecar demo`, which plays a session as an editor would."""

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from rich.text import Text
from sidecar_client import Client, connect
from sidecar_client.messages import SessionPromptResult

from sidecar.commands.demo.demo_rewrite import rewrite
from sidecar.commands.demo.demo_rollback import go_back_and_forth
from sidecar.commands.demo.demo_sample import FORGOTTEN, TURNS, sample
from sidecar.commands.demo.demo_screen import Screen, costs
from sidecar.commands.own_daemon import DAEMON
from sidecar.commands.terminal import shown, terminal
from sidecar.core.parts import Usage

PACE = 0.03
WINDOW, MAX_TOKENS = 12_000, 1_000
"""Small, so that a few reads fill it."""
ELSEWHERE = ("list files", "read README.md")
"""Turns in a folder of which nothing is known."""


def play(workspace: Path | None, *, fast: bool) -> int:
    paced = not fast and sys.stdout.isatty()
    screen = Screen(terminal(), paced=paced)
    with tempfile.TemporaryDirectory(prefix="sidecar-demo-") as folder:
        place = workspace or sample(Path(folder) / "greeter")
        turns, forgotten = (ELSEWHERE, None) if workspace else (TURNS, FORGOTTEN)
        asyncio.run(_play(screen, place.resolve(), Path(folder) / "data", turns, forgotten))
    return 0


async def _play(
    screen: Screen, place: Path, data: Path, turns: tuple[str, ...], forgotten: str | None
) -> None:
    console = screen.console
    console.rule(Text("sidecar demo", style="bold"))
    console.print(
        Text.assemble(
            "A daemon is started as an editor would start it, in ",
            shown(str(place), "bold"),
            ".\nThe offline model answers: no key, no network, and no language model, but real "
            f"tools.\nIts window is {WINDOW} tokens here, so that it fills while you watch.\n",
        )
    )
    total = Usage()
    async with _daemon(screen, data) as client:
        opened = await client.session.new(place, window=WINDOW, max_tokens=MAX_TOKENS)
        session = opened.session_id
        for text in turns:
            result = await client.session.prompt(session, text)
            total = total + _usage(result)
            screen.turn_ended(result)
        await rewrite(client, screen, session, forgotten)
        if forgotten is not None:
            total = total + _usage(await go_back_and_forth(client, screen, session, place))
        status = await client.daemon.status()
        await screen.chapter("And if the daemon dies?")
        sent = await client.context.preview(session)
        killed = f" {status.pid}: the daemon is gone, without a word."
        console.print(Text.assemble(("kill -9", "bold red"), killed))
        os.kill(status.pid, signal.SIGKILL)
    async with _daemon(Screen(terminal(quiet=True)), data) as client:
        loaded = await client.session.load(session)
        meter = await client.context.meter(session)
        now = await client.context.preview(session)
        kept = "Nothing was lost." if now.request == sent.request else "It is not what it was!"
        told = f": revision {loaded.revision}, {meter.used} tokens of context. {kept}\n"
        console.print(Text.assemble(("Started again", "bold green"), told))
    costs(console, total)


def _daemon(screen: Screen, data: Path) -> AbstractAsyncContextManager[Client, bool | None]:
    pace = str(PACE) if screen.paced else "0"
    return connect(
        DAEMON,
        env={"SIDECAR_DATA_DIR": str(data), "SIDECAR_OFFLINE_PACE": pace, "SIDECAR_LOG": "error"},
        options={"model": "offline", "workspaceTrusted": True},
        on_update=screen.update,
        on_permission=screen.allow,
    )


def _usage(result: SessionPromptResult) -> Usage:
    used = result.usage
    return Usage(
        input=used.input_tokens,
        cache_read=used.cached_read_tokens,
        cache_write_5m=used.cached_write_tokens,
        output=used.output_tokens,
        requests=used.requests,
    )
