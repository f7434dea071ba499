"""An MCP server as a process: messages are lines of its stdin and stdout.

In place of the SDK's transport, which takes quadratic time for a line, however long.
"""

import asyncio
import os
import signal
import time
from asyncio import SubprocessTransport
from asyncio.subprocess import PIPE, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from sidecar.core.text import json_text
from sidecar.tools.mcp.mcp_bounds import MessageSize

FLUSH = 0.5
"""Seconds for the last messages to a server that ends."""
GRACE = 2.0
"""Seconds from stdin's end to SIGTERM, and from there to SIGKILL."""
LOOK = 0.01
"""Seconds between looks for a process's end."""
PIECE = 64 * 1024
"""Bytes read at once."""
LARGE = 256 * 1024
"""Bytes of a line that is parsed in a thread."""
AT_ONCE = 20
"""Messages until a pause, so that a flood of them leaves time for others."""
PAUSE = 0.01
"""Seconds."""
MOST_SAID = 2_000
"""Last bytes kept of a server's stderr, for failures."""

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class ServerWords:
    """Why a server failed: what it was ended for, or its last line on stderr, or ""."""

    def __init__(self) -> None:
        self._bytes = b""
        self.fault = ""

    def add(self, data: bytes) -> None:
        self._bytes = (self._bytes + data)[-MOST_SAID:]

    def last(self) -> str:
        lines = self._bytes.decode("utf-8", "replace").strip().splitlines()
        return self.fault or (lines[-1].strip() if lines else "")


@asynccontextmanager
async def stdio(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, said: ServerWords
) -> AsyncIterator[Streams]:
    """Starts a server, and ends it and its group within `FLUSH` and twice `GRACE`.

    Raises OSError, ValueError.
    """
    loop = asyncio.get_running_loop()
    process, pipes = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=PIECE, loop=loop),
        *command,
        env=get_default_environment() | dict(environment),
        cwd=folder,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )
    async with asyncio.TaskGroup() as tasks:
        connection = _Connection(process, pipes, said, tasks)
        try:
            yield connection.received, connection.sent
        finally:
            await connection.end()


class _Connection:
    def __init__(
        self,
        process: SubprocessTransport,
        pipes: SubprocessStreamProtocol,
        said: ServerWords,
        tasks: asyncio.TaskGroup,
    ) -> None:
        assert pipes.stdin is not None
        assert pipes.stdout is not None
        assert pipes.stderr is not None
        self._process, self._said = process, said
        self._stdin, self._stdout, self._stderr = pipes.stdin, pipes.stdout, pipes.stderr
        self._incoming, self.received = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](0)
        self.sent, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._reading = tasks.create_task(self._read())
        self._writing = tasks.create_task(self._write())
        self._hearing = tasks.create_task(self._hear())

    async def end(self) -> None:
        ended = False
        try:
            self.received.close()
            self.sent.close()
            await asyncio.wait({self._writing}, timeout=FLUSH)
            self._stdin.close()
            ended = await _within(GRACE, self._has_ended)
            if not ended:
                self._signal(signal.SIGTERM)
                ended = await _within(GRACE, lambda: not self._signal(0))
        finally:
            if not ended:
                self._signal(signal.SIGKILL)
            try:
                await _within(GRACE, self._has_ended)
                # Of a server's children some may hold its stderr.
                await asyncio.wait({self._hearing}, timeout=FLUSH)
            finally:
                for task in (self._reading, self._writing, self._hearing):
                    task.cancel()
                self._process.close()

    async def _read(self) -> None:
        gone = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
        with self._incoming, suppress(*gone):
            line, size, count = bytearray(), MessageSize(), 0
            while piece := await self._stdout.read(PIECE):
                *ended, rest = piece.split(b"\n")
                for part in ended:
                    if self._is_too_much(size.add(part)):
                        return
                    await self._incoming.send(await _message(bytes(line + part)))
                    line, size, count = bytearray(), MessageSize(), count + 1
                    if count % AT_ONCE == 0:
                        await asyncio.sleep(PAUSE)
                if self._is_too_much(size.add(rest)):
                    return
                line += rest
        # A server that cannot write would not read that it shall end.
        with suppress(OSError):
            while await self._stdout.read(PIECE):
                pass

    def _is_too_much(self, excess: str) -> bool:
        if excess:
            self._said.fault = f"it sent a message of more than {excess}"
        return bool(excess)

    async def _write(self) -> None:
        try:
            async for sent in self._outgoing:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._stdin.write(f"{text}\n".encode())
                await self._stdin.drain()
        except OSError:
            # Nobody need wait for a server that hears nothing.
            self._incoming.close()
        finally:
            self._outgoing.close()

    async def _hear(self) -> None:
        with suppress(OSError):
            while data := await self._stderr.read(PIECE):
                self._said.add(data)

    def _has_ended(self) -> bool:
        return self._process.get_returncode() is not None

    def _signal(self, number: int) -> bool:
        """Whether any of the group was there."""
        try:
            os.killpg(self._process.get_pid(), number)
        except PermissionError:
            return True
        except ProcessLookupError:
            return False
        return True


async def _within(seconds: float, there: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not there():
        if time.monotonic() > until:
            return False
        await asyncio.sleep(LOOK)
    return True


async def _message(line: bytes) -> SessionMessage | Exception:
    try:
        if len(line) > LARGE:
            value = await asyncio.to_thread(json_text.read_all, line)
        else:
            value = json_text.read_all(line)
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValueError as error:
        return error
