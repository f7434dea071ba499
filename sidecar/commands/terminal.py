"""Consoles for commands: no outside text reaches a terminal unescaped."""

import os
import sys
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console
from rich.style import Style
from rich.text import Text

from sidecar.core.text.visible import visible, visible_lines

PIPED_WIDTH = 160
"""Characters of a line where no terminal is known."""


class Terminal(Console):
    """A console without markup that escapes plain texts."""

    def render_str(self, text: str, *, style: str | Style = "", **_: object) -> Text:
        """See `rich`: draws every cell, heading and line not yet a `Text`."""
        return Text(visible_lines(text), style=style)


def terminal(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Terminal:
    """Make a command's console."""
    return Terminal(
        stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
    )


def wide_terminal() -> Terminal:
    """A console for tables: the terminal's width, or `PIPED_WIDTH`."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return terminal(width=None if known else PIPED_WIDTH)


def shown(text: str, style: str = "") -> Text:
    """One line, escaped, for a table or sentence."""
    return Text(visible(text), style=style)


def refused(console: Console, message: str) -> int:
    """Print why a command failed; return 1."""
    console.print(shown(message, "red"), soft_wrap=True)
    return 1


def say(line: str) -> None:
    """Print a line to stderr, beside the output."""
    sys.stderr.write(f"{visible(line)}\n")


def put_out(show: Callable[[], None]) -> None:
    """Print, ignoring a reader that closed the pipe."""
    try:
        show()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more may be flushed when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(app: typer.Typer) -> int:
    """Run the typed command. Errors print without a traceback."""
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
        return 130
    return code or 0
