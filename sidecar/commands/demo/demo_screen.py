"""Prints the demo: turns, meter and cost."""

import asyncio
import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from sidecar_client.messages import (
    AgentMessageChunk,
    AgentThoughtChunk,
    Meter,
    Regions,
    SessionPromptResult,
    SessionRequestPermissionParams,
    SessionUpdateParams,
    ToolCallChanged,
    UserMessageChunk,
)

from sidecar.commands.terminal import shown
from sidecar.core.parts import Usage
from sidecar.core.prompt.pricing import money, price
from sidecar.core.text.visible import visible_lines
from sidecar.model.catalogue import lookup

PAUSE = 1.5
"""Seconds to read a chapter in."""
BAR = 40
INDENT = 9
"""Columns before text."""
WOULD_COST = ("claude-opus-5-5", "claude-haiku-5-5")
REGIONS = {
    "system": "blue",
    "tools": "cyan",
    "instructions": "bright_blue",
    "learned": "bright_cyan",
    "summary": "bright_green",
    "ledger": "bright_red",
    "user": "green",
    "assistant": "magenta",
    "reasoning": "bright_black",
    "tool_results": "yellow",
    "context": "white",
}


class Screen:
    """Prints updates; `paced`: with time to read."""

    def __init__(self, console: Console, *, paced: bool = False) -> None:
        self.console = console
        self.paced = paced
        self._speaking = self._style = self._word = ""
        self._column = 0
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

    async def allow(self, asked: SessionRequestPermissionParams) -> str | None:
        self.end_line()
        title = asked.tool_call.title
        said = title if isinstance(title, str) else "a tool"
        self.line(Text.assemble(("     ask ", "yellow"), shown(said), ("  allowed once", "green")))
        return "allow_once"

    def turn_ended(self, result: SessionPromptResult) -> None:
        self.end_line()
        self.meter(result.meter)

    def meter(self, meter: Meter) -> None:
        self.line(bar(meter, self.console.width))

    def regions(self, meter: Meter) -> None:
        for line in legend(meter.regions, self.console.width):
            self.line(line)

    def line(self, text: Text) -> None:
        self.console.print(text, no_wrap=True, overflow="ellipsis")

    async def chapter(self, title: str) -> None:
        if self.paced:
            await asyncio.sleep(PAUSE)
        self.console.print()
        self.line(Text(title, style="bold"))

    def _say(self, who: str, style: str, text: str) -> None:
        if self._speaking != who:
            self.end_line()
            self.console.print(Text(f"{who:>8} ", style="bold"), end="")
            self._speaking, self._style, self._column = who, style, INDENT
        *words, self._word = re.split(r"(?<=\s)", self._word + visible_lines(text))
        for word in words:
            self._put(word)

    def _put(self, word: str) -> None:
        shown = word.rstrip("\n")
        wide = self._column + cell_len(word.rstrip()) > self.console.width
        if self._column == 0 or (wide and self._column > INDENT):
            shown = "\n" * (self._column > 0) + " " * INDENT + shown
            self._column = INDENT
        ends = word.endswith("\n")
        self._column = 0 if ends else self._column + cell_len(word)
        self.console.print(Text(shown, style=self._style), end="\n" if ends else "", soft_wrap=True)

    def _tool(self, changed: ToolCallChanged) -> None:
        if isinstance(changed.title, str):
            self._titles[changed.tool_call_id] = changed.title
        if changed.status in ("completed", "failed"):
            self.end_line()
            mark = ("✓ ", "green") if changed.status == "completed" else ("✗ ", "red")
            title = self._titles.get(changed.tool_call_id, "tool")
            self.line(Text.assemble("    tool ", mark, shown(title)))

    def end_line(self) -> None:
        if self._word:
            self._put(self._word)
        if self._column:
            self.console.print()
        self._speaking = self._word = ""
        self._column = 0


def bar(meter: Meter, columns: int) -> Text:
    about = "≈" if meter.accuracy == "estimated" else "="
    cached = f"cache {'warm' if meter.cache.warm else 'cold'}, {meter.cache.hit_rate:.0%} read"
    room = max(1, meter.window - meter.reserved_output)
    said = f" {meter.percent}% {about} {meter.used} of {room}, {meter.zone}"
    drawn = Text.assemble((" context ", "bold"))
    shown = filled = 0
    for name, tokens in _sizes(meter.regions).items():
        # The end of each region is rounded, not its size: the bar is as long as their sum.
        shown += tokens
        end = min(BAR, round(BAR * shown / room))
        drawn.append("█" * (end - filled), style=REGIONS[name])
        filled = max(filled, end)
    drawn.append("░" * (BAR - filled), style="bright_black")
    drawn.append(said)
    if drawn.cell_len + len(cached) + 2 <= columns:
        drawn.append(f", {cached}", style="dim")
    return drawn


def legend(regions: Regions, columns: int) -> list[Text]:
    lines: list[Text] = []
    for name, tokens in _sizes(regions).items():
        named = Text.assemble(("█ ", REGIONS[name]), f"{name.replace('_', ' ')} {tokens}  ")
        if tokens and (not lines or lines[-1].cell_len + named.cell_len > columns):
            lines.append(Text(" " * INDENT))
        if tokens:
            lines[-1].append_text(named)
    return lines


def costs(console: Console, usage: Usage) -> None:
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


def _sizes(regions: Regions) -> dict[str, int]:
    return {name: getattr(regions, name) for name in REGIONS}


def _text(content: object) -> str:
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text
    return str(content.get("text", "")) if isinstance(content, dict) else ""
