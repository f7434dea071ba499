"""What comes behind the end of an answer, or does not come, changes nothing of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sidecar.core.conversation.stream import BlockDelta, ResponseFinished, StreamEvent
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.retry import Patience
from tests.fakes.messages_api import events, text

WHOLE = b"".join(
    b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **data}).encode())
    for kind, data in events(text("all of it", piece=99), "m")
)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


@asynccontextmanager
async def answering(body: bytes, *, held: bool = False) -> AsyncIterator[tuple[str, list[int]]]:
    """Answer every request with these bytes; gives the address and a number per connection."""
    over, connections = asyncio.Event(), list[int]()
    ended: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(len(connections))
        ended.append(asyncio.Event())
        try:
            while head := await reader.read(65536):
                if b"\r\n\r\n" not in head:
                    continue
                writer.write(body)
                await writer.drain()
                if b"content-length" in body.split(b"\r\n\r\n")[0]:
                    continue
                if held:
                    await over.wait()
                break
        finally:
            writer.close()
            ended[connections[-1]].set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", connections
    finally:
        over.set()
        server.close()
        async with asyncio.timeout(15):
            for one in ended:
                await one.wait()


async def ask(url: str, times: int = 1) -> list[StreamEvent]:
    model = AnthropicModel(
        Endpoint("anthropic", url, "sk-test"),
        now=lambda: 0,
        random=lambda: 1.0,
        patience=Patience(3, 9.0, 20.0),
        stall=20.0,
    )
    request = ModelRequest("m", Prompt((), (), (), ()), 9)
    found: list[StreamEvent] = []
    async with asyncio.timeout(15):
        for _ in range(times):
            found = [event async for event in model.stream(request)]
    await model.aclose()
    return found


BEHIND: dict[str, bytes] = {
    "the whole answer again": WHOLE,
    "an error": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
    "no JSON": b"event: message_stop\ndata: {\n\n",
    "no UTF-8": b"\xff\xfe\n\n",
}


@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
async def test_what_follows_an_answer_is_not_of_it(behind: bytes) -> None:
    async with answering(HEAD + b"connection: close\r\n\r\n" + WHOLE + behind) as (url, _):
        found = await ask(url)
    assert isinstance(found[-1], ResponseFinished)
    assert [event.text for event in found if isinstance(event, BlockDelta)] == ["all of it"]


@pytest.mark.parametrize(
    "head",
    [b"content-length: 999999\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n%x\r\n" % 99_999],
    ids=["length", "chunk"],
)
async def test_an_answer_whose_connection_is_cut_behind_it_is_whole(head: bytes) -> None:
    body = HEAD + b"connection: close\r\n" + head + WHOLE
    if b"content-length" in head:
        body = body.replace(b"content-length", b"Content-Length")
    async with answering(body) as (url, connections):
        found = await ask(url)
        assert isinstance(found[-1], ResponseFinished)
        assert len(connections) == 1


async def test_a_stream_that_does_not_end_behind_its_answer_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sidecar.model.hosted.DRAIN", 0.1)
    async with answering(HEAD + b"connection: close\r\n\r\n" + WHOLE, held=True) as (url, _):
        assert isinstance((await ask(url))[-1], ResponseFinished)


async def test_the_connection_is_used_again() -> None:
    body = HEAD + b"content-length: %d\r\n\r\n" % len(WHOLE) + WHOLE
    async with answering(body) as (url, connections):
        found = await ask(url, times=3)
    assert isinstance(found[-1], ResponseFinished)
    assert len(connections) == 1
