"""A model that says what a test tells it, and waits where the test wants it to.

Each response is a list of events; `hold()` in a response waits until the test releases it, and an
exception in it is raised there.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from sidecar.core.conversation.stream import (
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest


class Hold:
    """A place where the model waits; the test sees it arrive and lets it go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()


Script = Sequence["StreamEvent | Hold | Exception"]


def started(prompt: int = 100, **cache: int) -> ResponseStarted:
    """Accept a request whose prompt has so many tokens."""
    return ResponseStarted("scripted", Usage(input=prompt, **cache))


def text(words: str, index: int = 0) -> list[StreamEvent]:
    """Say something, in pieces of four characters."""
    pieces = [BlockDelta(index, words[i : i + 4]) for i in range(0, len(words), 4)]
    return [BlockStarted(index, "text"), *pieces, BlockFinished(index)]


def thought(words: str, signature: str = "sig", index: int = 0) -> list[StreamEvent]:
    """Think, signed."""
    return [
        BlockStarted(index, "reasoning"),
        BlockDelta(index, words),
        BlockMetadata(index, {"signature": signature}),
        BlockFinished(index),
    ]


def call(call_id: str, name: str, tool_input: object, index: int = 1) -> list[StreamEvent]:
    """Call a tool."""
    raw = json.dumps(tool_input)
    return [
        BlockStarted(index, "tool", call_id, name),
        BlockDelta(index, raw[:3]),
        BlockDelta(index, raw[3:]),
        BlockFinished(index, tool_input),
    ]


def stop(reason: str = "end_turn", prompt: int = 100, output: int = 10) -> ResponseFinished:
    """End the answer."""
    return ResponseFinished(reason, Usage(input=prompt, output=output))


def says(words: str, prompt: int = 100) -> Script:
    """Answer with just a text."""
    return [started(prompt), *text(words), stop(prompt=prompt)]


def calls(*tools: tuple[str, str, object], words: str = "", prompt: int = 100) -> Script:
    """Answer with tool calls, given as (id, name, input)."""
    events: list[StreamEvent] = [started(prompt)]
    if words:
        events += text(words)
    for index, (call_id, name, tool_input) in enumerate(tools, 1):
        events += call(call_id, name, tool_input, index)
    return [*events, stop("tool_use", prompt=prompt)]


def write(path: str, content: str, call_id: str = "w") -> tuple[str, str, object]:
    """Give a call of `write_file`, for `calls`."""
    return (call_id, "write_file", {"path": path, "content": content})


def shell(command: str) -> tuple[str, str, object]:
    """Give a call of `shell`, for `calls`."""
    return ("s", "shell", {"command": command})


SUMMARY = """\
## Decisions
- The retry limit stays at three, because the server drops the fourth.
## Next
- Look at the remaining files.
"""
"""What a model writes that is asked for a summary, unless a test says otherwise."""


@dataclass
class ScriptedModel:
    """Gives its responses in order, and keeps every request; pings have `answers` of their own.

    Summaries are answered from `written`, or else with `SUMMARY`, and kept in `summaries`.
    """

    responses: list[Script] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    observe: Callable[[ModelRequest], None] = lambda _: None
    pings: list[ModelRequest] = field(default_factory=list)
    answers: list["Hold | Exception"] = field(default_factory=list)
    summaries: list[ModelRequest] = field(default_factory=list)
    written: list[Script] = field(default_factory=list)

    def body(self, request: ModelRequest) -> JsonObject:
        """Give something that stands for a body."""
        return {"model": request.model, "messages": len(request.prompt.messages)}

    async def ping(self, request: ModelRequest) -> Usage:
        """Keep a ping; `answers` make pings wait or fail."""
        self.pings.append(request)
        self.observe(request)
        match self.answers.pop(0) if self.answers else None:
            case Hold() as hold:
                hold.reached.set()
                await hold.released.wait()
            case Exception() as error:
                raise error
        return Usage()

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Play the next response."""
        summary = request.purpose in ("summary", "compaction")
        (self.summaries if summary else self.requests).append(request)
        self.observe(request)
        if summary:
            script = self.written.pop(0) if self.written else says(SUMMARY)
        else:
            assert self.responses, "the test has no response for this request"
            script = self.responses.pop(0)
        for event in script:
            match event:
                case Hold():
                    event.reached.set()
                    await event.released.wait()
                case Exception():
                    raise event
                case _:
                    yield event
