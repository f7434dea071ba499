"""Event streams over HTTP into the vendor's SDK: an answer, or one of our errors, and in time."""

import asyncio
import json
from contextlib import suppress

from sidecar.core.conversation.stream import AttemptFailed, ResponseFinished
from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.retry import Patience
from tests.core.prompts import user
from tests.fuzz import Unanswered
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import mutated, scrambled, text_of
from tests.fuzz.target_events import ODD_EVENTS, STREAMS

SHARE = 8

LIMIT = 10.0
STALL = 0.25
"""Seconds without a byte after which the model gives a stream up."""
REQUEST = ModelRequest("m", Prompt((), (), (user("hello"),), ()), 9)
STATUSES = (200, 200, 200, 200, 200, 204, 301, 400, 401, 404, 413, 429, 500, 529, 600)
TYPES = ("text/event-stream", "text/event-stream; charset=utf-8", "application/json", "x", "")
LINES = (
    *("data: {", "data:", "event: error", 'data: {"type":"error","error":{}}', ": ping", "id: 1"),
    *("retry: 0", "event:", "data: [DONE]", "data: null", "data: 5", "data: [1]", "\ufeff", "x"),
    'data: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
)
HEADERS = (
    *("retry-after: 0", "retry-after: soon", "retry-after-ms: nan", "request-id: \xff"),
    *("retry-after: inf", "retry-after: -5", "retry-after-ms: 1e999", "content-encoding: gzip"),
    *("retry-after: 99999999999999999999", "x-should-retry: true", "content-encoding: br"),
    *("retry-after: Fri, 31 Dec 9999 23:59:59 GMT", "retry-after: Fri, 99 Dec 0000 00:00:00"),
)


class _Place:
    """A server on loopback and the model that asks it, on a loop of their own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.answer = (b"", False)
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.server = self.loop.run_until_complete(serving)
        port = self.server.sockets[0].getsockname()[1]
        self.model = AnthropicModel(
            Endpoint("anthropic", f"http://127.0.0.1:{port}", "sk-fuzz"),
            now=lambda: 1_700_000_000_000,
            random=lambda: 1.0,
            patience=Patience(1, 0.0, 0.0),
            stall=STALL,
        )
        # Loading the SDK takes seconds, and no answer's time.
        self.loop.run_until_complete(self.model.warm_up())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, ValueError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().splitlines()
                if line.startswith(b"content-length")
            )
            await reader.readexactly(length)
            body, held = self.answer
            writer.write(body)
            await writer.drain()
            if held:
                await reader.read(1)
        writer.close()

    def close(self) -> None:
        async def end() -> None:
            await self.model.aclose()
            self.server.close()
            await self.server.wait_closed()
            await asyncio.sleep(0)

        self.loop.run_until_complete(end())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


_places: list[_Place] = []


def run(data: bytes) -> None:
    """Answer one request with a stream that is changed, as events, as text or as bytes."""
    if not _places:
        _places.append(_Place())
    place = _places[0]
    dice = Dice(data)
    place.answer = (_answer(dice), dice.chance(40))
    place.loop.run_until_complete(_asked(place.model))


def close() -> None:
    """End what the first input began."""
    while _places:
        _places.pop().close()


async def _asked(model: AnthropicModel) -> None:
    ended = 0
    said = ""
    try:
        async with asyncio.timeout(LIMIT):
            async for event in model.stream(REQUEST):
                assert not ended, "something follows the end of an answer"
                assert not isinstance(event, AttemptFailed), "it was tried again"
                ended += isinstance(event, ResponseFinished)
    except ModelFailed as failed:
        said = failed.message
    except TimeoutError:
        raise Unanswered("the model neither answered nor failed") from None
    assert bool(said) is not bool(ended), "an answer has one end, or a reason"
    assert len(said) < 2_000
    assert "sk-fuzz" not in said
    assert "object has no attribute" not in said, "a bug is told as the provider's"


def _answer(dice: Dice) -> bytes:
    body = _body(dice)
    status = dice.pick(STATUSES)
    headers = [f"content-type: {dice.pick(TYPES) if dice.chance(6) else TYPES[0]}"]
    headers += [dice.pick(HEADERS) for _ in range(dice.below(3))] if dice.chance(3) else []
    match dice.below(8):
        case 0:
            headers.append(f"content-length: {len(body) + dice.below(3) * 7}")
        case 1 | 2:
            headers.append("transfer-encoding: chunked")
            body = _chunked(body, dice)
        case _:
            headers.append("connection: close")
    head = f"HTTP/1.1 {status} OK\r\n" + "\r\n".join(headers) + "\r\n\r\n"
    whole = head.encode("latin-1") + body
    return scrambled(whole, dice) if dice.chance(12) else whole


def _chunked(body: bytes, dice: Dice) -> bytes:
    size = 1 + dice.below(400)
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    framed = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    return scrambled(framed, dice) if dice.chance(5) else framed


def _body(dice: Dice) -> bytes:
    if dice.chance(10):
        return text_of(mutated(dice.pick(ERRORS), dice)).encode("utf-8", "replace")
    stream = mutated(dice.pick(STREAMS), dice, odd=ODD_EVENTS, donors=ODD_EVENTS)
    events = stream if isinstance(stream, list) else [stream]
    end = dice.pick(("\n", "\n", "\n", "\r\n", "\r"))
    lines: list[str] = []
    for event in events:
        kind = event.get("type") if isinstance(event, dict) else None
        lines += [f"event: {kind}", f"data: {_written(event)}", ""]
    for _ in range(dice.below(4)):
        lines.insert(dice.below(len(lines) + 1), dice.pick(LINES))
    text = end.join([*lines, ""]).encode("utf-8", "replace")
    return scrambled(text, dice) if dice.chance(5) else text


def _written(event: object) -> str:
    # Surrogates are escaped, so that they arrive.
    return json.dumps(event).replace("Infinity", "1e999")


ERRORS = ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, {"x": 1})
