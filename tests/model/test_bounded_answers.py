"""An answer that is no stream is read to a bound, whichever vendor's SDK reads it."""

import asyncio
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import cast

import pytest

from sidecar.config import Config, Retry
from sidecar.config.provider_settings import NamedProvider
from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.models import Models
from tests.core.prompts import user
from tests.fakes.loopback import Loopback

KINDS = ["anthropic", "openai", "gemini", "vllm"]
MIB = 1024 * 1024


class OddServer(Loopback):
    """Answers each request with a status, headers and pieces, one after the other."""

    def __init__(
        self, code: int, headers: dict[str, str], pieces: Callable[[], Iterator[bytes]]
    ) -> None:
        super().__init__(OddReplies)
        self._server.odd = self  # type: ignore[attr-defined] # for the handler
        self.code, self.headers, self.pieces = code, headers, pieces
        self.asked: list[str] = []
        self.sent = 0


class OddReplies(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("OddServer", self.server.odd)  # type: ignore[attr-defined] # set above
        self.rfile.read(int(self.headers["content-length"]))
        server.asked.append(self.headers["accept-encoding"])
        self.send_response(server.code)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for piece in server.pieces():
                self.wfile.write(piece)
                server.sent += len(piece)
        except OSError:
            server.closed_early.set()

    def log_message(self, *_: object) -> None:
        """Nobody reads along."""


@pytest.fixture
async def models() -> AsyncIterator[Models]:
    made = Models(now=lambda: 1_700_000_000_000, random=lambda: 1.0)
    yield made
    await made.aclose()


async def refusal(models: Models, kind: str, server: OddServer) -> str:
    provider = NamedProvider("odd", kind, server.origin, "sk-test")  # type: ignore[arg-type]
    models.configure(Config(providers=(provider,), retry=Retry(attempts=1)))
    request = ModelRequest("odd/m", Prompt((), (), (user("Hello."),), ()), 99)
    async with asyncio.timeout(60):
        with pytest.raises(ModelFailed) as failed:
            async for _ in models.model_for("odd/m").stream(request):
                pass
    return failed.value.message


def endless() -> Iterator[bytes]:
    yield b'{"error": {"message": "TULIP'
    for _ in range(4096):
        yield b"x" * 65536


@pytest.mark.parametrize("kind", KINDS)
async def test_an_endless_error_is_read_to_a_bound(models: Models, kind: str) -> None:
    with OddServer(400, {"content-type": "application/json"}, endless) as server:
        assert len(await refusal(models, kind, server)) < 2000
        assert server.sent < 64 * MIB
        assert server.asked == ["identity"]


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_that_drips_is_read_for_a_time(
    models: Models, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.model.bounded_answers.SECONDS", 0.5)

    def drip() -> Iterator[bytes]:
        while True:
            time.sleep(0.05)
            yield b"x"

    with OddServer(400, {"content-type": "application/json"}, drip) as server:
        assert await refusal(models, kind, server)
        assert await asyncio.to_thread(server.closed_early.wait, 30)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_packed_error_is_unpacked_to_a_bound(models: Models, kind: str) -> None:
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packing.compress(bytes(MIB)) for _ in range(200)) + packing.flush()
    packed = {"content-type": "application/json", "content-encoding": "gzip"}
    with OddServer(400, packed, lambda: iter([bomb])) as server:
        tracemalloc.start()
        try:
            assert len(await refusal(models, kind, server)) < 2000
            assert tracemalloc.get_traced_memory()[1] < 150 * MIB
        finally:
            tracemalloc.stop()


async def test_a_packed_error_can_be_read(models: Models) -> None:
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    said = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "TULIP"}}'
    packed = packing.compress(said) + packing.flush()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    with OddServer(400, headers, lambda: iter([packed])) as server:
        assert "TULIP" in await refusal(models, "anthropic", server)


@pytest.mark.parametrize("line", [b":\n", b":\r\r\n"])
async def test_an_event_of_many_lines_is_given_up(models: Models, line: bytes) -> None:
    """The SDK's decoder copies all lines of an event for each."""
    stream = {"content-type": "text/event-stream"}
    with OddServer(200, stream, lambda: iter([line * (MIB // 4)])) as server:
        assert "lines of one event" in await refusal(models, "anthropic", server)


async def test_a_page_in_place_of_a_renewal_is_read_to_a_bound(models: Models) -> None:
    def page() -> Iterator[bytes]:
        for _ in range(4096):
            yield b"x" * 65536

    with OddServer(200, {"content-type": "text/html"}, page) as server:
        provider = NamedProvider("odd", "anthropic", server.origin, "sk-test")
        models.configure(Config(providers=(provider,), retry=Retry(attempts=1)))
        request = ModelRequest("odd/m", Prompt((), (), (user("Hello."),), ()), 99)
        async with asyncio.timeout(60):
            with suppress(ModelFailed):
                await models.model_for("odd/m").ping(request)
        assert server.sent < 64 * MIB


async def test_a_stream_of_any_type_is_read_as_it_comes(models: Models) -> None:
    """Proxies change the type, and more than a megabyte may come."""
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'

    def pings() -> Iterator[bytes]:
        for _ in range(2 * MIB // len(ping)):
            yield ping

    with OddServer(200, {"content-type": "text/plain"}, pings) as server:
        assert "ended before it was complete" in await refusal(models, "anthropic", server)
        assert server.sent > 2 * MIB - len(ping)
