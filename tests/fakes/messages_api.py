"""The Messages API on loopback: streams what a test scripts, refuses what the real one refuses.

with FakeMessagesApi() as api:
    api.script(text("hello"), status(529), drop(after=3))
    ... base_url=api.url ...
    api.requests[0].body, api.refused, api.prefix_breaks

Requests for summaries are kept apart, in `api.summaries`, and answered by `api.summarise`: as
text, or as a compaction where the provider's own was asked for.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.loopback import Loopback
from tests.fakes.scripted_model import SUMMARY
from tests.fakes.validation import Body, first_difference, plain, refusal

ITS_OWN_QUESTION = "Write down what is needed to go on, within <summary></summary>. " * 6
"""Some hundred tokens, as those of Anthropic's that are documented."""
Failure = Literal["none", "status", "error_event", "drop", "stall", "drip", "early_end", "garbage"]


@dataclass(frozen=True)
class Reply:
    """One answer. `after` is how many events come before a failure."""

    blocks: tuple[Body, ...] = ()
    stop: str = "end_turn"
    usage: Body = field(default_factory=dict)
    failure: Failure = "none"
    after: int = 3
    code: int = 200
    error: str = "api_error"
    message: str = "as scripted"
    headers: dict[str, str] = field(default_factory=dict)
    pace: float = 0.0
    piece: int = 7


def text(words: str, **given: Any) -> Reply:
    """Answer with a text."""
    return Reply(({"type": "text", "text": words},), **given)


def tools(*calls: tuple[str, str, Any], words: str = "", **given: Any) -> Reply:
    """Call tools, given as (id, name, input)."""
    said = ({"type": "text", "text": words},) if words else ()
    made = tuple({"type": "tool_use", "id": i, "name": n, "input": v} for i, n, v in calls)
    return Reply((*said, *made), stop="tool_use", **given)


def thinking(words: str, signature: str, then: Reply) -> Reply:
    """Think, signed, and then answer."""
    block = {"type": "thinking", "thinking": words, "signature": signature}
    return replace(then, blocks=(block, *then.blocks))


def status(
    code: int, error: str = "api_error", message: str = "as scripted", **headers: str
) -> Reply:
    """Answer with an HTTP error; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(failure="status", code=code, error=error, message=message, headers=named)


def broken(failure: Failure, after: int = 3, error: str = "overloaded_error") -> Reply:
    """Break off in the middle of a text: error_event, drop, stall, drip, early_end or garbage."""
    words = {"type": "text", "text": "this text will not be finished"}
    return Reply((words,), failure=failure, after=after, error=error)


@dataclass(frozen=True)
class Recorded:
    """A request as it came; header names in lower case."""

    headers: dict[str, str]
    body: Body
    content: bytes = b""


class FakeMessagesApi(Loopback):
    """A server on a free port of loopback, in a thread of its own."""

    def __init__(
        self,
        respond: Callable[[Body, int], Reply] | None = None,
        now: Callable[[], float] = time.monotonic,
        minimum: int = 512,
    ) -> None:
        self.requests: list[Recorded] = []
        self.summaries: list[Recorded] = []
        self.summarise: Callable[[Body, int], Reply] = lambda *_: text(SUMMARY)
        self.refused: list[str] = []
        self.prefix_breaks: list[str] = []
        self.cache = CacheSimulator(now, minimum)
        self._respond = respond
        self._scripted: list[Reply] = []
        self._conversations: dict[str, Body] = {}
        self._signed: dict[str, str] = {}
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        super().__init__(_connection(self))

    @property
    def url(self) -> str:
        """The SDK's base_url."""
        return self.origin

    def script(self, *replies: Reply) -> None:
        """Queue answers; when they run out, `respond` or a plain text answers."""
        with self._lock:
            self._scripted.extend(replies)

    def drop_script(self) -> None:
        """Forget the queued answers that nobody asked for."""
        with self._lock:
            self._scripted.clear()

    def wait_for(self, count: int, limit: float = 30.0) -> None:
        """Wait until so many requests have come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= count, limit)

    def opened(self, path: str, headers: dict[str, str], content: bytes) -> Body | Reply:
        """Give the Messages API's body of what a server was sent, or what that refuses."""
        body: Body = json.loads(content)
        known = path == "/v1/messages"
        return body if known else status(404, "not_found_error", f"no {path}, {headers}")

    content_type = "text/event-stream"

    def frame(self, kind: str, data: Body) -> bytes:
        """Give an event as it is streamed."""
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

    def frame_of_error(self, reply: Reply) -> bytes:
        return self.frame("error", {"error": {"type": reply.error, "message": "mid-stream"}})

    def error(self, reply: Reply) -> tuple[Any, dict[str, str]]:
        """Give a refusal's body and headers."""
        told = {"type": "error", "error": {"type": reply.error, "message": reply.message}}
        return told, reply.headers

    def take(self, headers: dict[str, str], body: Body, content: bytes = b"") -> Reply:
        """Record a request, check it as the API would, and choose the answer."""
        summary = headers.get("x-sidecar-purpose") in ("summary", "compaction")
        with self._arrived:
            kept = self.summaries if summary else self.requests
            kept.append(Recorded(headers, body, content))
            number = len(kept)
            self._arrived.notify_all()
            reason = refusal(body, headers.get("anthropic-beta", ""))
            reason = reason or self._unbound_thinking(body)
            if reason:
                self.refused.append(reason)
                return status(400, "invalid_request_error", reason)
            if not summary:
                self._compare(body)
            reply = self._scripted.pop(0) if self._scripted and not summary else None
        if summary:
            reply = self.summarise(body, number)
        if reply is None:
            reply = self._respond(body, number) if self._respond else text("as you wish")
        if reply.failure == "status" or (reply.usage and "compaction" not in body):
            return reply
        usage = reply.usage or {**self.cache.request(body), "output_tokens": 1}
        if "compaction" in body and not reply.usage:
            question = body["compaction"].get("instructions") or ITS_OWN_QUESTION
            usage["input_tokens"] += self.cache.count(question)
        return (_compacted if "compaction" in body else replace)(reply, usage=usage)

    def _compare(self, body: Body) -> None:
        key = json.dumps(body["messages"][0]["content"][0].get("text", ""))
        before = self._conversations.get(key)
        if before is not None and (difference := first_difference(before, body)):
            self.prefix_breaks.append(difference)
        self._conversations[key] = body

    def _unbound_thinking(self, body: Body) -> str | None:
        """Thinking is bound to everything that stood before it."""
        prefix = json.dumps([plain(t) for t in body.get("tools", [])])
        prefix += json.dumps([plain(b) for b in body.get("system", [])])
        for message in body["messages"]:
            for block in message["content"]:
                if block["type"] == "thinking":
                    bound = self._signed.setdefault(block["signature"], prefix)
                    if bound != prefix:
                        return "Invalid signature in thinking block"
                prefix += plain(block)
        return None


def events(reply: Reply, model: str) -> Iterator[tuple[str, Body]]:
    """Give the events of a reply, pings and a kind that nobody knows among them."""
    usage = {"input_tokens": 0, **reply.usage}
    message = {"id": "msg_fake", "type": "message", "role": "assistant", "model": model}
    yield "message_start", {"message": {**message, "content": [], "usage": usage}}
    yield "ping", {}
    written = 0
    for index, block in enumerate(reply.blocks):
        empty, deltas = _pieces(block, reply.piece)
        written += len(deltas)
        yield "content_block_start", {"index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "some_future_event", {"anything": True}
    final = {"output_tokens": reply.usage.get("output_tokens_final", max(1, written * 2))}
    if "iterations" in usage:
        final = usage
    yield "message_delta", {"delta": {"stop_reason": reply.stop}, "usage": final}
    yield "message_stop", {}


def _compacted(reply: Reply, usage: Body) -> Reply:
    """Put a text into a block that is signed, and what it cost beside the totals."""
    words = "".join(block["text"] for block in reply.blocks if block["type"] == "text")
    whole = words if reply.stop == "end_turn" else ""
    block = {"type": "compaction", "content": words, "signature": f"signed {len(words)}"}
    spent = {**usage, "output_tokens": usage.get("output_tokens_final", max(1, len(words) // 4))}
    entry = {k: v for k, v in spent.items() if k != "output_tokens_final"}
    totals = {
        "input_tokens": 0,
        "output_tokens": 0,
        "iterations": [{"type": "compaction", **entry}],
    }
    stop = "compaction" if whole else reply.stop
    return replace(reply, blocks=(block,) if whole else (), stop=stop, usage=totals)


def _pieces(block: Body, size: int) -> tuple[Body, list[Body]]:
    def cut(words: str) -> list[str]:
        return [words[i : i + size] for i in range(0, len(words), size)]

    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": p} for p in cut(block["text"])]
            return {"type": "text", "text": ""}, deltas
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": p} for p in cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]
        case "tool_use":
            raw = block.get("raw", json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in cut(raw)]
            return {**{k: block[k] for k in ("type", "id", "name")}, "input": {}}, deltas
        case _:
            return block, []


def _connection(api: FakeMessagesApi) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            headers = {k.lower(): v for k, v in self.headers.items()}
            self.close_connection = True
            body = api.opened(self.path, headers, content)
            if isinstance(body, Reply):
                api.refused.append(body.message)
                self._refuse(body)
                return
            reply = api.take(headers, body, content)
            try:
                self._answer(reply, body["model"], streamed=body.get("stream") is True)
            except (BrokenPipeError, ConnectionResetError):
                api.closed_early.set()

        def _answer(self, reply: Reply, model: str, *, streamed: bool) -> None:
            if reply.failure == "status":
                self._refuse(reply)
                return
            if not streamed:
                self._whole(reply, model)
                return
            self.send_response(200)
            self.send_header("content-type", api.content_type)
            self.send_header("connection", "close")
            # A length that is never reached makes an early close visible as a dropped body.
            if reply.failure == "drop":
                self.send_header("content-length", "1000000")
            self.end_headers()
            for number, (kind, data) in enumerate(events(reply, model)):
                if reply.failure != "none" and number == reply.after:
                    self._break(reply)
                    return
                self._send(kind, data)
                time.sleep(reply.pace)

        def _send(self, kind: str, data: Body) -> None:
            self._write(api.frame(kind, data))

        def _write(self, data: bytes) -> None:
            self.wfile.write(data)
            self.wfile.flush()

        def _break(self, reply: Reply) -> None:
            match reply.failure:
                case "error_event":
                    self._write(api.frame_of_error(reply))
                case "stall":
                    api.stalled()
                case "drip":
                    while not api.stalled(0.05):
                        self._write(b":")
                case "garbage":
                    self._write(b"event: content_block_delta\ndata: {not json\n\n")
                case _:
                    pass

        def _refuse(self, reply: Reply) -> None:
            self._json(reply.code, *api.error(reply))

        def _whole(self, reply: Reply, model: str) -> None:
            """Answer without a stream; only what asks for no tokens does that here."""
            usage = {"input_tokens": 0, **reply.usage, "output_tokens": 0}
            message = {"id": "msg_fake", "type": "message", "role": "assistant", "model": model}
            end = {"content": [], "stop_reason": "max_tokens", "usage": usage}
            self._json(200, {**message, **end}, reply.headers)

        def _json(self, code: int, body: Any, headers: dict[str, str]) -> None:
            payload = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.send_header("connection", "close")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
