"""The editor and a wrapped agent hear each other as without us, byte by byte."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sidecar.wrap.link_frames import DOWN
from sidecar.wrap.recorder_link import RecorderLink
from tests.e2e.resident import until
from tests.wrap.desk import LIMIT, Editor, agent, opened
from tests.wrap.homes import recorders

ODD = (
    b'{"jsonrpc": "2.0",  "id": 1.5, "method": "future/thing", "params": {"\\u00e9": "\xc3\xa9"}}\n'
    b'{"jsonrpc":"2.0","method":"_vendor/told","params":[1,{"session/prompt":true}]}\n'
    b"no JSON at all\r\n"
    b"\n"
    b'{"jsonrpc":"2.0","id":"x","method":"_sidecar/other","params":{}}\n'
)
SAYS = (
    '!put(b\'{"jsonrpc": "2.0",  "method": "future/told"}\\n\'); put(b\'garbage\\xff\\n\');'
    "put(b'{\"x\":' + b'1' * 300000 + b'}\\n'); t.say('done')"
)


def played(editor: Editor, workspace: Path) -> None:
    session = editor.begin(workspace)
    editor.put(ODD)
    editor.until(lambda it: b'"x", "error"' in it.came or b'"id": "x"' in it.came)
    editor.prompt(session, "hello")
    number = editor.send(
        "session/prompt", sessionId=session, prompt=[{"type": "text", "text": SAYS}]
    )
    editor.until(lambda it: f'"id": {number}, "result"'.encode() in it.came)
    editor.put(b"half a line")


@pytest.mark.usefixtures("home")
def test_both_sides_get_the_same_bytes(tmp_path: Path) -> None:
    came, heard = [], []
    for name in ("bare", "wrapped"):
        folder = tmp_path / name
        folder.mkdir()
        with opened(agent(folder / "heard"), folder / "data", bare=name == "bare") as editor:
            played(editor, tmp_path)
            assert editor.close() == 0
            came.append(without_ids(without_ours(bytes(editor.came))))
            heard.append(without_ids((folder / "heard").read_bytes()))
    assert came[0] == came[1]
    assert heard[0] == heard[1]


def without_ours(data: bytes) -> bytes:
    """Our list of commands comes beside, as the fake has none."""
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if b"available_commands_update" not in line)


def without_ids(data: bytes) -> bytes:
    """The fake names sessions by its process."""
    for word in {w for w in data.replace(b'"', b" ").split() if w.startswith(b"s-")}:
        data = data.replace(word, b"s-")
    return data


PROGRAMS: list[tuple[str, int]] = [
    ("import sys; sys.exit(7)", 7),
    ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ("import os; os.write(1, b'{\"half\":'); os.kill(os.getpid(), 15)", -signal.SIGTERM),
    ("import os; os.write(1, b'x' * 5_000_000 + b'\\n')", 0),
    ("import os; os.close(1); os.close(0)", 0),
]


@pytest.mark.parametrize(("program", "code"), PROGRAMS)
def test_an_agent_ends_as_it_would(program: str, code: int, tmp_path: Path) -> None:
    seen: list[Any] = []
    for bare in (True, False):
        with opened([sys.executable, "-c", program], tmp_path / "data", bare=bare) as editor:
            seen.append((editor.process.wait(20), editor.close() and 0, bytes(editor.came)))
    assert seen[0] == seen[1]
    assert seen[0][0] == code


def test_an_agent_that_is_not_there_is_told(tmp_path: Path) -> None:
    with opened(["no-such-agent"], tmp_path) as editor:
        assert editor.process.wait(20) == 127


@pytest.mark.parametrize("path", [".:{}", ":{}", "bin:{}"])
def test_no_agent_is_taken_from_a_relative_folder_of_path(path: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "agentx").write_text("#!/bin/sh\necho ran\n")
        (folder / "agentx").chmod(0o755)
    env = {**os.environ, "PATH": path.format(os.environ["PATH"]), "SIDECAR_DATA_DIR": str(tmp_path)}
    for options in ((), ("--print-config", "zed")):
        words = [sys.executable, "-P", "-m", "sidecar", "wrap", *options, "--", "agentx"]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, check=False)
        assert (b"ran" in done.stdout, b"./" in done.stdout) == (False, False)


@pytest.mark.usefixtures("home")
def test_what_the_agent_says_on_stderr_is_all_there_is(tmp_path: Path) -> None:
    """To its end, for which nobody waits longer than for the agent's."""
    program = "import sys; sys.stderr.write('from the agent\\n'); print('hi')"
    words = [sys.executable, "-m", "sidecar", "wrap", "--", sys.executable, "-c", program]
    env = {**os.environ, "SIDECAR_DATA_DIR": str(tmp_path)}
    begun = monotonic()
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=env, check=True)
    assert (done.stdout, done.stderr) == (b"hi\n", b"from the agent\n")
    assert monotonic() - begun < 5


def test_the_dashes_may_be_left_out(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sidecar", "wrap", "cat", "-u"]
    env = {**os.environ, "SIDECAR_DATA_DIR": str(tmp_path)}
    done = subprocess.run(words, input=b"as it is", stdout=subprocess.PIPE, env=env, check=True)
    assert done.stdout == b"as it is"


def test_a_signal_reaches_the_agent(tmp_path: Path) -> None:
    program = (
        "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(3)); "
        "print('up', flush=True); time.sleep(60)"
    )
    with opened([sys.executable, "-c", program], tmp_path) as editor:
        editor.until(lambda it: it.came == b"up\n")
        editor.process.send_signal(signal.SIGTERM)
        assert editor.process.wait(20) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell no child")
def test_a_killed_wrapper_leaves_no_agent_that_hangs(tmp_path: Path) -> None:
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    with opened([sys.executable, "-c", program], tmp_path) as editor:
        pid = int(editor.until(lambda it: bytes(it.came) if it.came.endswith(b"\n") else b""))
        os.kill(editor.process.pid, signal.SIGKILL)
        editor.process.wait(20)
        sleep(0.5)
        assert not Path(f"/proc/{pid}").exists() or "Z" in state_of(pid)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_half_a_line_goes_on_when_the_agent_hangs(tmp_path: Path) -> None:
    program = "import os, time; os.write(1, b'{\"half\":'); time.sleep(60)"
    with opened([sys.executable, "-c", program], tmp_path) as editor:
        editor.until(lambda it: it.came == b'{"half":')


@pytest.mark.usefixtures("home")
def test_messages_take_less_than_five_milliseconds_more(tmp_path: Path) -> None:
    typical = {}
    for bare in (True, False):
        heard = tmp_path / f"heard-{bare}"
        with opened(agent(heard), tmp_path / "data", bare=bare) as editor:
            editor.begin(tmp_path)
            sleep(1.5)  # The recorder has started.
            typical[bare] = sorted(asked(editor) for _ in range(200))[100]
            status = Path(f"/proc/{editor.process.pid}/status").read_text()
            assert int(status.split("VmRSS:")[1].split()[0]) < 20 * 1024
    assert typical[False] - typical[True] < 0.005, typical


def asked(editor: Editor) -> float:
    begun = monotonic()
    editor.ask("future/thing")
    return monotonic() - begun


@pytest.mark.usefixtures("home")
def test_a_killed_recorder_ends_nothing(tmp_path: Path) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(tmp_path)
        editor.command(session, "/meter")
        killed = kill_recorder(editor.process.pid)
        assert killed
        assert editor.prompt(session, "hello")["result"] == {"stopReason": "end_turn"}
        assert "recorder has ended" in editor.command(session, "/rollback 1")
        told = editor.ask("_sidecar/checkpoint/list", sessionId=session)
        assert "recorder has ended" in told["error"]["message"]
    assert b"/rollback" not in (tmp_path / "heard").read_bytes()


# A tap's pipes are open until its process ends.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_recorder_that_ends_while_it_is_told_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(tmp_path))
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    link = RecorderLink("agent", lambda _: None, lambda _: None, alone=True)
    write, told = os.write, threading.Event()

    def killed_meanwhile(descriptor: int, data: bytes) -> int:
        if b"zebra" not in bytes(data):
            return write(descriptor, data)
        for pid in recorders(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not link.going)
        told.set()
        return len(data)

    monkeypatch.setattr(os, "write", killed_meanwhile)
    link.copy(DOWN, b"zebra")
    assert told.wait(LIMIT)
    until(lambda: all(one.name != "to recorder" for one in threading.enumerate()))
    assert raised == []


def kill_recorder(of: int) -> bool:
    found = recorders(of)
    for pid in found:
        os.kill(pid, 9)
    sleep(0.3)
    return bool(found)


def test_the_tap_imports_the_standard_library_alone() -> None:
    program = (
        "import sys; known = {*sys.modules}; import sidecar.wrap.tap; "
        "print(*{one.partition('.')[0] for one in {*sys.modules} - known})"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, check=True)
    assert {*done.stdout.decode().split()} <= {"sidecar", *sys.stdlib_module_names}


def test_messages_are_json_still(tmp_path: Path) -> None:
    with opened(agent(tmp_path / "heard", commands=["compact"]), tmp_path / "data") as editor:
        editor.begin(tmp_path)
        listed = editor.until(
            lambda it: [m for m in it.messages() if "availableCommands" in json.dumps(m)]
        )
    names = [one["name"] for one in listed[0]["params"]["update"]["availableCommands"]]
    assert names == ["compact", "checkpoints", "rollback", "redo", "diff", "meter"]
