"""One daemon for all windows of a user: the real program, started as editors start it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, SERVE, PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="the socket is a Unix socket"),
]

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SHARED = (*SERVE, "--shared")
Open = Callable[..., PlainClient]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    run = tmp_path / "run"
    run.mkdir(mode=0o700)
    return {
        "XDG_RUNTIME_DIR": str(run), "SIDECAR_DATA_DIR": str(tmp_path / "data"),
        "SIDECAR_LINGER": "60", "SIDECAR_OFFLINE_PACE": "0.02",
    }  # fmt: skip


@pytest.fixture
def window(tmp_path: Path, variables: dict[str, str]) -> Iterator[Open]:
    """Open a window; the shared daemon ends with the test."""
    opened: list[PlainClient] = []

    def open_one(
        env: dict[str, str] | None = None, options: dict[str, Any] | None = None, **answers: Any
    ) -> PlainClient:
        client = PlainClient(
            tmp_path / "data", answers, env={**variables, **(env or {})}, arguments=SHARED
        )
        opened.append(client)
        client.start(**{"model": "offline", **(options or {})})
        return client

    yield open_one
    command(variables, "stop", "--now")
    for client in opened:
        client.kill()


def command(variables: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sidecar", *arguments],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    return done.stdout


def started_command(variables: dict[str, str], *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "sidecar", *arguments], env={**os.environ, **variables}
    )


def until(reached: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


def allow(params: Any) -> Any:
    """Answer a question as a user would who means this call alone."""
    options = [option["optionId"] for option in params["options"]]
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}} if options else None


def about(variables: dict[str, str]) -> Any:
    """What `status` tells of the one that windows find, or else of one that stops."""
    return found(variables)[0]


def found(variables: dict[str, str]) -> Any:
    return json.loads(command(variables, "status", "--json"))


def seqs(client: PlainClient) -> list[int]:
    """The numbers of a session's updates, in the order of their arrival."""
    return [u["_meta"]["sidecar"]["seq"] for u in client.updates()]


def prompt(client: PlainClient, session: str, text: str) -> int:
    given = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return client.send("session/prompt", given)


def told(client: PlainClient) -> str:
    updates = client.updates("agent_message_chunk")
    return "".join(u["content"]["text"] for u in updates)


def busy(variables: dict[str, str]) -> bool:
    return any(session["busy"] for session in about(variables)["sessions"])


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


def test_a_turn_outlives_its_window_and_is_told_to_the_next(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    first = window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "tell me a story about files and folders")
    until(lambda: len(seqs(first)) > 3)
    first.kill()
    second = window()
    second.request("session/load", {"sessionId": session})
    until(lambda: not busy(variables))
    until(lambda: "turn_ended" in str(second.notifications))
    third = window()
    third.request("session/load", {"sessionId": session})
    assert told(second) == told(third) != ""
    assert seqs(second) == sorted(set(seqs(second)))


def test_windows_on_one_session_hear_the_same_in_the_same_order(
    window: Open, workspace: Path
) -> None:
    first, second = window(), window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    second.request("session/load", {"sessionId": session})
    one, other = prompt(first, session, "say one"), prompt(second, session, "say two")
    assert first.result(one)["stopReason"] == second.result(other)["stopReason"] == "end_turn"
    until(lambda: seqs(first)[-1:] == seqs(second)[-1:])
    assert told(first) == told(second) != ""
    meters = [client.request("context/meter", {"sessionId": session}) for client in (first, second)]
    assert meters[0] == meters[1]


def test_a_question_goes_to_all_and_the_first_answer_holds(window: Open, workspace: Path) -> None:
    asked: list[str] = []
    answered = threading.Event()

    def hold(params: Any) -> Any:
        asked.append("first")
        answered.wait(30)
        return {"outcome": {"outcome": "cancelled"}}

    def answer(params: Any) -> Any:
        asked.append("second")
        return allow(params)

    first = window(**{"session/request_permission": hold})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    second = window(**{"session/request_permission": answer})
    second.request("session/load", {"sessionId": session})
    sent = prompt(first, session, "run touch made")
    until((workspace / "made").exists)
    assert set(asked) == {"first", "second"}
    withdrawn = [n for n in first.notifications if n["method"] == "$/cancelRequest"]
    assert withdrawn
    answered.set()
    assert first.result(sent)["stopReason"] == "end_turn"


def test_a_question_waits_for_the_next_window(window: Open, workspace: Path) -> None:
    seen = threading.Event()

    def never(params: Any) -> Any:
        seen.set()
        threading.Event().wait(60)

    first = window(**{"session/request_permission": never})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "run touch made")
    assert seen.wait(30)
    first.kill()
    second = window(**{"session/request_permission": allow})
    assert not (workspace / "made").exists()
    second.request("session/load", {"sessionId": session})
    until((workspace / "made").exists)


def test_each_window_has_variables_of_its_own(window: Open, workspace: Path) -> None:
    for name in ("one", "two"):
        client = window({"MINE": name}, **{"session/request_permission": allow})
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        sent = prompt(client, session, f"run printenv MINE > {name}")
        assert client.result(sent)["stopReason"] == "end_turn"
        assert (workspace / name).read_text() == f"{name}\n"


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


def test_a_subtask_begins_and_ends_without_the_window_that_asked(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    gone = threading.Event()

    def respond(body: Any, number: int) -> Reply:
        gone.wait(LIMIT)
        if "seventh task" in str(body["messages"][0]["content"]):
            return text("I have told.")
        asked = len(body["messages"]) == 1
        return (
            tools(("d1", "delegate", {"task": "the seventh task"})) if asked else text("All done.")
        )

    with FakeMessagesApi(respond) as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        first = window(options={"provider": provider, "model": "claude-sonnet-4-6"})
        session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt(first, session, "do")
        until(lambda: busy(variables))
        first.kill()
        until(lambda: about(variables)["windows"] == 0)
        second = window(**{"session/request_permission": allow})
        second.request("session/load", {"sessionId": session})
        gone.set()
        until(lambda: "All done." in told(second))
    assert "I have told." in str(second.updates("tool_call_update"))


@on_linux
def test_too_many_files_end_no_window(
    window: Open, variables: dict[str, str], tmp_path: Path
) -> None:
    import resource

    first = window()
    pid = about(variables)["pid"]
    open_now = len(os.listdir(f"/proc/{pid}/fd"))
    most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_now, most[1]))
    late = PlainClient(tmp_path / "data", env=variables, arguments=SHARED)
    time.sleep(1)
    assert first.request("daemon/status")["pid"] == pid
    resource.prlimit(pid, resource.RLIMIT_NOFILE, most)
    assert late.start(model="offline")
    assert late.request("daemon/status")["pid"] == pid
    late.kill()


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
