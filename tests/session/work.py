"""Long turns, for what only shows in long sessions: a tool with long results, thinking, a bill."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from sidecar.core.conversation.stream import (
    BlockDelta,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.model.messages.encode import encode
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.scripted_model import (
    Hold,
    Script,
    ScriptedModel,
    call,
    started,
    stop,
    text,
    thought,
)

TOOLS = (ToolSpec("look", "Look at a file.", {"type": "object"}, "read", origin="client"),)
RESULT = "def some_function(argument):\n    return other_function(argument)\n"


@dataclass
class BilledModel(ScriptedModel):
    """A scripted model; with a `cache`, its usage is what the provider would report."""

    cache: CacheSimulator | None = None

    def body(self, request: ModelRequest) -> JsonObject:
        """Give the real body."""
        return encode(request)

    async def ping(self, request: ModelRequest) -> Usage:
        """Have the prompt read, with a bill."""
        await super().ping(request)
        told = None if self.cache is None else self.cache.request(encode(request))
        return Usage() if told is None else _usage(told, 0)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Play the next response, with a bill."""
        told = None if self.cache is None else self.cache.request(encode(request))
        written = 0
        async for event in super().stream(request):
            if isinstance(event, BlockDelta):
                written += len(event.text)
            match event:
                case ResponseStarted() if told is not None:
                    yield replace(event, usage=_usage(told, 1))
                case ResponseFinished() if told is not None:
                    yield replace(event, usage=_usage(told, max(1, written // 4)))
                case _:
                    yield event


def _usage(told: JsonObject, output: int) -> Usage:
    counts: Any = told
    written = counts["cache_creation"]
    return Usage(
        input=counts["input_tokens"],
        cache_read=counts["cache_read_input_tokens"],
        cache_write_5m=written["ephemeral_5m_input_tokens"],
        cache_write_1h=written["ephemeral_1h_input_tokens"],
        output=output,
    )


def looked(given: Any) -> str:
    """Give a long result that is different for each file."""
    path = given["path"]
    return f"# {path} defines marker_{path[4:-3]}\n{RESULT * 120}"


@dataclass(repr=False)
class Worker:
    """Works in a session: turns of some steps, each with a thought, a sentence and a call.

    Python 3.11 spells out the result of a fixture's task: a second for a whole session.
    """

    desk: Any
    session: Any
    done: int = 0
    results: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.desk.editor.tools.setdefault("look", looked)

    def step(self, *, hold: Hold | None = None, first: bool = False) -> Script:
        """Give one answer that calls the tool; it holds before that, or before anything."""
        self.done += 1
        path = f"src/file_{self.done}.py"
        waits = [] if hold is None else [hold]
        events: list[Any] = [started(), *(waits if first else ())]
        events += thought(f"thought {self.done}", f"sig{self.done}")
        events += text(f"Now I look at {path}, because the last one used it.", 1)
        events += () if first else waits
        return [*events, *call(f"call{self.done}", "look", {"path": path}, 2), stop("tool_use")]

    async def turn(self, steps: int, words: str = "Look at the next files.") -> Any:
        """Run a turn of so many steps and a closing answer."""
        self.desk.script(*(self.step() for _ in range(steps)))
        self.desk.script([started(), *text("That is all of them."), stop()])
        result = await self.desk.ask(self.session, words)
        self.results.append(result)
        return result

    async def turns(self, count: int, steps: int = 9) -> None:
        """Run some turns."""
        for _ in range(count):
            result = await self.turn(steps)
            assert result.stop_reason == "end_turn", result.error


async def shown(worker: Worker) -> str:
    """The next request, as it would be sent now."""
    return json.dumps((await worker.session.rewriting.preview(())).body)
