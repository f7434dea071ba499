"""Wrapped agents whose recorders live in the daemon that windows share."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sidecar.wrap.wrapped_session import ENDS_WITHIN
from tests.e2e.plain import PlainClient
from tests.e2e.resident import about, command, found, is_gone, until
from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import EDIT, listed, ready, recorders, variables_of

pytestmark = pytest.mark.long


def test_agents_and_windows_share_a_daemon_that_tells_them_apart(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    heard, data = tmp_path / "heard", tmp_path / "data"
    pid = window().request("daemon/status")["pid"]
    with opened(agent(heard), data) as one, opened(agent(heard), data) as other:
        for editor in (one, other):
            ready(editor, folder)
            assert recorders(editor.process.pid) == [pid]
        told = about(variables)
        assert (told["windows"], told["wrappedAgents"]) == (1, 2)
        assert [one["wrapped"] for one in told["sessions"]] == [True, True]
        assert "1 window, 2 wrapped agents" in command(variables, "status")
        assert one.close() == 0
        until(lambda: about(variables)["wrappedAgents"] == 1)
        assert len(listed(variables)) == 1
        other.process.kill()
        until(lambda: about(variables)["wrappedAgents"] == 0)
    assert listed(variables) == []


def test_a_stopped_daemon_has_recorded_all_and_the_agent_goes_on(
    tmp_path: Path, folder: Path, variables: dict[str, str]
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        editor.prompt(session, EDIT)
        (ours,) = listed(variables)
        assert "has ended" in command(variables, "stop")
        assert editor.prompt(session, "go on")["result"] == {"stopReason": "end_turn"}
        assert "recorder has ended" in editor.command(session, "/meter")
        # Nothing of the old one keeps it from whoever comes next.
        assert "a.txt" in command(variables, "checkpoints", ours)
        assert command(variables, "restore", ours, "--last", "--yes", "--scope", "files")
        assert (folder / "a.txt").read_text() == "user\n"


def test_what_was_said_until_the_daemon_stops_is_recorded(
    tmp_path: Path, folder: Path, variables: dict[str, str]
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        block = {
            "type": "text",
            "text": "!t.say('a '); time.sleep(.05); t.say('zebra');time.sleep(9)",
        }
        editor.send("session/prompt", sessionId=session, prompt=[block])
        editor.until(lambda it: b'"zebra"' in it.came)
        (pid,) = recorders(editor.process.pid)
        os.kill(pid, 15)
        until(lambda: found(variables) == [])
        assert "agent: a zebra" in command(variables, "sessions", "--search", "zebra")


def test_a_gentle_stop_waits_for_an_agents_turn(
    tmp_path: Path, folder: Path, variables: dict[str, str]
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        block = {"type": "text", "text": "!time.sleep(2); t.edit('a.txt', 'agent')"}
        editor.send("session/prompt", sessionId=session, prompt=[block])
        until(lambda: about(variables)["sessions"][0]["busy"])
        (ours,) = listed(variables)
        command(variables, "stop")
        assert (folder / "a.txt").read_text() == "agent"
        assert "a.txt" in command(variables, "checkpoints", ours)


def test_a_daemon_without_windows_stays_for_its_agent(
    tmp_path: Path, folder: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIDECAR_LINGER", "1")
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        (pid,) = recorders(editor.process.pid)
        sleep(2.5)
        assert editor.command(session, "/meter").startswith("Context")
        editor.close()
    until(lambda: is_gone(pid))


def test_an_agent_of_a_killed_daemon_goes_on_and_says_so_once(
    tmp_path: Path, folder: Path, shared: dict[str, str]
) -> None:
    words = [sys.executable, "-m", "sidecar", "wrap", "--", *agent(tmp_path / "heard")]
    env = {**os.environ, "SIDECAR_DATA_DIR": str(tmp_path / "data")}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    )
    editor = Editor(process)
    try:
        session = ready(editor, folder)
        (pid,) = recorders(process.pid)
        os.kill(pid, 9)
        for _ in range(3):
            assert editor.prompt(session, "hello")["result"] == {"stopReason": "end_turn"}
        assert "recorder has ended" in editor.command(session, "/rollback 1")
        assert editor.close() == 0
        assert process.stderr is not None
        told = process.stderr.read().decode()
        assert told == "sidecar: the recorder has ended; nothing more is recorded\n"
    finally:
        editor.leave()
        assert process.stderr is not None
        process.stderr.close()


def test_an_agent_that_is_started_again_at_once_goes_on_in_its_session(
    tmp_path: Path, folder: Path, variables: dict[str, str]
) -> None:
    """Whose recorder still goes back in files when its tap is killed."""
    heard, data = tmp_path / "heard", tmp_path / "data"
    with opened(agent(heard, loadSession=True), data) as editor:
        theirs = ready(editor, folder)
        editor.prompt(theirs, "![t.edit(f'{n}.txt', 'agent') for n in range(800)]")
        editor.command(theirs, "/checkpoints")
        ours = listed(variables)
        block = {"type": "text", "text": "/rollback 1 overwrite"}
        editor.send("session/prompt", sessionId=theirs, prompt=[block])
        sleep(0.1)
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
        editor.command(theirs, "/meter")
        assert listed(variables) == ours
        assert not (folder / "7.txt").exists()


def test_a_session_that_another_agent_is_in_is_not_waited_for(
    tmp_path: Path, folder: Path, variables: dict[str, str]
) -> None:
    heard, data = tmp_path / "heard", tmp_path / "data"
    with opened(agent(heard, loadSession=True), data) as one:
        theirs = ready(one, folder)
        one.prompt(theirs, EDIT)
        with opened(agent(heard, loadSession=True), data) as other:
            begun = monotonic()
            other.ask("initialize", protocolVersion=1)
            other.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
            assert other.command(theirs, "/meter").startswith("Context")
            assert monotonic() - begun < ENDS_WITHIN
            assert len(listed(variables)) == 2


def log_of(cwd: Path, variables: dict[str, str]) -> str:
    """What a tap says on stderr, whose agent's session is in a folder."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": {"cwd": str(cwd), "mcpServers": []}},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in messages)
    words = [sys.executable, "-m", "sidecar", "wrap", "--", sys.executable, "-c", ANSWERS]
    done = subprocess.run(
        words,
        input=said,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=True,
    )
    return done.stderr


ANSWERS = """
import json, sys, time
for line in sys.stdin:
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"sessionId": "s"}}
    print(json.dumps(answer), flush=True)
time.sleep(1.5)
"""


def test_each_tap_has_the_log_of_its_own_agent(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    """Of errors alone, unless it wants more."""
    client = window()
    assert log_of(folder, variables) == ""
    assert log_of(tmp_path / "nowhere", variables).count("not recorded") == 1
    assert log_of(folder, variables) == ""
    assert client.stop() == 0
    assert "not recorded" not in client.stderr


@pytest.mark.parametrize(
    ("words", "env", "settings"),
    [
        (["--alone"], {}, ""),
        ([], {"CI": "true"}, ""),
        ([], {}, "shared = false\n"),
        ([], {"XDG_RUNTIME_DIR": "/proc"}, ""),
    ],
    ids=["alone", "ci", "setting", "no socket"],
)
def test_a_recorder_has_a_process_of_its_own_where_none_is_shared(
    words: list[str],
    env: dict[str, str],
    settings: str,
    tmp_path: Path,
    folder: Path,
    variables: dict[str, str],
) -> None:
    file = Path(variables["XDG_CONFIG_HOME"]) / "sidecar/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(settings)
    wrap = [sys.executable, "-m", "sidecar", "wrap", *words, *agent(tmp_path / "heard")]
    with opened(wrap, tmp_path / "data", bare=True, **env) as editor:
        ready(editor, folder)
        (pid,) = recorders(editor.process.pid)
        assert b"wrap-recorder" in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert found(variables) == []


def test_the_daemon_has_no_key_of_an_agent(
    tmp_path: Path, folder: Path, shared: dict[str, str]
) -> None:
    env: dict[str, Any] = {"MINE_API_KEY": "sk-mine"}
    with opened(agent(tmp_path / "heard"), tmp_path / "data", **env) as editor:
        session = ready(editor, folder)
        editor.prompt(session, "!t.say(os.environ['MINE_API_KEY'])")
        assert "sk-mine" in editor.said(session)
        (pid,) = recorders(editor.process.pid)
        assert "sk-mine" not in str(variables_of(pid))
