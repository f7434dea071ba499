"""Windows that say neither `--shared` nor `--alone`: they share where they can."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar import __version__
from sidecar.config import Config
from sidecar.daemon import choice
from sidecar.daemon.rendezvous import HERE, listening, socket_path
from tests.e2e.lines import LineClient
from tests.e2e.plain import UNSAID, PlainClient
from tests.e2e.resident import command, found, prompt

pytestmark = pytest.mark.long
SAID = "this window has its own daemon"


@pytest.fixture
def settings(variables: dict[str, str], tmp_path: Path) -> Path:
    """The user's own file, which says nothing."""
    variables |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "CI": ""}
    file = tmp_path / "config/sidecar/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("")
    return file


@pytest.fixture
def opened(
    settings: Path, variables: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., PlainClient]]:
    """Start a window; the daemon that they share ends with the test."""
    clients: list[PlainClient] = []

    def begin(*arguments: str, kind: type[PlainClient] = PlainClient, **env: str) -> PlainClient:
        data, env = tmp_path / "data", {**variables, **env}
        clients.append(kind(data, {}, env=env, arguments=(*UNSAID, *arguments)))
        return clients[-1]

    yield begin
    command(variables, "stop", "--now")
    for client in clients:
        client.kill()


def daemon(client: PlainClient, **options: Any) -> int:
    client.start(**{"model": "offline", **options})
    lines = isinstance(client, LineClient)
    return int(client.request(f"{'_sidecar/' * lines}daemon/status")["pid"])


def is_alone(client: PlainClient, workspace: Path, **options: Any) -> str:
    """See that it works with a daemon of its own; gives its log."""
    assert daemon(client, **options) == client.process.pid
    assert client.request("session/new", {"cwd": str(workspace), "mcpServers": []})["sessionId"]
    assert client.stop() == 0
    return client.stderr


def test_windows_share_without_being_asked_to(
    opened: Callable[..., PlainClient], workspace: Path
) -> None:
    first, second = opened(), opened()
    pids = {daemon(client) for client in (first, second)}
    assert len(pids) == 1
    assert pids.isdisjoint({first.process.pid, second.process.pid})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert first.result(prompt(first, session, "say one"))["stopReason"] == "end_turn"
    for client in (first, second):
        assert client.stop() == 0
        assert SAID not in client.stderr


def test_windows_share_none_by_a_setting(
    opened: Callable[..., PlainClient], settings: Path, workspace: Path, variables: dict[str, str]
) -> None:
    assert Config().shared is choice.DEFAULT
    settings.write_text("shared = false\n")
    assert SAID not in is_alone(opened(), workspace)
    assert found(variables) == []


@pytest.mark.parametrize(("arguments", "env"), [(("--alone",), {}), ((), {"CI": "true"})])
def test_a_window_has_its_own_where_that_is_wanted_or_is_nobodys(
    opened: Callable[..., PlainClient],
    variables: dict[str, str],
    workspace: Path,
    arguments: tuple[str, ...],
    env: dict[str, str],
) -> None:
    assert SAID not in is_alone(opened(*arguments, **env), workspace)
    assert found(variables) == []


def test_a_window_cannot_want_both() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sidecar", *UNSAID, "--alone", "--shared"],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2, "sidecar serve: take one of --shared and --alone\n",
    )  # fmt: skip


def others_may_write(folder: Path) -> Path:
    (folder / "sidecar").mkdir(mode=0o777)
    (folder / "sidecar").chmod(0o777)
    return folder


def too_long(folder: Path) -> Path:
    made = folder / ("x" * 120)
    made.mkdir(mode=0o700)
    return made


def without_folders(folder: Path) -> Path:
    return Path("/proc") if sys.platform == "linux" else too_long(folder)


@pytest.mark.parametrize("prepare", [others_may_write, too_long, without_folders])
def test_a_window_has_its_own_where_the_socket_cannot_be_had(
    opened: Callable[..., PlainClient],
    tmp_path: Path,
    workspace: Path,
    prepare: Callable[[Path], Path],
) -> None:
    folder = tmp_path / "other"
    folder.mkdir(mode=0o700)
    run = str(prepare(folder))
    log = is_alone(opened(XDG_RUNTIME_DIR=run), workspace)
    (line,) = [line for line in log.splitlines() if SAID in line]
    assert json.loads(line)["level"] == "info"
    assert "no daemon is shared: " in line
    must = opened("--shared", XDG_RUNTIME_DIR=run)
    assert must.process.wait(30) == 1
    must.close()
    assert must.stderr.startswith("sidecar: no shared daemon: ")


CLOUD = {"provider": {"name": "bedrock"}, "model": "claude-sonnet-4-6"}


@pytest.mark.parametrize("kind", [PlainClient, LineClient])
def test_a_window_of_a_cloud_has_its_own_from_the_start(
    opened: Callable[..., PlainClient],
    variables: dict[str, str],
    workspace: Path,
    kind: type[PlainClient],
) -> None:
    """Whose account is looked for in its own variables; the other windows go on."""
    shared = opened()
    pid = daemon(shared)
    client = opened(kind=kind)
    assert is_alone(client, workspace, **CLOUD).count("the provider bedrock takes its account") == 1
    assert daemon(opened()) == pid
    assert found(variables)[0]["windows"] == 2


def test_no_daemon_is_started_for_a_cloud_in_the_users_file(
    opened: Callable[..., PlainClient],
    settings: Path,
    variables: dict[str, str],
    workspace: Path,
) -> None:
    settings.write_text('[provider]\nname = "vertex"\n')
    assert "the provider vertex takes its account" in is_alone(opened(), workspace)
    settings.write_text("")
    log = is_alone(opened(ANTHROPIC_CUSTOM_HEADERS="x-team: a"), workspace)
    assert "an account comes from ANTHROPIC_CUSTOM_HEADERS" in log
    assert found(variables) == []


def test_a_window_whose_daemon_ends_before_it_answers_goes_on_by_itself(
    opened: Callable[..., PlainClient], variables: dict[str, str], workspace: Path
) -> None:
    """What the editor has said by then is not lost."""
    path = socket_path({**os.environ, **variables}, __version__)
    with listening(path) as listener:
        client = opened()
        answering = threading.Thread(target=lambda: is_alone(client, workspace), daemon=True)
        connection, _ = listener.accept()
        with connection:
            _, descriptors, _, _ = socket.recv_fds(connection, 4, 2)
            while b"SIDECAR_DATA_DIR" not in connection.recv(64 * 1024):
                pass
            connection.sendall(HERE)
            answering.start()
            while b"initialize" not in connection.recv(64 * 1024):
                pass
            for descriptor in descriptors:
                os.close(descriptor)
    answering.join(60)
    assert not answering.is_alive()
    assert client.process.returncode == 0
    assert "no daemon is shared: it has ended" in client.stderr
    os.unlink(path)


def test_what_a_window_says_first_may_be_anything(opened: Callable[..., PlainClient]) -> None:
    shared = daemon(opened())
    for said in (b"nonsense", b"[]", b'{"method": "initialize", "params": 3}'):
        client = opened()
        client.write_bytes(said)
        assert daemon(client) == shared
    client = opened()
    given = {"capabilities": {}, "initializationOptions": {"provider": {"name": 3}, "config": []}}
    client.request("initialize", given)
    assert client.request("daemon/status")["pid"] == shared


def test_windows_of_other_proxies_share_another(
    opened: Callable[..., PlainClient], variables: dict[str, str]
) -> None:
    proxy = {"HTTPS_PROXY": "http://127.0.0.1:9"}
    pids = [daemon(opened(**env)) for env in ({}, proxy, proxy)]
    assert pids[0] != pids[1] == pids[2]
    command({**variables, **proxy}, "stop", "--now")
