"""`sidecar inspect`: what a session holds, what fills its context, and what happened by turn."""

import json

from rich.console import Console
from rich.text import Text

from sidecar.commands.checkpoint_tables import visible
from sidecar.commands.inspect_tables import drawn
from sidecar.commands.looking import course_of
from sidecar.commands.replay import put_out, wide_console
from sidecar.core.errors import SidecarError
from sidecar.observe.inspected import as_json


def inspect(session: str | None, *, last: bool, json_wanted: bool) -> int:
    """Print a session, for people or as JSON; gives the exit code."""
    try:
        course = course_of(session, last=last)
    except SidecarError as error:
        console = Console(highlight=False)
        console.print(Text(visible(error.message), style="red"), soft_wrap=True)
        return 1

    def show() -> None:
        if json_wanted:
            print(json.dumps(as_json(course), ensure_ascii=False))
            return
        console = wide_console()
        for piece in drawn(course):
            console.print(piece)

    put_out(show)
    return 0
