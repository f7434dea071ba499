"""The process that windows share: its start, its end, and faults that end no window."""

import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient
from tests.e2e.resident import (
    SHARED,
    Open,
    about,
    allow,
    command,
    found,
    is_gone,
    prompt,
    started_command,
    told,
    until,
)

pytestmark = pytest.mark.long

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_windows_share_a_daemon_that_ends_when_it_is_stopped(
    window: Open, variables: dict[str, str]
) -> None:
    assert "No shared daemon" in command(variables, "status")
    first, second = window(), window()
    pids = {client.request("daemon/status")["pid"] for client in (first, second)}
    assert len(pids) == 1
    assert about(variables)["windows"] == 2
    assert first.stop() == 0
    assert about(variables)["windows"] == 1
    assert "has ended" in command(variables, "stop")
    until(lambda: is_gone(next(iter(pids))))
    assert second.process.wait(30) == 1
    assert "the daemon ended" in second.stderr
    # As an editor does after a crash.
    assert window().request("daemon/status")["sessions"] == []


def test_one_that_stops_gently_is_found_while_its_turns_run(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    asked = threading.Event()

    def never(params: Any) -> Any:
        asked.set()
        threading.Event().wait(60)

    first = window(**{"session/request_permission": never})
    pid = about(variables)["pid"]
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "run touch made")
    assert asked.wait(LIMIT)
    with started_command(variables, "stop") as stopping:
        until(lambda: about(variables)["stopping"])
        assert about(variables)["pid"] == pid
        assert "stopping" in command(variables, "status")
        # New windows have another.
        second = window()
        assert [one["stopping"] for one in found(variables)] == [False, True]
        assert about(variables)["pid"] == second.request("daemon/status")["pid"] != pid
        assert "has ended" in command(variables, "stop", "--now")
        assert stopping.wait(LIMIT) == 0
    until(lambda: is_gone(pid))
    assert found(variables) == []


def test_a_killed_daemon_is_started_again_and_loses_nothing(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    first = window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert first.result(prompt(first, session, "say one"))["stopReason"] == "end_turn"
    os.kill(about(variables)["pid"], signal.SIGKILL)
    assert first.process.wait(30) == 1
    second = window()
    second.request("session/load", {"sessionId": session})
    assert told(second) == told(first) != ""


def test_a_killed_daemon_ends_both_its_windows_and_the_next_two_share_another(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    first, second = window(**{"session/request_permission": allow}), window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert first.result(prompt(first, session, "say one"))["stopReason"] == "end_turn"
    prompt(first, session, "run touch begun; sleep 60")
    until((workspace / "begun").exists)
    second.request("session/load", {"sessionId": session})
    until(lambda: "begun" in str(second.notifications))
    pid = about(variables)["pid"]
    os.kill(pid, signal.SIGKILL)
    for client in (first, second):
        assert client.process.wait(10) == 1
        client.close()
        assert client.stderr == "sidecar: the daemon ended; the editor may start it again\n"
    # As both editors do.
    third, fourth = window(), window()
    pids = {client.request("daemon/status")["pid"] for client in (third, fourth)}
    assert len(pids) == 1
    assert pid not in pids
    for client in (third, fourth):
        client.request("session/load", {"sessionId": session})
        assert "run touch begun" in str(client.updates("user_message_chunk"))
        assert "interrupted" in str(client.notifications)
    assert third.result(prompt(third, session, "say two"))["stopReason"] == "end_turn"
    until(lambda: told(third) == told(fourth))


def test_a_killed_daemon_leaves_no_command_that_ran(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    """But what a command that had ended has left running goes on, as after any end."""
    client = window(**{"session/request_permission": allow})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    client.result(prompt(client, session, "run sleep 60 >&- 2>&- & echo $! > left"))
    prompt(client, session, "run trap '' TERM; sleep 60 & echo $! $$ > begun; wait; sleep 60")
    until(lambda: (workspace / "begun").exists() and (workspace / "begun").read_text())
    kept = int((workspace / "left").read_text())
    try:
        os.kill(about(variables)["pid"], signal.SIGKILL)
        for pid in map(int, (workspace / "begun").read_text().split()):
            until(lambda pid=pid: is_gone(pid))
        assert not is_gone(kept)
    finally:
        os.kill(kept, signal.SIGKILL)


@on_linux
def test_what_ends_commands_with_the_daemon_holds_none_of_its_files(
    window: Open, workspace: Path
) -> None:
    """Its windows, and those that come then, would wait for it."""
    client = window(**{"session/request_permission": allow})
    pid = client.request("daemon/status")["pid"]
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    client.result(prompt(client, session, "run true"))
    watchers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    assert watchers
    for watcher in watchers:
        assert {int(number) for number in os.listdir(f"/proc/{watcher}/fd")} <= {0, 1, 2}


@on_linux
def test_the_daemon_has_no_key_of_the_window_that_starts_it(window: Open) -> None:
    """Only what its exporter of figures reads."""
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "MINE_API_KEY": "sk-mine"}
    pid = window(given).request("daemon/status")["pid"]
    had = Path(f"/proc/{pid}/environ").read_text()
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9" in had
    assert "sk-mine" not in had


def test_each_window_is_told_of_itself_by_its_own_level(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    quiet, usual = window(options={"log": "error"}), window()
    # What it says before its settings are read goes by its variables.
    still = window({"SIDECAR_LOG": "error"}, {"nonsense": 1})
    for client in (quiet, still, usual):
        client.request("session/new", {"cwd": str(workspace)})
        client.request("session/list", {"nonsense": 1})
        assert client.stop() == 0
    assert "nonsense" not in quiet.stderr + still.stderr
    assert usual.stderr.count("nonsense") == 1
    log = next((Path(variables["XDG_RUNTIME_DIR"]) / "sidecar").glob("*.sock.log"))
    assert log.read_text().count("nonsense") >= 3


def test_of_many_windows_at_once_one_starts_the_daemon(
    window: Open, variables: dict[str, str]
) -> None:
    pids: list[int] = []

    def come() -> None:
        pids.append(window().request("daemon/status")["pid"])

    for _ in range(3):
        threads = [threading.Thread(target=come) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
        assert len(set(pids)) == 1
        assert len(pids) == 8
        assert about(variables)["windows"] == 8
        pids.clear()
        command(variables, "stop", "--now")


def test_it_ends_some_time_after_the_last_window(window: Open, variables: dict[str, str]) -> None:
    variables["SIDECAR_LINGER"] = "1"
    client = window()
    pid = client.request("daemon/status")["pid"]
    time.sleep(1.5)
    assert client.request("daemon/status")["pid"] == pid
    client.stop()

    until(lambda: is_gone(pid))
    left = os.listdir(Path(variables["XDG_RUNTIME_DIR"]) / "sidecar")
    assert not [name for name in left if name.endswith(".sock")]


def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    folder = Path(variables["XDG_RUNTIME_DIR"]) / "sidecar"
    folder.mkdir()
    folder.chmod(0o777)
    client = PlainClient(tmp_path / "data", env=variables, arguments=SHARED)
    assert client.process.wait(30) == 1
    client.close()
    assert "not a folder of yours alone" in client.stderr


@contextmanager
def free_descriptors(pid: int, free: int) -> Iterator[None]:
    """Leave a process as many beside those it has."""
    import resource

    most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    open_now = len(os.listdir(f"/proc/{pid}/fd"))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_now + free, most[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, most)


@on_linux
@pytest.mark.parametrize("free", [0, 1])
def test_too_many_files_end_no_window(
    window: Open, variables: dict[str, str], tmp_path: Path, free: int
) -> None:
    first = window()
    # The store's files are open from then on.
    first.request("session/list")
    pid = about(variables)["pid"]
    with free_descriptors(pid, free):
        if free:
            # A command takes no more than its connection.
            assert about(variables)["pid"] == pid
        late = PlainClient(tmp_path / "data", env=variables, arguments=SHARED)
        time.sleep(1)
        assert first.request("daemon/status")["pid"] == pid
    assert late.start(model="offline")
    assert late.request("daemon/status")["pid"] == pid
    late.kill()


@on_linux
def test_too_many_files_end_no_window_that_loads(window: Open, workspace: Path) -> None:
    first = window()
    pid = first.request("daemon/status")["pid"]
    with free_descriptors(pid, 0):
        time.sleep(1)
        assert first.request("daemon/status")["pid"] == pid
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert first.result(prompt(first, session, "say one"))["stopReason"] == "end_turn"


def test_a_daemon_without_a_socket_leaves_that_of_another(
    window: Open, variables: dict[str, str]
) -> None:
    """As after the logout that removes the folder of all sockets."""
    folder = Path(variables["XDG_RUNTIME_DIR"]) / "sidecar"
    first = window()
    pid = about(variables)["pid"]
    shutil.rmtree(folder)
    second = window()
    os.kill(pid, signal.SIGTERM)
    assert first.process.wait(30) == 1
    until(lambda: is_gone(pid))
    assert about(variables)["pid"] == second.request("daemon/status")["pid"] != pid


@on_linux
def test_greetings_that_say_nothing_take_no_file_and_no_time(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    first = window()
    pid = about(variables)["pid"]
    path = next((Path(variables["XDG_RUNTIME_DIR"]) / "sidecar").glob("*.sock"))
    before = len(os.listdir(f"/proc/{pid}/fd"))
    for said in (b"ab", b"\0\0\0\4junk", b"\0\0\4\0", b"\xff\0\0\0") * 5:
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(path))
            socket.send_fds(caller, [said], [2])
    until(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= before)
    silent = [socket.socket(socket.AF_UNIX) for _ in range(40)]
    for caller in silent:
        caller.connect(str(path))
    began = time.monotonic()
    first.request("session/new", {"cwd": str(workspace)})
    assert time.monotonic() - began < 5
    for caller in silent:
        caller.close()


@on_linux
def test_four_windows_take_little_more_memory_than_one(window: Open, workspace: Path) -> None:
    taken: list[float] = []
    clients: list[PlainClient] = []
    for _ in range(4):
        clients.append(window())
        clients[-1].request("session/new", {"cwd": str(workspace)})
        pid = clients[0].request("daemon/status")["pid"]
        taken.append(sum(map(memory, (pid, *(client.process.pid for client in clients)))))
    assert taken[3] < 1.3 * taken[0]


def memory(pid: int) -> float:
    """MiB, of shared pages this process's share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def test_the_log_keeps_its_newest_lines_in_a_mebibyte(
    window: Open, variables: dict[str, str]
) -> None:
    window()
    log = next((Path(variables["XDG_RUNTIME_DIR"]) / "sidecar").glob("*.sock.log"))
    with log.open("a") as added:
        added.writelines(f"line {number:08d}\n" for number in range(200_000))
    # It may be shortened while the last lines are added, and once more after that.
    until(lambda: log.stat().st_size <= 2**20 and log.read_text().endswith("line 00199999\n"))
    lines = log.read_text().splitlines()
    assert len(lines) > 30_000
    assert len(lines[0]) == len(lines[-1])
