"""`sidecar audit`: every decision about a session's context with its numbers, as JSON lines."""

import json

from rich.console import Console
from rich.text import Text

from sidecar.commands.checkpoint_tables import visible
from sidecar.commands.looking import stored_of
from sidecar.commands.replay import put_out
from sidecar.core.errors import SidecarError
from sidecar.observe.audit import audit


def show(session: str | None, *, last: bool) -> int:
    """Print a JSON object a line, oldest first; gives the exit code."""
    try:
        stored, redaction = stored_of(session, last=last)
    except SidecarError as error:
        console = Console(highlight=False, stderr=True)
        console.print(Text(visible(error.message), style="red"), soft_wrap=True)
        return 1

    def lines() -> None:
        for line in audit(stored):
            print(json.dumps({**redaction.value(line), "session": line["session"]}))

    put_out(lines)
    return 0
