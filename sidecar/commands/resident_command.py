"""`sidecar status` and `sidecar stop`: the daemon that windows share."""

import json
import os
import socket
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from sidecar import __version__
from sidecar.commands.terminal import refused, shown, terminal
from sidecar.core.text.visible import many, visible_json
from sidecar.daemon.attach import greet
from sidecar.daemon.rendezvous import paths_beside, reached, socket_path

NONE = "No shared daemon runs for this data folder and version."


def status(*, as_json: bool) -> int:
    console = terminal()
    try:
        found = [json.loads(said) for said in _asked("status") if said]
    except OSError as error:
        return refused(console, str(error))
    if as_json:
        sys.stdout.write(f"{visible_json(found)}\n")
        return 0
    for about in found:
        _show(console, about)
    if not found:
        console.print(NONE)
    return 0


def _show(console: Console, about: Any) -> None:  # noqa: ANN401 - as the daemon said
    minutes = about["uptimeMs"] // 60_000
    agents = about["wrappedAgents"]
    console.print(
        f"process {about['pid']}, version {about['version']}, {many(minutes, 'minute')} old, "
        f"{many(about['windows'], 'window')}"
        + (f", {many(agents, 'wrapped agent')}" if agents else "")
        + (", stopping" if about["stopping"] else "")
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("session", "turn", "windows", "folder", "title"):
        table.add_column(heading)
    for session in about["sessions"]:
        turn = "runs" if session["busy"] else "-"
        windows = "an agent" if session["wrapped"] else session["windows"]
        cells = session["sessionId"], turn, windows, session["cwd"], session["title"]
        table.add_row(*(shown(str(cell)) for cell in cells))
    if about["sessions"]:
        console.print(table)


def stop(*, now: bool) -> int:
    """Ends the daemon and waits: for its turns up to a minute, unless `now`."""
    console = terminal()
    try:
        ended = _asked("stop now" if now else "stop")
    except OSError as error:
        return refused(console, str(error))
    console.print("The shared daemon has ended." if ended else NONE)
    return 0


def _asked(wish: str) -> list[str]:
    asked: list[socket.socket] = []
    for path in paths_beside(socket_path(os.environ, __version__)):
        connection = reached(path)
        if connection is not None and (outcome := greet(connection, wish)) is not None:
            os.close(outcome)
            asked.append(connection)
    return [_said(connection) for connection in asked]


def _said(connection: socket.socket) -> str:
    with connection:
        return b"".join(iter(lambda: _piece(connection), b"")).decode()


def _piece(connection: socket.socket) -> bytes:
    try:
        return connection.recv(64 * 1024)
    except ConnectionResetError:
        return b""
