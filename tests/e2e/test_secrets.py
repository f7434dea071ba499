"""A key is in memory and in the provider's request, and nowhere else: every byte is searched."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.e2e.desk import Start
from tests.e2e.plain import LIMIT, PlainClient
from tests.e2e.test_hostile import opened, say
from tests.fakes.messages_api import FakeMessagesApi, Reply, status, text, tools

KEY = "sk-ant-api03-Zq8Xk29Lq0pZ7vB3wN5cT6dY4mR1sE0"
SERVERS = "mcp-key-4Jh8Gd5Ks2Lq9Wp7"
"""A key that only the MCP server is given."""
SERVER = str(Path(__file__).parents[1] / "fakes" / "mcp_server.py")
MAGIC = b"\x28\xb5\x2f\xfd"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


class Heard(PlainClient):
    """Keeps everything that the daemon said."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.heard: list[str] = []
        super().__init__(*given, **named)

    def _take(self, message: dict[str, Any]) -> None:
        self.heard.append(json.dumps(message, ensure_ascii=False))
        super()._take(message)


def texts_of(file: Path) -> Iterator[bytes]:
    """Give everything that a file holds: its bytes, its rows, and both unpacked."""
    data = file.read_bytes()
    yield data
    if data.startswith(MAGIC):
        yield unpacked(data)
    if data.startswith(b"SQLite format 3"):
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as con:
            tables = con.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                for row in con.execute(f'SELECT * FROM "{table}"'):
                    yield from (piece for value in row for piece in pieces(value))


def pieces(value: object) -> Iterator[bytes]:
    """Give a column as bytes, and unpacked from wherever in it something packed begins."""
    data = value if isinstance(value, bytes) else str(value).encode()
    yield data
    start = data.find(MAGIC)
    while start >= 0:
        yield unpacked(data[start:])
        start = data.find(MAGIC, start + 1)


def unpacked(data: bytes) -> bytes:
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError:
        return b""


def holding(folder: Path, word: str) -> list[str]:
    """Name the files in which a word stands, packed or not."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(f) for f in files if any(word.encode() in piece for piece in texts_of(f))]


def family(pid: int) -> list[int]:
    """Give the processes below one."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == pid:
                found += [int(entry.name), *family(int(entry.name))]
    return found


def of_process(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def allow(params: Any) -> Any:
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


def run(*commands: str) -> Reply:
    return tools(*((f"t{n}", "shell", {"command": c}) for n, c in enumerate(commands)))


def sockets_of(pid: int) -> list[str]:
    """Give the states of the sockets of a process that can be connected to: `LISTEN`."""
    inodes = set[str]()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(fd)
        except OSError:
            continue
        if target.startswith("socket:"):
            inodes.add(target[8:-1])
    listening: list[str] = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (fields[3] == "0A" or table.startswith("udp")):
                listening.append(line)
    unix = Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]
    return listening + [
        line for line in unix if line.split()[6] in inodes and len(line.split()) > 7
    ]


@pytest.mark.long
def test_a_key_goes_nowhere_but_to_the_provider(tmp_path: Path, workspace: Path) -> None:
    """Turns, tools, a shell, an MCP server, failures that quote the key, an export, a crash."""
    os.mkfifo(workspace / "wait")
    data = tmp_path / "data"
    server = {"command": sys.executable, "args": [SERVER], "env": {"SERVER_KEY": SERVERS}}
    quoted = f"no such key: {KEY}"
    with FakeMessagesApi() as api:
        api.script(
            run("env; cat < wait", "git status; env | wc -l"),
            tools(("s", "search", {"pattern": "alpha"}), ("r", "read_file", {"path": "main.py"})),
            tools(("m", "mcp__notes__lookup", {"word": "it"})),
            status(529, "overloaded_error", quoted),
            text("All done. " * 50),
            status(401, "authentication_error", quoted),
        )
        environment = {"ANTHROPIC_API_KEY": KEY, "MY_COPY": KEY, "SIDECAR_LOG": "debug"}
        environment["ANTHROPIC_BASE_URL"] = api.url
        client = Heard(data, answers={"session/request_permission": allow}, env=environment)
        client.start(model="claude-sonnet-4-6", mcpServers={"notes": server})
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt = [{"type": "text", "text": "show the environment"}]
        turn = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
        client.wait_for(lambda n: "HOME=" in json.dumps(n))
        children = family(client.process.pid)
        assert len(children) >= 2, "a shell and an MCP server"
        for child in children:
            assert KEY.encode() not in of_process(child, "environ") + of_process(child, "cmdline")
        shells = [pid for pid in children if b"wait" in of_process(pid, "cmdline")]
        assert shells
        assert all(SERVERS.encode() not in of_process(pid, "environ") for pid in shells)
        assert KEY.encode() not in of_process(client.process.pid, "cmdline")
        assert sockets_of(client.process.pid) == []
        (workspace / "wait").write_text("go\n")
        assert client.result(turn, LIMIT)["stopReason"] == "end_turn"
        failed = client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        assert failed["error"]["kind"] == "authentication"
        assert "no such key: [redacted]" in json.dumps(failed)
        made = client.request("session/export", {"sessionId": session, "path": str(tmp_path)})
        client.request("daemon/status")
        client.kill()
        after = Heard(data, answers={"session/request_permission": allow}, env=environment)
        after.start(model="claude-sonnet-4-6")
        after.request("session/load", {"sessionId": session})
        assert after.stop() == 0
        assert all(KEY in str(sent.headers) for sent in api.requests)
        assert KEY not in json.dumps([sent.body for sent in api.requests])
    for one in (client, after):
        assert KEY not in "".join(one.heard) + one.stderr
        assert SERVERS not in "".join(one.heard) + one.stderr
    assert Path(made["path"]).is_file()
    for word in (KEY, SERVERS):
        assert holding(tmp_path, word) == []
    # That the search finds what is there, packed and in rows:
    assert str(data / "store.db") in holding(tmp_path, "All done. All done.")
    assert made["path"] in holding(tmp_path, "All done. All done.")


def test_what_is_stored_is_for_its_owner_alone(
    start: Callable[..., PlainClient], tmp_path: Path, workspace: Path
) -> None:
    """With a umask that gives everything to everybody, and a folder that was open before."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    before = os.umask(0)
    try:
        client = start(answers={"session/request_permission": allow})
        client.start()
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        for words in ("run seq 1 20000", "write a.txt hello", "read notes.txt"):
            prompt = [{"type": "text", "text": words}]
            client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        client.request("context/compact", {"sessionId": session, "strategy": "openmanus"})
        client.request("session/export", {"sessionId": session})
        assert client.stop() == 0
    finally:
        os.umask(before)
    found = [data, *data.rglob("*")]
    assert {"store.db", "exports"} <= {path.name for path in found}
    open_to_others = [path for path in found if path.stat().st_mode & 0o077]
    assert open_to_others == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look at everything")
def test_others_of_the_same_user_cannot_look_into_the_daemon(
    start: Callable[..., PlainClient], workspace: Path
) -> None:
    """A command of the model's could else read the key in `/proc/PID/environ` of the daemon."""
    client = start(env={"ANTHROPIC_API_KEY": KEY, "SIDECAR_DEBUGGABLE": ""})
    client.start(model="offline")
    client.request("session/new", {"cwd": str(workspace)})
    with pytest.raises(PermissionError):
        Path(f"/proc/{client.process.pid}/environ").read_bytes()


def test_a_variable_that_settings_name_as_a_key_is_kept_from_commands(
    start: Start, workspace: Path
) -> None:
    """It looks like no secret, and is called like none."""
    work = {"kind": "openai", "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "env:WORK_LLM"}
    with FakeMessagesApi() as api:
        client = start(env={"WORK_LLM": "tulip-horse-battery", "WORK_TEAM": "blue-heron-nine"})
        session = opened(
            client, api, workspace, providers={"work": work}, permissions={"allow": ["shell:env"]}
        )
        api.script(run("env"), text("done"))
        say(client, session)
        heard = json.dumps([sent.body for sent in api.requests])
    assert "blue-heron-nine" in heard
    assert "tulip-horse-battery" not in heard
