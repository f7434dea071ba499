"""Consoles for commands, which escape all outside text."""

import os
import sys
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.style import Style
from rich.text import Text

from sidecar.core.text.visible import visible, visible_lines

T = TypeVar("T")

PIPED_WIDTH = 168
"""Without a known terminal: enough for all columns of a replay."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class Terminal(Console):
    """A console without markup that escapes plain texts."""

    def render_str(self, text: str, *, style: str | Style = "", **_: object) -> Text:
        """Escapes texts that Rich draws: cells, headings and lines not yet `Text`."""
        return Text(visible_lines(text), style=style)


def terminal(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Terminal:
    return Terminal(
        stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
    )


def wide_terminal() -> Terminal:
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return terminal(width=None if known else PIPED_WIDTH)


def shown(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style)


def when(at: float) -> str:
    """Writes milliseconds since 1970 as a local day and minute."""
    return f"{datetime.fromtimestamp(at / 1000, UTC).astimezone():%Y-%m-%d %H:%M}"


def refused(console: Console, message: str) -> int:
    console.print(shown(message, "red"), soft_wrap=True)
    return 1


def say(line: str) -> None:
    sys.stderr.write(f"{visible(line)}\n")


def put_out(show: Callable[[], None]) -> None:
    """Prints, ignoring a reader that closed the pipe."""
    try:
        show()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more may be flushed when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_each(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        console.print(shown(f"- {note}"), soft_wrap=True)


def run_async(work: Coroutine[object, object, T]) -> T:
    """As `asyncio.run`, which puts a task's whole result into words as it ends."""
    import asyncio  # noqa: PLC0415 - most of what is typed needs none

    results: list[T] = []

    async def without_result() -> None:
        results.append(await work)

    asyncio.run(without_result())
    return results[0]


def run(app: typer.Typer) -> int:
    usage_error: Any = typer.BadParameter.__bases__[0]  # It has no public name.
    try:
        code: int | None = app(standalone_mode=False)
    except usage_error as error:
        error.message = visible_lines(error.message)
        error.show()
        return int(error.exit_code)
    except OSError as error:
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        say(f"sidecar: {name}{error.strerror or error}")
        return 1
    except (typer.Abort, KeyboardInterrupt):
        say("Stopped.")
        return INTERRUPTED
    return code or 0
