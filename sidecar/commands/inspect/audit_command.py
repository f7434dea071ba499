"""`sidecar audit`."""

from sidecar.commands.inspect.session_look import stored_of
from sidecar.commands.terminal import put_out, refused, terminal
from sidecar.core.errors import SidecarError
from sidecar.core.text.visible import visible_json
from sidecar.observe.report.audit import audit


def show(session: str | None, *, last: bool) -> int:
    """Prints a JSON object a line, oldest first."""
    try:
        stored, redaction = stored_of(session, last=last)
    except SidecarError as error:
        return refused(terminal(stderr=True), error.message)

    def lines() -> None:
        for line in audit(stored):
            print(visible_json({**redaction.value(line), "session": line["session"]}))

    put_out(lines)
    return 0
