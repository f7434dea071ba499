"""A model that drips, as bytes on a real connection: it is given up, and the reason is said."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sidecar.core.errors import ModelFailed
from sidecar.model.anthropic_stream import AnthropicModel
from sidecar.model.endpoint import Endpoint
from sidecar.model.retry import Patience
from tests.model.test_anthropic_stream import gather

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STALL = 0.4
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


@asynccontextmanager
async def dripping(body: bytes, piece: int, pause: float) -> AsyncIterator[str]:
    """A server that answers with so many bytes at a time, and a pause after each."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD)
            for at in range(0, len(body), piece):
                part = body[at : at + piece]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
                await asyncio.sleep(pause)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.close()


async def ask(url: str) -> None:
    model = AnthropicModel(
        Endpoint("anthropic", url, "sk-test"),
        now=lambda: 0,
        random=lambda: 0.0,
        patience=Patience(1, 1.0),
        stall=STALL,
    )
    try:
        async with asyncio.timeout(20):
            await gather(model)
    finally:
        await model.aclose()


async def test_a_byte_now_and_then_is_not_an_answer() -> None:
    body = b'event: message_start\ndata: {"type": "message_start", "message": {' + b" " * 5_000
    async with dripping(body, 1, STALL / 8) as url:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ModelFailed, match=r"nothing whole for 0\.4 seconds") as failed:
            await ask(url)
        assert asyncio.get_running_loop().time() - began < 15
    assert (failed.value.failure, failed.value.retryable) == ("interrupted", True)
    assert "send the prompt again" in failed.value.message


async def test_pings_say_that_it_lives() -> None:
    async with dripping(PING * 12, len(PING), STALL / 4) as url:
        # It lives for three times as long as a stall, and then ends without an answer.
        with pytest.raises(ModelFailed, match="ended before it was complete"):
            await ask(url)
