"""Where commands print: nothing that comes from elsewhere reaches a terminal as it is."""

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
"""Characters of a line where no terminal says how many it has."""


class Terminal(Console):
    """A console for which no text is markup, and whose plain texts are made visible."""

    def render_str(self, text: str, *, style: str | Style = "", **_: object) -> Text:
        """See `rich`: every cell, heading and line that is no `Text` yet is drawn by this."""
        return Text(visible_lines(text), style=style)


def terminal(*, stderr: bool = False, quiet: bool = False, width: int | None = None) -> Terminal:
    """Give what a command prints on."""
    return Terminal(
        stderr=stderr, quiet=quiet, width=width, markup=False, emoji=False, highlight=False
    )


def wide_terminal() -> Terminal:
    """Give what tables are printed on: as wide as the terminal, or wide enough for all columns."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return terminal(width=None if known else PIPED_WIDTH)


def shown(text: str, style: str = "") -> Text:
    """Give a text of one line for a table or a sentence."""
    return Text(visible(text), style=style)


def refused(console: Console, message: str) -> int:
    """Say why a command cannot do what it should; gives its exit code."""
    console.print(shown(message, "red"), soft_wrap=True)
    return 1


def say(line: str) -> None:
    """Tell people something beside what is printed."""
    sys.stderr.write(f"{visible(line)}\n")


def put_out(show: Callable[[], None]) -> None:
    """Print, and mind nothing when whoever reads has seen enough."""
    try:
        show()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more may be flushed when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(app: typer.Typer) -> int:
    """Do what was typed; gives the exit code. What is wrong with it is said, not traced."""
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
