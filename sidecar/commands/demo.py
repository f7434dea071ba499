"""`sidecar demo`: a session with the offline model, played as an editor would, to be watched.

It starts the daemon over stdio through the Python client, sends turns that read, search, edit and
run, kills the daemon without warning, and finds everything again.
"""

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from rich.console import Console
from rich.text import Text
from sidecar_client import Client, connect
from sidecar_client.messages import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Meter,
    SessionPromptResult,
    SessionRequestPermissionParams,
    SessionUpdateParams,
    ToolCallChanged,
    UserMessageChunk,
)

from sidecar.core.parts import Usage
from sidecar.core.pricing import money, price
from sidecar.model.catalogue import lookup

PACE = 0.03
WOULD_COST = ("claude-opus-5-5", "claude-haiku-5-5")
REGIONS = {
    "system": "blue",
    "tools": "cyan",
    "instructions": "bright_blue",
    "user": "green",
    "assistant": "magenta",
    "reasoning": "bright_black",
    "toolResults": "yellow",
    "context": "white",
}
SAMPLE = {
    "README.md": "# Greeter\n\nSays hello.\n\nTODO: greet in other languages.\n",
    "greeter.py": 'def greet(name):\n    return "Hello, " + name\n\n\nprint(greet("world"))\n',
    "AGENTS.md": "Keep functions short. Run `python greeter.py` after a change.\n",
}
TURNS = (
    "read README.md and greeter.py",
    "search for TODO",
    "replace `Hello, ` with `Good day, ` in greeter.py then run `python3 greeter.py`",
    "todo: greet in French; greet in German",
)


def play(workspace: Path | None, *, fast: bool) -> int:
    """Play the demo in a sample workspace, or in the one given; gives the exit code."""
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="sidecar-demo-") as folder:
        place = workspace or _sample(Path(folder) / "greeter")
        asyncio.run(_play(console, place.resolve(), Path(folder) / "data", fast=fast))
    return 0


def _sample(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in SAMPLE.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


async def _play(console: Console, place: Path, data: Path, *, fast: bool) -> None:
    console.rule("[bold]sidecar demo")
    console.print(
        f"A daemon is started as an editor would start it, in [bold]{place}[/].\n"
        "The offline model answers: no key, no network, and no language model, but real tools.\n"
    )
    screen = _Screen(console)
    total = Usage()
    async with _daemon(screen, data, fast=fast) as client:
        session = (await client.new_session(place)).session_id
        turns = TURNS if place.name == "greeter" else ("list files", "read README.md")
        for text in turns:
            result = await client.prompt(session, text)
            total = total + _usage(result)
            screen.turn_ended(result)
        status = await client.status()
        console.print(f"\n[bold red]kill -9[/] {status.pid}: the daemon is gone, without a word.")
        os.kill(status.pid, signal.SIGKILL)
    async with _daemon(_Screen(Console(quiet=True)), data, fast=True) as client:
        loaded = await client.load_session(session)
        meter = await client.meter(session)
        console.print(
            f"[bold green]Started again[/]: the session is at revision {loaded.revision}, "
            f"with {meter.used} tokens of context. Nothing was lost.\n"
        )
    _costs(console, total)


def _daemon(
    screen: "_Screen", data: Path, *, fast: bool
) -> AbstractAsyncContextManager[Client, bool | None]:
    pace = "0" if fast or not sys.stdout.isatty() else str(PACE)
    return connect(
        [sys.executable, "-m", "sidecar", "serve", "--stdio"],
        env={"SIDECAR_DATA_DIR": str(data), "SIDECAR_OFFLINE_PACE": pace, "SIDECAR_LOG": "error"},
        options={"model": "offline", "workspaceTrusted": True},
        on_update=screen.update,
        on_permission=screen.allow,
    )


class _Screen:
    """Prints what comes, as it comes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._speaking = ""
        self._titles: dict[str, str] = {}

    def update(self, params: SessionUpdateParams) -> None:
        match params.update:
            case UserMessageChunk(content=content):
                self._say("you", "bold green", _text(content))
            case AgentThoughtChunk(content=content):
                self._say("thinks", "bright_black italic", _text(content))
            case AgentMessageChunk(content=content):
                self._say("sidecar", "magenta", _text(content))
            case ToolCallChanged() as changed:
                self._tool(changed)
            case _:
                pass

    def _say(self, who: str, style: str, text: str) -> None:
        if self._speaking != who:
            self._end_line()
            self._console.print(Text(f"{who:>8} ", style="bold"), end="")
            self._speaking = who
        self._console.print(Text(text, style=style), end="", soft_wrap=True)

    def _tool(self, changed: ToolCallChanged) -> None:
        if isinstance(changed.title, str):
            self._titles[changed.tool_call_id] = changed.title
        if changed.status in ("completed", "failed"):
            self._end_line()
            mark = "[green]✓[/]" if changed.status == "completed" else "[red]✗[/]"
            title = self._titles.get(changed.tool_call_id, "tool")
            self._console.print(f"    tool {mark} {title}", highlight=False)

    async def allow(self, asked: SessionRequestPermissionParams) -> str | None:
        self._end_line()
        self._console.print(f"     [yellow]ask[/] {asked.tool_call.title}  [green]allowed once[/]")
        return "allow_once"

    def turn_ended(self, result: SessionPromptResult) -> None:
        self._end_line()
        self._console.print(_bar(result.meter), soft_wrap=True)

    def _end_line(self) -> None:
        if self._speaking:
            self._console.print()
        self._speaking = ""


def _bar(meter: Meter, width: int = 40) -> Text:
    """Draw the context: each region in its colour, scaled to what is used."""
    bar = Text(" context ", style="bold")
    regions = {name: getattr(meter.regions, _field(name)) for name in REGIONS}
    for name, tokens in regions.items():
        cells = round(width * tokens / meter.used) if meter.used else 0
        bar.append("█" * cells, style=REGIONS[name])
    about = "≈" if meter.accuracy == "estimated" else "="
    bar.append(f"  {meter.percent}% {about} {meter.used} of {meter.window} tokens, {meter.zone}")
    hit = meter.cache.hit_rate
    bar.append(f", cache {'warm' if meter.cache.warm else 'cold'}, {hit:.0%} read", style="dim")
    return bar


def _costs(console: Console, usage: Usage) -> None:
    console.print(
        f"{usage.requests} requests: {usage.prompt} tokens sent, {usage.cache_read} of them read "
        f"from the cache, {usage.output} written.\nThe offline model is free. The same would cost:"
    )
    for name in WOULD_COST:
        info = lookup(name)
        cached = price(info, usage)
        fresh = price(info, Usage(input=usage.prompt, output=usage.output))
        if cached is not None and fresh is not None:
            console.print(f"  {name:<18} ${money(cached)}, without the cache ${money(fresh)}")


def _usage(result: SessionPromptResult) -> Usage:
    used = result.usage
    return Usage(
        input=used.input_tokens,
        cache_read=used.cached_read_tokens,
        cache_write_5m=used.cached_write_tokens,
        output=used.output_tokens,
        requests=used.requests,
    )


def _field(name: str) -> str:
    return "tool_results" if name == "toolResults" else name


def _text(content: object) -> str:
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text
    return str(content.get("text", "")) if isinstance(content, dict) else ""
