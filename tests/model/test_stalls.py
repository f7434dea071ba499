"""A model that drips, as bytes on a real connection: it is given up, and the reason is said."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from sidecar.core.errors import ModelFailed
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.retry import Patience
from sidecar.model.stalls import limits
from tests.model.messages.test_anthropic_model import gather

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


async def ask(url: str, **given: float) -> None:
    model = AnthropicModel(
        Endpoint("anthropic", url, "sk-test"),
        now=lambda: 0,
        random=lambda: 0.0,
        patience=Patience(1, 1.0, 1.0),
        stall=STALL,
        limits=lambda tokens, stall: replace(limits(tokens, stall), **given),  # type: ignore[arg-type] # numbers
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


BEGUN = b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}\n\n'
LETTER = (
    b'data: {"type": "content_block_delta", "index": 0, '
    b'"delta": {"type": "text_delta", "text": "x"}}\n\n'
)


async def test_pings_alone_are_no_answer() -> None:
    async with dripping(BEGUN + PING * 10_000, len(PING), STALL / 20) as url:
        with pytest.raises(ModelFailed, match=r"nothing but pings for 0\.5 seconds") as failed:
            await ask(url, quiet=0.5)
    assert (failed.value.failure, failed.value.retryable) == ("interrupted", False)


async def test_a_letter_now_and_then_has_an_end() -> None:
    async with dripping(BEGUN + LETTER * 10_000, len(LETTER), STALL / 20) as url:
        with pytest.raises(ModelFailed, match=r"given up after 0\.7 seconds") as failed:
            await ask(url, quiet=0.5, whole=0.7)
    assert not failed.value.retryable


def test_a_slow_model_and_one_that_thinks_long_have_their_time() -> None:
    """A model on a small machine writes a few tokens a second; hidden thinking is but pings."""
    allowed = limits(32_000)
    assert allowed.whole > 32_000 / 3
    assert allowed.quiet > 32_000 / 60
    assert allowed.most > 32_000 * 7


def test_an_answer_has_no_more_than_is_said_of_it() -> None:
    """Two tokens a second, fifty of thinking, eight bytes and four pieces for each."""
    short, long = limits(0), limits(32_000)
    assert (short.stall, short.quiet, short.whole) == (120, 300, 300)
    assert (short.most, short.pieces) == (16 * 1024, 1_000)
    assert (long.quiet - 300, long.whole - 300) == (640, 16_000)
    assert (long.most - 16 * 1024, long.pieces - 1_000) == (256_000, 128_000)
