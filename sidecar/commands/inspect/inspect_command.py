"""`sidecar inspect`."""

from sidecar.commands.inspect.inspect_tables import drawn
from sidecar.commands.inspect.session_look import course_of, sent_text
from sidecar.commands.terminal import put_out, refused, terminal, wide_terminal
from sidecar.core.errors import SidecarError
from sidecar.core.text.visible import visible_json, visible_lines
from sidecar.observe.report.inspection_json import as_json


def inspect(session: str | None, *, last: bool, json_wanted: bool) -> int:
    try:
        course = course_of(session, last=last, sized=json_wanted)
    except SidecarError as error:
        return refused(terminal(), error.message)

    def show() -> None:
        if json_wanted:
            print(visible_json(as_json(course)))
            return
        console = wide_terminal()
        for piece in drawn(course):
            console.print(piece)

    put_out(show)
    return 0


def show_sent(session: str | None, *, last: bool) -> int:
    try:
        text = sent_text(session, last=last)
    except SidecarError as error:
        return refused(terminal(), error.message)
    put_out(lambda: print(visible_lines(text)))
    return 0
