"""A model's API on loopback for thousands of requests: keeps none, and tells how long it took.

Speaks Anthropic's Messages and OpenAI's Responses, as far as three agents use them.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.benchmarks.turn_script import Act, Edit, Read, Say, Shell
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.messages_api import Reply, events, text, tools

PIECE = 20
"""Characters of one event of a stream."""

Body = dict[str, Any]
Events = Iterator[tuple[str, Body]]


class ScriptedApi:
    """Answers each request by the next of `acts`. `seconds` is what it took for all so far."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.acts: deque[Act] = deque()
        self.requests, self.seconds = 0, 0.0
        self._cache = CacheSimulator(now)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _connection(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def events(self, path: str, body: Body, size: int) -> Events:
        """The stream that answers a body of so many bytes."""
        self.requests += 1
        # A compaction's summary is asked for out of turn.
        act = self.acts.popleft() if self.acts else Say("What was done is done.")
        if path.partition("?")[0].endswith("/responses"):
            return _responses(act, self.requests, size // 4)
        named = {tool["name"] for tool in body.get("tools", ())}
        calling = _called_of_opencode if "bash" in named else _called
        reply = text(act.words) if isinstance(act, Say) else tools(calling(act, self.requests))
        usage = {**self._cache.request(body), "output_tokens": 1}
        told = events(Reply(reply.blocks, reply.stop, usage, piece=PIECE), body["model"])
        # Opencode takes no kind that it does not know.
        return ((kind, data) for kind, data in told if kind != "some_future_event")


def _called(act: Read | Shell | Edit, number: int) -> tuple[str, str, Body]:
    match act:
        case Read(path):
            return f"toolu_{number}", "read_file", {"path": path}
        case Shell(command):
            return f"toolu_{number}", "shell", {"command": command}
        case Edit(path, old, new):
            given = {"path": path, "oldText": old, "newText": new}
            return f"toolu_{number}", "edit_file", given


def _called_of_opencode(act: Read | Shell | Edit, number: int) -> tuple[str, str, Body]:
    match act:
        case Read(path):
            return f"toolu_{number}", "read", {"filePath": path}
        case Shell(command):
            return f"toolu_{number}", "bash", {"command": command, "description": "As asked"}
        case Edit(path, old, new):
            given = {"filePath": path, "oldString": old, "newString": new}
            return f"toolu_{number}", "edit", given


def _command(act: Read | Shell | Edit) -> str:
    match act:
        case Read(path):
            return f"cat {path}"
        case Shell(command):
            return command
        case Edit(path, old, new):
            return f'sed -i "s/^{old}$/{new}/" {path}'


def _responses(act: Act, number: int, tokens: int) -> Events:
    yield "response.created", {"response": {"id": f"resp_{number}"}}
    item: Body
    if isinstance(act, Say):
        kind, whole = "output_text", act.words
        part = {"type": "output_text", "text": whole, "annotations": []}
        item = {"type": "message", "role": "assistant", "id": f"msg_{number}"}
        begun, ended = {**item, "content": []}, {**item, "content": [part]}
    else:
        kind = "function_call_arguments"
        whole = json.dumps({"cmd": _command(act), "yield_time_ms": 10_000})
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        item["name"] = "exec_command"
        begun, ended = {**item, "arguments": ""}, {**item, "arguments": whole}
    place = {"output_index": 0, "item_id": item["id"], "content_index": 0}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    for at in range(0, len(whole), PIECE):
        yield f"response.{kind}.delta", {**place, "delta": whole[at : at + PIECE]}
    yield "response.output_item.done", {"output_index": 0, "item": ended}
    usage = {"input_tokens": tokens, "output_tokens": 20, "total_tokens": tokens + 20}
    yield "response.completed", {"response": {"id": f"resp_{number}", "usage": usage}}


def _connection(api: ScriptedApi) -> type[BaseHTTPRequestHandler]:
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Or the answer would wait behind its headers for 40 ms, which looks like an agent's own.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            begun = time.perf_counter()
            sent = b"".join(
                f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
                for kind, data in api.events(self.path, json.loads(raw), len(raw))
            )
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
            api.seconds += time.perf_counter() - begun

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
