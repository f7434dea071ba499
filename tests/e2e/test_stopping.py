"""A daemon that is stopped ends soon, whatever hangs."""

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.workspace.trust import NAME as TRUSTED
from tests.e2e.plain import PlainClient
from tests.e2e.resident import Open, about, command, is_gone, until

pytestmark = pytest.mark.long
SOON = 15.0
"""Seconds: far below the minute that `stop` may take, as no turn runs."""


def reads_for_ever(data: Path, workspace: Path) -> dict[str, Any]:
    """As of a disk that does not answer; gives the options with which it is read."""
    data.mkdir(exist_ok=True)
    os.mkfifo(data / TRUSTED)
    return {"workspaceTrusted": None}


def server_hangs(data: Path, workspace: Path) -> dict[str, Any]:
    """It says nothing, and ends for nobody."""
    script = f"trap '' TERM HUP INT; echo $$ >> {shlex.quote(str(workspace / 'pids'))}; sleep 300"
    return {"mcpServers": {"slow": {"command": "sh", "args": ["-c", f"{script} & wait; wait"]}}}


def begin(client: PlainClient, workspace: Path, options: dict[str, Any]) -> None:
    """Greet, and ask for a session that does not come."""
    given = {
        "capabilities": {},
        "rootUri": workspace.as_uri(),
        "initializationOptions": {"model": "offline", "workspaceTrusted": True, **options},
    }
    client.request("initialize", given)
    client.notify("initialized")
    client.send("session/new", {"cwd": str(workspace)})


@pytest.mark.parametrize("hang", [reads_for_ever, server_hangs])
@pytest.mark.parametrize("how", [(), ("--now",)])
def test_a_shared_daemon_stops_while_a_session_is_opened(
    window: Open,
    variables: dict[str, str],
    tmp_path: Path,
    workspace: Path,
    hang: Callable[[Path, Path], dict[str, Any]],
    how: tuple[str, ...],
) -> None:
    options = hang(tmp_path / "data", workspace)
    clients = [window(begun=False) for _ in range(3)]
    for client in clients:
        begin(client, workspace, options)
    time.sleep(1)
    pid = about(variables)["pid"]
    begun = time.monotonic()
    assert "has ended" in command(variables, "stop", *how)
    assert time.monotonic() - begun < (SOON / 3 if how else SOON)
    for client in clients:
        assert client.process.wait(SOON) == 1
    until(lambda: is_gone(pid))
    if (pids := workspace / "pids").exists():
        until(lambda: all(map(is_gone, map(int, pids.read_text().split()))))


@pytest.mark.parametrize("hang", [reads_for_ever, server_hangs])
def test_a_windows_own_daemon_ends_while_a_session_is_opened(
    start: Callable[..., PlainClient],
    tmp_path: Path,
    workspace: Path,
    hang: Callable[[Path, Path], dict[str, Any]],
) -> None:
    options = hang(tmp_path / "data", workspace)
    client = start()
    begin(client, workspace, options)
    time.sleep(1)
    client.notify("exit")
    client.process.wait(SOON)
