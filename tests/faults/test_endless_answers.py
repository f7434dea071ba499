"""Answers without end: the turn ends and says why, what came is kept, and memory stays bounded."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient, Spawn, each_ending_well, say
from tests.faults import crowd
from tests.faults.test_daemon_goes_on import MEBIBYTE, memory
from tests.figures import Figures

pytestmark = pytest.mark.long

spawn = crowd.spawn

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
BOUND = 60 * MEBIBYTE
"""Of an answer of 266 KiB there are a few copies, and the SDK is loaded meanwhile."""
WINDOW = 100_000
"""Less than what is kept of such an answer takes, so that it has to be shortened."""
WORDS = "so it goes on and on "


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


BEGUN = event("message_start", message={"usage": {"input_tokens": 9}})


def block(index: int = 0, **content: Any) -> bytes:
    return event("content_block_start", index=index, content_block=content)


def endless(start: bytes, **delta: Any) -> Iterator[bytes]:
    piece = event("content_block_delta", index=0, delta=delta)
    return chain([BEGUN, start], (piece for _ in count()))


def text() -> Iterator[bytes]:
    return endless(block(type="text", text=""), type="text_delta", text=WORDS * 3_000)


def small_texts() -> Iterator[bytes]:
    return endless(block(type="text", text=""), type="text_delta", text="so ")


def thinking() -> Iterator[bytes]:
    start = block(type="thinking", thinking="")
    return endless(start, type="thinking_delta", thinking=WORDS * 3_000)


def tool_input() -> Iterator[bytes]:
    start = block(type="tool_use", id="t1", name="read_file", input={})
    return endless(start, type="input_json_delta", partial_json="so it goes on " * 3_000)


def blocks() -> Iterator[bytes]:
    return chain([BEGUN], (block(number, type="text", text="x") for number in count()))


def one_line() -> Iterator[bytes]:
    begins = b'event: content_block_delta\ndata: {"type": "content_block_delta", "text": "'
    return chain([BEGUN, begins], (b"x" * 65_536 for _ in count()))


def whole(words: str) -> Iterator[bytes]:
    return iter(
        [
            BEGUN,
            block(type="text", text=words),
            event("content_block_stop", index=0),
            event("message_delta", delta={"stop_reason": "end_turn"}),
            event("message_stop"),
        ]
    )


class Flood:
    """Answers each request with the next stream; counts what it could write of it."""

    def __init__(self) -> None:
        self.streams: list[Iterator[bytes]] = []
        self.bodies: list[dict[str, Any]] = []
        self.written = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as file:
                size = 0
                while line := file.readline().strip():
                    if line.lower().startswith(b"content-length"):
                        size = int(line.split(b":")[1])
                self.bodies.append(json.loads(file.read(size)))
                self._answer(connection, self.streams.pop(0) if self.streams else whole("Done."))

    def _answer(self, connection: socket.socket, stream: Iterator[bytes]) -> None:
        try:
            connection.sendall(HEAD)
            for piece in stream:
                connection.sendall(piece)
                self.written += len(piece)
        except OSError:
            return

    def close(self) -> None:
        self._socket.close()


@contextmanager
def flooded(folder: Path, spawn: Spawn | None) -> Iterator[tuple[PlainClient, Flood]]:
    flood = Flood()
    try:
        with each_ending_well(partial(PlainClient, folder / "data", spawn=spawn)) as begin:
            client = begin()
            provider = {"name": "anthropic", "baseUrl": flood.url, "apiKey": "sk-test"}
            client.start(model="claude-sonnet-4-6", provider=provider)
            yield client, flood
    finally:
        flood.close()


def said(client: PlainClient) -> str:
    return "".join(u["content"]["text"] for u in client.updates("agent_message_chunk"))


FLOODS = (text, small_texts, thinking, tool_input, blocks, one_line)


@pytest.mark.parametrize("stream", FLOODS, ids=lambda stream: stream.__name__)
def test_an_endless_answer_ends(
    tmp_path: Path,
    spawn: Spawn | None,
    stream: Callable[[], Iterator[bytes]],
    figures: Figures,
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with flooded(tmp_path, spawn) as (client, flood):
        given = {"cwd": str(folder), "window": WINDOW}
        session = client.request("session/new", given)["sessionId"]
        assert say(client, session, "hello")["stopReason"] == "end_turn"
        before = memory(client.pid)
        flood.streams.append(stream())
        # Small pieces are 88,000.
        result = say(client, session, "go on", limit=5 * LIMIT)
        assert result["stopReason"] == "error", result
        assert "the answer was given up after " in result["error"]["message"]
        assert result["error"]["retryable"] is False
        grown = memory(client.pid) - before
        figures.add(
            f"endless answer, {stream.__name__}",
            f"{grown // MEBIBYTE} MiB",
            f"{BOUND // MEBIBYTE} MiB",
        )
        assert grown < BOUND
        assert len(flood.bodies) == 2, "it is not asked for again"
        result = say(client, session, "and now?")
        assert result["stopReason"] == "end_turn", result.get("error")
        assert len(json.dumps(flood.bodies[-1])) < WINDOW * 4
        if stream is text:
            shown = said(client).count(WORDS)
            client.request("session/load", {"sessionId": session})
            assert said(client).count(WORDS) == 2 * shown > 20_000, "what came is kept"
