"""The Gemini API on loopback: streams what a test scripts, refuses what the real one refuses.

with FakeGeminiApi() as api:
    api.script(says("hello"), refuses(503), broken("drop"))
    ... base_url=api.url ...
    api.requests[0].body, api.refused
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.gemini_validation import MOST_BYTES, Body, refusal
from tests.fakes.loopback import Loopback

Failure = Literal[
    "none",
    "status",
    "error_chunk",
    "bare_error",
    "drop",
    "stall",
    "silence",
    "drip",
    "early_end",
    "garbage",
]
KEY = "AIza-very-secret-key"
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
TYPE = "type.googleapis.com/google.rpc"


@dataclass(frozen=True)
class Reply:
    """One answer: a chunk for each part. `after` is how many chunks come before a failure."""

    parts: tuple[Body, ...] = ()
    finish: str = "STOP"
    usage: Body = field(default_factory=dict)
    failure: Failure = "none"
    after: int = 1
    code: int = 200
    message: str = "as scripted"
    details: tuple[Body, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    pace: float = 0.0
    blocked: str = ""
    together: bool = False
    held: bool = False
    behind: tuple[bytes, ...] = ()


def says(words: str, signature: str = "", piece: int = 7, **given: Any) -> Reply:
    """Answer with a text in pieces; its signature comes behind, on an empty piece."""
    parts: list[Body] = [{"text": words[i : i + piece]} for i in range(0, len(words), piece)]
    if signature:
        parts.append({"text": "", "thoughtSignature": signature})
    return Reply(tuple(parts), **given)


def thinks(words: str, then: Reply) -> Reply:
    """Tell thoughts, then answer."""
    return replace(then, parts=({"text": words, "thought": True}, *then.parts))


def calls(*parts: Body, words: str = "", **given: Any) -> Reply:
    """Call tools; with `together` all in one chunk."""
    said = ({"text": words},) if words else ()
    return Reply((*said, *parts), **given)


def call(name: str, args: Any, call_id: str = "", signature: str = "") -> Body:
    """Give the part of a call; older models name none."""
    inner = {"name": name, "args": args, **({"id": call_id} if call_id else {})}
    signed = {"thoughtSignature": signature} if signature else {}
    return {"functionCall": inner, **signed}


def refuses(code: int, message: str = "as scripted", *details: Body, **headers: str) -> Reply:
    """Answer with an HTTP error; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(failure="status", code=code, message=message, details=details, headers=named)


def broken(failure: Failure, after: int = 2, code: int = 503, **given: Any) -> Reply:
    """Break off in the middle of a text."""
    reply = says("this text will not be finished", failure=failure, after=after, code=code)
    return replace(reply, **given)


def error(reply: Reply) -> Body:
    """Give the body of an error."""
    inner = {"code": reply.code, "message": reply.message, "status": STATUSES.get(reply.code, "")}
    return {"error": {**inner, "details": [*reply.details]} if reply.details else inner}


@dataclass(frozen=True)
class Recorded:
    """A request as it came; header names in lower case."""

    path: str
    headers: dict[str, str]
    content: bytes
    body: Body


class FakeGeminiApi(Loopback):
    """A server on a free port of loopback, in a thread of its own."""

    cache: CacheSimulator | None = None
    """What is cached, by which usage that is not scripted is told."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.refused: list[str] = []
        self.issued: dict[str, Body] = {}
        self.connections = 0
        self._scripted: list[Reply] = []
        self._lock = threading.Lock()
        super().__init__(_connection(self))

    @property
    def url(self) -> str:
        return self.origin

    def script(self, *replies: Reply) -> None:
        """Queue answers; when they run out, a plain text answers."""
        with self._lock:
            self._scripted.extend(replies)

    def take(self, path: str, headers: dict[str, str], raw: bytes) -> Reply:
        """Record a request, check it as the API would, and choose the answer."""
        with self._lock:
            body = json.loads(raw)
            self.requests.append(Recorded(path, headers, raw, body))
            if headers.get("x-goog-api-key") != KEY:
                info = {"@type": f"{TYPE}.ErrorInfo", "reason": "API_KEY_INVALID"}
                return refuses(400, "API key not valid. Please pass a valid API key.", info)
            if reason := self._reason(path, headers, raw, body):
                self.refused.append(reason)
                return refuses(400, reason)
            reply = self._scripted.pop(0) if self._scripted else says("as you wish")
            for part in reply.parts:
                if signature := part.get("thoughtSignature"):
                    self.issued[signature] = part
            if self.cache is None or reply.usage or reply.failure == "status":
                return reply
            before = [*body.get("tools", []), body.get("systemInstruction", {})]
            told = self.cache.request({"model": path}, [*before, *body["contents"]])
            read = told["cache_read_input_tokens"]
            whole = read + told["input_tokens"]
            usage = {"promptTokenCount": whole, "cachedContentTokenCount": read}
            return replace(reply, usage={**usage, "totalTokenCount": whole + 9})

    def _reason(self, path: str, headers: dict[str, str], raw: bytes, body: Body) -> str | None:
        address, query = urlsplit(path).path, urlsplit(path).query
        version, _, model = unquote(address).strip("/").partition("/models/")
        model, _, method = model.partition(":")
        if (version, method, query) != ("v1beta", "streamGenerateContent", "alt=sse"):
            return f"there is no {path}"
        if headers.get("content-type") != "application/json":
            return f"Unsupported content type {headers.get('content-type')}"
        if len(raw) > MOST_BYTES:
            return "Request payload size exceeds the limit: 20971520 bytes."
        return refusal(model, body, self.issued)


def chunks(reply: Reply, model: str) -> Iterator[Body]:
    """Give an answer's chunks, each a whole GenerateContentResponse."""
    told: Body = {"modelVersion": model, "responseId": "Il0taoSYJ5Cez7IP"}
    if reply.blocked:
        usage = {"promptTokenCount": 9, "totalTokenCount": 9}
        yield {"promptFeedback": {"blockReason": reply.blocked}, "usageMetadata": usage, **told}
        return
    groups = [reply.parts] if reply.together else [(part,) for part in reply.parts] or [()]
    for number, parts in enumerate(groups, 1):
        last = number == len(groups)
        usage = {"promptTokenCount": 100, "candidatesTokenCount": number, "totalTokenCount": 100}
        candidate: Body = {"index": 0}
        if parts:
            candidate["content"] = {"parts": [*parts], "role": "model"}
        if last:
            candidate["finishReason"] = reply.finish
            usage.update(reply.usage)
        yield {"candidates": [candidate], "usageMetadata": usage, **told}


def _connection(api: FakeGeminiApi) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            api.connections += 1

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            reply = api.take(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            try:
                self._answer(reply, unquote(self.path).partition("/models/")[2].partition(":")[0])
            except (BrokenPipeError, ConnectionResetError):
                api.closed_early.set()
                self.close_connection = True

        def _answer(self, reply: Reply, model: str) -> None:
            if reply.failure == "status":
                self._refuse(reply)
                return
            if reply.failure == "silence":
                api.stalled()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for number, chunk in enumerate(chunks(reply, model)):
                if reply.failure != "none" and number == reply.after:
                    self._break(reply)
                    return
                self._send(f"data: {json.dumps(chunk)}\r\n\r\n".encode())
                time.sleep(reply.pace)
            for more in reply.behind:
                self._send(more)
            if reply.held:
                api.stalled()
            self.wfile.write(b"0\r\n\r\n")

        def _send(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()

        def _break(self, reply: Reply) -> None:
            match reply.failure:
                case "error_chunk":
                    self._send(f"data: {json.dumps(error(reply))}\r\n\r\n".encode())
                case "bare_error":
                    self._send(json.dumps([error(reply)], indent=2).encode())
                case "stall":
                    api.stalled()
                case "drip":
                    while not api.stalled(0.05):
                        self._send(b": \n")
                case "garbage":
                    self._send(b"data: {not json\r\n\r\n")
                case _:
                    pass
            if reply.failure == "drop":
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def _refuse(self, reply: Reply) -> None:
            payload = json.dumps(error(reply), indent=2).encode()
            self.send_response(reply.code)
            self.send_header("content-type", "application/json; charset=UTF-8")
            self.send_header("content-length", str(len(payload)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
