"""A vendor's API on loopback: streams what a test scripts, refuses what the real one refuses.

with FakeResponsesApi() as api:
    api.script(said("hello"), failing(529), broken("drop", after=3))
    ... base_url=api.url ...
    api.requests[0].body, api.refused
"""

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal
from urllib.parse import urlsplit

from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.loopback import Loopback

Body = dict[str, Any]
Failure = Literal["none", "status", "told", "drop", "stall", "drip", "early_end", "garbage"]


@dataclass(frozen=True)
class Answer:
    """One answer: parts that are texts, thoughts, refusals and calls, and how it ends.

    `after` is how many events come before a failure; `error` is what an HTTP error or a failure
    told in the stream holds. `kept`: the connection stays open for the next request.
    """

    parts: tuple[Body, ...] = ()
    stop: str = ""
    usage: Body = field(default_factory=dict)
    failure: Failure = "none"
    after: int = 4
    code: int = 200
    error: Body = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    pace: float = 0.0
    piece: int = 7
    kept: bool = False


def said(words: str, **given: Any) -> Answer:
    return Answer(({"text": words},), **given)


def called(*calls: tuple[str, str, Any], words: str = "", **given: Any) -> Answer:
    """Call tools, given as (id, name, input, or the input's text)."""
    text = ({"text": words},) if words else ()
    made = tuple({"call": i, "name": n, "input": v} for i, n, v in calls)
    return Answer((*text, *made), **given)


def thought(words: str, then: Answer, **given: Any) -> Answer:
    return replace(then, parts=({"thought": words, **given}, *then.parts))


def failing(status: int, /, *, headers: dict[str, str] | None = None, **error: Any) -> Answer:
    """Answer with an HTTP error."""
    told = {"message": "as scripted", "type": "server_error", "param": None, "code": None, **error}
    return Answer(failure="status", code=status, error=told, headers=headers or {})


def broken(failure: Failure, after: int = 4, **error: Any) -> Answer:
    """Break off in the middle of a text."""
    words = {"text": "this text will not be finished, however long one waits"}
    return Answer((words,), failure=failure, after=after, error=error)


def cut(words: str, size: int) -> list[str]:
    return [words[i : i + size] for i in range(0, len(words), size)]


@dataclass(frozen=True)
class Asked:
    """A request as it came; header names in lower case."""

    path: str
    query: str
    headers: dict[str, str]
    content: bytes
    body: Body


class FakeStreamingApi(Loopback, ABC):
    """A server on a free port of loopback, in a thread of its own."""

    cache: CacheSimulator | None = None
    """What is cached, by which usage that is not scripted is told."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.refused: list[str] = []
        self.connections = 0
        self._scripted: list[Answer] = []
        self._lock = threading.Lock()
        super().__init__(_connection(self))

    @abstractmethod
    def refusal(self, asked: Asked) -> str | None:
        """Give why the API would answer 400, or `None`."""

    @abstractmethod
    def frames(self, answer: Answer, body: Body) -> Iterator[str]:
        """Give the events of an answer as text."""

    @abstractmethod
    def told(self, answer: Answer) -> str:
        """Give the event that tells of a failure."""

    @abstractmethod
    def blocks(self, body: Body) -> list[Body]:
        """Give the pieces of a prompt in the order in which they are cached."""

    @abstractmethod
    def usage(self, told: Body) -> Body:
        """Give usage as the API tells it."""

    @property
    def url(self) -> str:
        """The SDK's base_url."""
        return f"{self.origin}/v1"

    def script(self, *answers: Answer) -> None:
        """Queue answers; when they run out, a plain text answers."""
        with self._lock:
            self._scripted.extend(answers)

    def take(self, asked: Asked) -> Answer:
        with self._lock:
            self.requests.append(asked)
            if reason := self.refusal(asked):
                self.refused.append(reason)
                return failing(400, message=reason, type="invalid_request_error")
            answer = self._scripted.pop(0) if self._scripted else said("as you wish")
            if self.cache is None or answer.usage or answer.failure == "status":
                return answer
            told = self.cache.request(asked.body, self.blocks(asked.body))
            return replace(answer, usage=self.usage(told))


def _connection(api: FakeStreamingApi) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        chunked = False

        def setup(self) -> None:
            api.connections += 1
            super().setup()

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            address = urlsplit(self.path)
            headers = {k.lower(): v for k, v in self.headers.items()}
            body = json.loads(content)
            answer = api.take(Asked(address.path, address.query, headers, content, body))
            self.close_connection = not answer.kept
            try:
                if answer.failure == "status":
                    self._refuse(answer)
                else:
                    self._stream(answer, body)
            except (BrokenPipeError, ConnectionResetError):
                api.closed_early.set()

        def _stream(self, answer: Answer, body: Body) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.chunked = answer.kept
            if answer.kept:
                self.send_header("transfer-encoding", "chunked")
            else:
                self.send_header("connection", "close")
            # A length that is never reached makes an early close visible as a dropped body.
            if answer.failure == "drop":
                self.send_header("content-length", "1000000")
            self.end_headers()
            for number, frame in enumerate(api.frames(answer, body)):
                if answer.failure != "none" and number == answer.after:
                    self._break(answer)
                    return
                self._send(frame)
                time.sleep(answer.pace)
            if answer.kept:
                self.wfile.write(b"0\r\n\r\n")

        def _send(self, frame: str) -> None:
            data = frame.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)
            self.wfile.flush()

        def _break(self, answer: Answer) -> None:
            match answer.failure:
                case "told":
                    self._send(api.told(answer))
                case "stall":
                    api.stalled()
                case "drip":
                    while not api.stalled(0.05):
                        self._send(":")
                case "garbage":
                    self._send("data: {not json\n\n")
                case _:
                    pass

        def _refuse(self, answer: Answer) -> None:
            payload = json.dumps({"error": answer.error}).encode()
            self.send_response(answer.code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.send_header("connection", "close")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
