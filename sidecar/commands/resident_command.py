"""`sidecar status` and `sidecar stop`: the daemon that windows share."""

import json
import os
import socket
import sys

from rich.table import Table

from sidecar import __version__
from sidecar.commands.terminal import many, refused, shown, terminal
from sidecar.core.text.visible import visible_json
from sidecar.daemon.attach import greet
from sidecar.daemon.rendezvous import reached, socket_path

NONE = "No shared daemon runs for this data folder and version."


def status(*, as_json: bool) -> int:
    console = terminal()
    try:
        said = _asked("status")
    except OSError as error:
        return refused(console, str(error))
    if as_json:
        sys.stdout.write(f"{visible_json(json.loads(said) if said else None)}\n")
        return 0
    if not said:
        console.print(NONE)
        return 0
    about = json.loads(said)
    minutes = about["uptimeMs"] // 60_000
    console.print(
        f"process {about['pid']}, version {about['version']}, {many(minutes, 'minute')} old, "
        f"{many(about['windows'], 'window')}"
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("session", "turn", "windows", "folder", "title"):
        table.add_column(heading)
    for session in about["sessions"]:
        turn = "runs" if session["busy"] else "-"
        cells = session["sessionId"], turn, session["windows"], session["cwd"], session["title"]
        table.add_row(*(shown(str(cell)) for cell in cells))
    if about["sessions"]:
        console.print(table)
    return 0


def stop(*, now: bool) -> int:
    """Wait until it has ended: its turns first, for a minute, unless `now`."""
    console = terminal()
    try:
        ended = _asked("stop now" if now else "stop")
    except OSError as error:
        return refused(console, str(error))
    console.print(NONE if ended is None else "The shared daemon has ended.")
    return 0


def _asked(wish: str) -> str | None:
    """The answer, until the daemon closes the connection; `None` where none runs."""
    connection = reached(socket_path(os.environ, __version__))
    if connection is None:
        return None
    with connection:
        outcome = greet(connection, wish)
        if outcome is None:
            return None
        os.close(outcome)
        return b"".join(iter(lambda: _piece(connection), b"")).decode()


def _piece(connection: socket.socket) -> bytes:
    try:
        return connection.recv(64 * 1024)
    except ConnectionResetError:
        return b""
