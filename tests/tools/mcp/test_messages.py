"""Messages of MCP servers that are too large, or never read."""

import asyncio
import json
import sys
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sidecar.config.mcp_settings import McpServer
from sidecar.core.parts import Json
from sidecar.tools.mcp import servers as mcp
from sidecar.tools.mcp.servers import McpServers
from sidecar.tools.tool_contract import ToolAnswer
from tests.tools.mcp.test_servers import here, running

pytestmark = pytest.mark.long

SERVER = str(Path(__file__).parents[2] / "fakes" / "raw_mcp_server.py")
MANY_COMMAS = '[a, {b}, \\"c\\"]\n'


class Raw:
    """A server written by hand, and what is known of it."""

    def __init__(self, servers: McpServers, folder: Path) -> None:
        self.servers, self.folder = servers, folder
        words = (sys.executable, SERVER, str(folder / "pids"), str(folder / "heard"))
        servers.provide("one", [McpServer("raw", words)], here(folder))

    async def call(self, name: str, **given: Json) -> ToolAnswer:
        return await self.servers.call("one", f"mcp__raw__{name}", given)

    def heard(self) -> list[str]:
        return (self.folder / "heard").read_text().splitlines()

    def alive(self) -> list[int]:
        numbers = map(int, (self.folder / "pids").read_text().split())
        return [number for number in numbers if lives(number)]

    async def without(self, ended: list[int]) -> None:
        while set(ended) & set(self.alive()):  # noqa: ASYNC110 - a process's end is no event
            await asyncio.sleep(0.05)


def lives(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


async def test_a_large_answer_takes_little_time(tmp_path: Path) -> None:
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        await servers.found("one")
        began = time.process_time()
        answer = await raw.call("big", piece="x y z ", times=2_600_000)
        assert answer.text == "x y z " * 2_600_000
        assert time.process_time() - began < 0.8
        answer = await raw.call("big", piece=MANY_COMMAS, times=500_000)
        assert answer.text == MANY_COMMAS * 500_000


@pytest.mark.parametrize(
    ("tool", "times", "told"),
    [
        ("endless", 0, "it sent a message of more than 16 MiB"),
        ("values", 200_000, "it sent a message of more than 100,000 values"),
    ],
)
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
async def test_a_server_that_sends_too_much_at_once_is_ended(
    tmp_path: Path, tool: str, times: int, told: str
) -> None:
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        await servers.found("one")
        began = raw.alive()
        assert len(began) == 2
        answer = await raw.call(tool, times=times)
        assert (answer.text, answer.is_error) == (f"The MCP server raw failed: {told}.", True)
        await raw.without(began)
        assert (await raw.call("send")).text == "done"


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
async def test_a_server_that_reads_nothing_holds_nobody_up_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "CALL", 0.3)
    async with running() as servers:
        raw = Raw(servers, tmp_path)
        await servers.found("one")
        for _ in range(3):
            answer = await raw.call("deaf", letters="x" * 1_000_000)
            assert answer.is_error
        began = time.monotonic()
    assert time.monotonic() - began < mcp.ENDING + 2
    assert raw.alive() == []


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
async def test_a_server_that_is_cancelled_at_its_end_leaves_no_process(tmp_path: Path) -> None:
    servers = McpServers()
    task = asyncio.create_task(servers.run())
    async with asyncio.timeout(60):
        await asyncio.sleep(0)
        raw = Raw(servers, tmp_path)
        await servers.found("one")
        call = asyncio.create_task(raw.call("deaf"))
        await asyncio.sleep(0.2)
        # The second finds the server being ended.
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0.5)
        await asyncio.wait({task, call})
        await raw.without(raw.alive())


@asynccontextmanager
async def answering(
    kind: str, body: bytes, *, endless: bool, packed: bool = False
) -> AsyncIterator[str]:
    """Serve MCP by HTTP, whose answer to a call is `body`, or that again and again."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.partition("content-length:")[2].split("\r\n")[0]
                message = json.loads(await reader.readexactly(int(length or 0)) or b"{}")
                method, number = message.get("method"), message.get("id")
                if method == "tools/call":
                    more = "Content-Encoding: deflate\r\n" if packed else ""
                    start = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}"
                    writer.write(f"{start}Connection: close\r\n\r\n".encode())
                    while True:
                        writer.write(body.replace(b"NUMBER", str(number).encode()))
                        await writer.drain()
                        if not endless:
                            return
                status, result = answered(method, message)
                data = json.dumps({"jsonrpc": "2.0", "id": number, **result}).encode()
                start = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
                writer.write(f"{start}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


def answered(method: str | None, message: dict[str, Json]) -> tuple[int, dict[str, Json]]:
    if method == "initialize":
        told: dict[str, Json] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        return 200, {"result": {**told, "serverInfo": {"name": "web", "version": "1"}}}
    if method == "tools/list":
        return 200, {"result": {"tools": [{"name": "big", "inputSchema": {"type": "object"}}]}}
    if method is None:
        return 405, {}
    if "id" not in message:
        return 202, {}
    return 200, {"error": {"code": -32601, "message": "no"}}


RESULT = b'{"jsonrpc":"2.0","id":NUMBER,"result":{"content":[{"type":"text","text":"well"}]%s}}'
DENSE = RESULT % (b',"_meta":{"x":[' + b"[]," * 200_000 + b"0]}")


@pytest.mark.parametrize(
    ("kind", "body", "endless", "packed", "told"),
    [
        ("application/json", RESULT % b"", False, False, ""),
        ("application/json", b" " * 65536, True, False, "16 MiB"),
        ("application/json", DENSE, False, False, "100,000 values"),
        ("application/json", zlib.compress(b" " * 2**26), False, True, "packed"),
        ("text/event-stream", b"data: " + RESULT % b"" + b"\n\n", False, False, ""),
        ("text/event-stream", b"x" * 65536, True, False, "limit"),
        ("text/event-stream", b"data: " + DENSE + b"\n\n", False, False, "100,000 values"),
        ("text/event-stream", b': "\ndata: ' + DENSE + b"\n\n", False, False, "100,000 values"),
        (
            "text/event-stream",
            b": [,{\n\n" * 200_000 + b"data: " + RESULT % b"" + b"\n\n",
            False,
            False,
            "",
        ),
    ],
)
async def test_an_answer_by_http_is_bounded(
    tmp_path: Path, kind: str, body: bytes, endless: bool, packed: bool, told: str
) -> None:
    async with running() as servers, answering(kind, body, endless=endless, packed=packed) as url:
        servers.provide("one", [McpServer("web", url=url)], here(tmp_path))
        assert (await servers.found("one")).said == ()
        answer = await servers.call("one", "mcp__web__big", {})
        assert answer.is_error == bool(told)
        assert (told or "well") in answer.text
        assert len(answer.text) < 300
