"""Wrapped agents whose recorders live in the daemon that windows share."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused
from tests.e2e.resident import SHARED, about, command, found, is_gone, prompt, until
from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import recorders, variables_of

pytestmark = pytest.mark.long

EDIT = "!t.edit('a.txt', 'agent')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("user")
    return made


@pytest.fixture
def variables(tmp_path: Path, shared: dict[str, str]) -> dict[str, str]:
    return {**shared, "SIDECAR_DATA_DIR": str(tmp_path / "data"), "SIDECAR_OFFLINE_PACE": "0.02"}


@pytest.fixture
def window(tmp_path: Path, variables: dict[str, str]) -> Iterator[Callable[[], PlainClient]]:
    clients: list[PlainClient] = []

    def open_one() -> PlainClient:
        clients.append(PlainClient(tmp_path / "data", {}, env=variables, arguments=SHARED))
        clients[-1].start(model="offline")
        return clients[-1]

    yield open_one
    for client in clients:
        client.kill()


def ready(editor: Editor, folder: Path) -> str:
    session = editor.begin(folder)
    assert editor.command(session, "/meter").startswith("Context")
    return session


def listed(variables: dict[str, str]) -> list[str]:
    """Our ids of the sessions that are recorded."""
    return [one["sessionId"] for one in about(variables)["sessions"] if one["wrapped"]]


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


def test_no_tokenizer_is_loaded_for_agents_alone(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        editor.prompt(session, EDIT)
        editor.command(session, "/meter")
        (pid,) = recorders(editor.process.pid)
        maps = Path(f"/proc/{pid}/maps")
        assert "tiktoken" not in maps.read_text()
        window().request("session/new", {"cwd": str(folder)})
        assert "tiktoken" in maps.read_text()


def test_no_window_of_the_daemon_writes_what_is_recorded(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    client = window()
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        theirs = ready(editor, folder)
        (ours,) = listed(variables)
        for number in range(2):
            given = {"sessionId": ours}
            blocks = [{"type": "text", "text": "hello"}]
            for method, params in (
                ("session/prompt", {**given, "prompt": blocks}),
                ("session/rename", {**given, "title": "mine"}),
                ("session/delete", {**given, "force": True}),
                ("session/archive", given),
                ("checkpoint/restore", {**given, "scope": "files"}),
            ):
                with pytest.raises(Refused, match=r"another window|open in a window"):
                    client.request(method, params)
            client.request("session/load", given)
            editor.prompt(theirs, EDIT if number == 0 else "hello")
            editor.command(theirs, "/meter")
        # What passed since the window has it open is read with the next request.
        client.request("session/load", given)
        assert "a.txt" in str(client.notifications)
        editor.command(theirs, "/rollback 2")
        assert (folder / "a.txt").read_text() == "user"
        editor.close()
    until(lambda: listed(variables) == [])
    assert client.result(prompt(client, ours, "hello"))["stopReason"] == "end_turn"


def test_a_session_that_a_window_has_is_not_recorded_on(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    heard, data, client = tmp_path / "heard", tmp_path / "data", window()
    with opened(agent(heard, loadSession=True), data) as editor:
        theirs = ready(editor, folder)
        editor.prompt(theirs, EDIT)
        editor.command(theirs, "/meter")
        (ours,) = listed(variables)
        editor.close()
    until(lambda: listed(variables) == [])
    client.request("session/load", {"sessionId": ours})
    assert client.result(prompt(client, ours, "mine"))["stopReason"] == "end_turn"
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
        editor.command(theirs, "/meter")
        editor.prompt(theirs, "theirs")
        editor.command(theirs, "/meter")
        assert ours not in listed(variables)
        assert len(listed(variables)) == 1
        assert client.result(prompt(client, ours, "mine, too"))["stopReason"] == "end_turn"


FLOODS = {
    "words": "![t.say('x y ' * 1000) for _ in range(13_000)]",
    "tokens": "![t.say('word ') for _ in range(230_000)]",
    "diffs": (
        "!old, new = ('\\n'.join(map(str, range(n, n + 140_000))) for n in (0, 60_000));"
        "[t.update('tool_call_update', toolCallId=t.begin('Edit', 'edit'), status='completed',"
        " content=[{'type': 'diff', 'path': str(t.cwd / 'b.txt'), 'oldText': old, 'newText': new}])"
        " for _ in range(26)]"
    ),
}
"""Some fifty megabytes each."""


@pytest.mark.parametrize("kind", FLOODS)
def test_a_window_works_on_beside_an_agents_flood(
    kind: str, tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], Any]
) -> None:
    client, waited = window(), list[float]()
    mine = client.request("session/new", {"cwd": str(tmp_path / "work")})["sessionId"]
    client.result(prompt(client, mine, "say one"))
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        block = {"type": "text", "text": FLOODS[kind]}
        number = editor.send("session/prompt", sessionId=session, prompt=[block])
        turn = prompt(client, mine, "say two")
        ended = f'"id": {number}, "result"'.encode()
        while len(waited) < 30 or ended not in editor.came[-3000:]:
            begun = monotonic()
            client.request("daemon/status")
            waited.append(monotonic() - begun)
        assert client.result(turn)["stopReason"] == "end_turn"
        assert len(editor.came) > 40_000_000
        assert editor.command(session, "/meter").startswith("Context")
    assert sorted(waited)[len(waited) * 19 // 20] < 0.1, waited
    assert max(waited) < 0.6, waited


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
        assert (folder / "a.txt").read_text() == "user"


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
