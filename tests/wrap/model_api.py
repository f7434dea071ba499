"""A model on loopback for agents that are not ours: does as told, in the words of each vendor.

Speaks Anthropic's Messages, OpenAI's Responses and Google's Gemini, as far as four agents use them.
"""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

from tests.benchmarks.turn_script import Edit, Read, Say, Shell
from tests.fakes.loopback import Loopback
from tests.fakes.messages_api import events, text, tools

Body: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[str, Body]


@dataclass(frozen=True, slots=True)
class Hold:
    """The model says nothing until it is let go."""


Act: TypeAlias = Read | Edit | Shell | Say | Hold

ASIDE = '{"reasoning": "It is done.", "next_speaker": "user", "title": "A title."}'
"""To what is asked beside the conversation: a title, who speaks next."""


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    content: bytes
    body: Body


class ModelApi(Loopback):
    """Answers each request of the conversation by the next of `acts`.

    `heard`: requests of the conversation; what is asked beside is answered, and not kept.
    """

    def __init__(self) -> None:
        self.acts: deque[Act] = deque()
        self.heard: list[Asked] = []
        self._arrived = threading.Condition()
        super().__init__(_connection(self))

    def answer(self, path: str, raw: bytes) -> tuple[Act, int]:
        """What the model does, and the request's number."""
        body = json.loads(raw)
        if not _converses(path, body):
            return Say(ASIDE), 0
        with self._arrived:
            self.heard.append(Asked(path, raw, body))
            self._arrived.notify_all()
            return self.acts.popleft() if self.acts else Say("Yes."), len(self.heard)

    def wait_for(self, count: int, limit: float = 60.0) -> None:
        """Waits until so many requests of the conversation have come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.heard) >= count, limit)


def _converses(path: str, body: Body) -> bool:
    beside = "generateContent" in path or "count_tokens" in path or body.get("max_tokens") == 1
    return bool(body.get("tools")) and not beside


def frames(path: str, body: Body, act: Read | Edit | Shell | Say, number: int) -> Iterator[Body]:
    """The stream's events; those with a `type` are named by it."""
    if "/models/" in path:
        yield from _gemini(act, number)
    elif "/responses" in path:
        yield from _responses(act, number)
    else:
        done = text(act.words) if isinstance(act, Say) else _tool(body, act, number)
        for kind, data in events(done, body["model"]):
            # opencode takes no kind that it does not know.
            if kind != "some_future_event":
                yield {"type": kind, **data}


def _tool(body: Body, act: Read | Edit | Shell, number: int) -> Any:
    named = {tool["name"] for tool in body["tools"]}
    name, given = _of_opencode(act) if "bash" in named else _of_claude(act, named)
    return tools((f"toolu_{number}", name, given))


def _of_opencode(act: Read | Edit | Shell) -> Call:
    match act:
        case Read(path):
            return "read", {"filePath": path}
        case Shell(command):
            return "bash", {"command": command, "description": "As asked"}
        case Edit(path, old, new):
            return "edit", {"filePath": path, "oldString": old, "newString": new}


def _of_claude(act: Read | Edit | Shell, named: set[str]) -> Call:
    own = "mcp__acp__" if "mcp__acp__Edit" in named else ""
    match act:
        case Read(path):
            return f"{own}Read", {"file_path": path}
        case Shell(command):
            return "Bash", {"command": command, "description": "As asked"}
        case Edit(path, old, new):
            return f"{own}Edit", {"file_path": path, "old_string": old, "new_string": new}


def _gemini(act: Read | Edit | Shell | Say, number: int) -> Iterator[Body]:
    match act:
        case Say(words):
            part: Body = {"text": words}
        case Read(path):
            part = _function("read_file", number, file_path=path)
        case Shell(command):
            part = _function("run_shell_command", number, command=command, description="As asked")
        case Edit(path, old, new):
            more = {"old_string": old, "new_string": new, "instruction": "As asked"}
            part = _function("replace", number, file_path=path, **more)
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "totalTokenCount": 1020}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    yield {"candidates": [candidate], "usageMetadata": usage, "responseId": f"r{number}"}


def _function(name: str, number: int, **given: str) -> Body:
    return {"functionCall": {"id": f"call_{number}", "name": name, "args": given}}


def _responses(act: Read | Edit | Shell | Say, number: int) -> Iterator[Body]:
    item: Body
    match act:
        case Say(words):
            part = {"type": "output_text", "text": words, "annotations": []}
            item = {"type": "message", "role": "assistant", "content": [part]}
        case Edit(path, old, new):
            hunk = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
            item = {"type": "custom_tool_call", "name": "apply_patch", "input": hunk}
        case Read(path):
            item = _command(f"cat {path}")
        case Shell(command):
            item = _command(command)
    item |= {"id": f"item_{number}"}
    if item["type"] != "message":
        item |= {"call_id": f"call_{number}"}
    yield {"type": "response.created", "response": {"id": f"resp_{number}"}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    if isinstance(act, Say):
        place = {"output_index": 0, "item_id": item["id"], "content_index": 0}
        yield {"type": "response.output_text.delta", **place, "delta": act.words}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020}
    yield {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}}


def _command(command: str) -> Body:
    given = json.dumps({"cmd": command, "yield_time_ms": 10_000})
    return {"type": "function_call", "name": "exec_command", "arguments": given}


def _connection(api: ModelApi) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class
    class Connection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            act, number = api.answer(self.path, raw)
            body = json.loads(raw)
            try:
                if isinstance(act, Hold):
                    api.stalled()
                    return
                made = [*frames(self.path, body, act, number)]
                self._send(body, made)
            except OSError:
                self.close_connection = True

        def handle(self) -> None:
            # A killed agent resets its connections.
            with suppress(ConnectionError):
                super().handle()

        def do_GET(self) -> None:
            self._whole({})

        def _send(self, body: Body, made: list[Body]) -> None:
            if "count_tokens" in self.path:
                self._whole({"input_tokens": 1000})
            elif ":generateContent" in self.path:
                self._whole(made[0])
            elif "/messages" in self.path and not body.get("stream"):
                block = {"type": "text", "text": ASIDE}
                usage = {"input_tokens": 10, "output_tokens": 1}
                told = {"id": "msg_fake", "type": "message", "role": "assistant"}
                told |= {"model": body["model"], "stop_reason": "end_turn"}
                self._whole({**told, "content": [block], "usage": usage})
            else:
                lines = (
                    (f"event: {one['type']}\n" if "type" in one else "")
                    + f"data: {json.dumps(one)}\n\n"
                    for one in made
                )
                self._reply("text/event-stream", "".join(lines).encode())

        def _whole(self, told: Body) -> None:
            self._reply("application/json", json.dumps(told).encode())

        def _reply(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    return Connection
