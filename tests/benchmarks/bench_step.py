"""Our own time per step, and what streaming costs: everything but the model's and tools' time.

A step is timed from the moment the model's answer has ended to the next request that the model
gets, with a client's tool that answers at once: logging, durability, rendering, counting,
breakpoints, meter, and the body as JSON. Beside it stands `json.dumps` of the same body, which
every client of the API has to pay.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

from sidecar.config import Config
from sidecar.config.reload import CurrentSettings
from sidecar.core.conversation.stream import BlockDelta, ResponseFinished, StreamEvent
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.observation import Observe, ignore
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.daemon.clock_and_ids import id_source, read_clock
from sidecar.model.catalogue import lookup
from sidecar.model.messages.encode import Encoder, encode
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.sessions import Sessions
from sidecar.session.environment import Environment
from sidecar.session.interface import NewSession, PromptRequest
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.store.connection.lease import this_process
from sidecar.store.journal import Store
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions_watch import InstructionsWatch
from sidecar.workspace.workspaces import Workspaces
from tests.fakes.scripted_model import calls, says, started, stop
from tests.replay.recorded import tokenizer

STEPS = 15
OUTPUT = "def handler(request):\n    return respond(request, status=200)\n" * 25


class TimedModel:
    """Answers at once, and notes when it was asked and when it had answered."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._encoder = Encoder()
        self.left = 0
        self.number = 0
        self.asked: list[float] = []
        self.answered: list[float] = []
        self.dumps: list[float] = []
        self.bytes = 0

    def body(self, request: ModelRequest) -> JsonObject:
        """Give the real body."""
        return encode(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Encode as the real model does, then call a tool, or end when enough was asked."""
        self.bytes = len(self._encoder.write(request, stream=True))
        self.asked.append(self._clock())
        body = self.body(request)
        begun = self._clock()
        json.dumps(body)
        self.dumps.append(self._clock() - begun)
        self.number += 1
        self.left -= 1
        script = (
            calls(
                (f"c{self.number}", "tool", {"path": f"src/file{self.number}.py"}), words="Looking."
            )
            if self.left > 0
            else says("Done.")
        )
        for event in script:
            if isinstance(event, ResponseFinished):
                self.answered.append(self._clock())
            yield event  # type: ignore[misc]

    async def ping(self, request: ModelRequest) -> Usage:
        """Read nothing: there is no cache."""
        del request
        return Usage()


class InstantEditor:
    """A client whose tool answers at once, a little different each time."""

    can_read_files = can_write_files = False
    terminals = None

    def __init__(self) -> None:
        self.number = 0

    async def call_tool(self, *_: object) -> JsonObject:
        """Give an output of some 1,600 characters."""
        self.number += 1
        return {"content": [{"type": "text", "text": f"# {self.number}\n{OUTPUT}"}]}


def info(_: str) -> ModelInfo:
    """Give a model with a large window."""
    return replace(lookup("claude-opus-5-5"), id="timed")


async def facts(*_: object) -> str:
    """Say nothing of git, which is not ours to time."""
    return "<context>\nDate: 2026-11-21\n</context>"


async def none(*_: object) -> tuple[()]:
    """Give no instructions."""
    return ()


def around(
    store: Store, config: Config, buffers: Buffers, model: TimedModel, observe: Observe = ignore
) -> Environment:
    """Give what sessions stand on, with `model` for whatever is asked for."""
    return Environment(
        store,
        CurrentSettings(config),
        Clock(read_clock, id_source(read_clock)),
        ModelAccess(lambda _: model, info, ("timed",), tokenizer(), ColdGate(read_clock)),
        Workspaces(buffers, facts, {}, InstructionsWatch(none)),
        observe=observe,
    )


def sessions_in(environment: Environment, buffers: Buffers) -> Sessions:
    async def open_environment(*_: object) -> Environment:
        return environment

    opened = OpenSessions(this_process("bench"))
    return Sessions(open_environment, buffers, opened, lambda _: {}, lambda _: "", Path())


async def measure(
    messages: int,
    folder: Path,
    observe: Observe = ignore,
    clock: Callable[[], float] = perf_counter,
) -> tuple[float, float, int]:
    """Give medians in ms: our time per step, `json.dumps` of the body; and the body's bytes."""
    model, editor = TimedModel(clock), InstantEditor()
    store = Store.open(folder, now=read_clock)
    buffers = Buffers()
    config = Config(model="timed", max_steps=100_000)
    environment = around(store, config, buffers, model, observe)

    sessions = sessions_in(environment, buffers)
    tool = ToolSpec("tool", "A tool.", {"type": "object"}, "read", origin="client")
    async with asyncio.TaskGroup() as group:
        group.create_task(sessions.open.run())
        await asyncio.sleep(0)
        request = NewSession(str(folder), tools=(tool,))
        opened = await sessions.new(request, editor, lambda _: None)  # type: ignore[arg-type]
        session = await sessions.get(opened.session_id)
        model.left = messages // 2
        await session.prompt(PromptRequest(({"type": "text", "text": "work"},)))
        model.asked, model.answered, model.dumps, model.left = [], [], [], STEPS + 1
        await session.prompt(PromptRequest(({"type": "text", "text": "go on"},)))
        own = [
            asked - answered
            for answered, asked in zip(model.answered, model.asked[1:], strict=False)
        ]
        await sessions.open.shutdown()
    return median(own) * 1000, median(model.dumps) * 1000, model.bytes


async def stream(deltas: int, folder: Path) -> tuple[float, float]:
    """Give deltas a second that pass through, and the loop's longest gap in ms."""
    model, editor = TimedModel(), InstantEditor()

    async def flood(_: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield started()
        yield says("x")[1]  # type: ignore[misc]
        for _number in range(deltas):
            yield BlockDelta(0, "token ")
        yield stop()

    model.stream = flood  # type: ignore[method-assign]
    store = Store.open(folder, now=read_clock)
    buffers = Buffers()
    environment = around(store, Config(model="timed"), buffers, model)

    sessions = sessions_in(environment, buffers)
    longest = 0.0
    ended = asyncio.Event()

    async def watch_loop() -> None:
        nonlocal longest
        last = perf_counter()
        while not ended.is_set():
            await asyncio.sleep(0)
            now = perf_counter()
            longest, last = max(longest, now - last), now

    async with asyncio.TaskGroup() as group:
        group.create_task(sessions.open.run())
        await asyncio.sleep(0)
        opened = await sessions.new(NewSession(str(folder)), editor, lambda _: None)  # type: ignore[arg-type]
        session = await sessions.get(opened.session_id)
        group.create_task(watch_loop())
        begun = perf_counter()
        await session.prompt(PromptRequest(({"type": "text", "text": "talk"},)))
        took = perf_counter() - begun
        ended.set()
        await sessions.open.shutdown()
    return deltas / took, longest * 1000


def main() -> None:
    """Print the tables."""
    print("our own time per step (median of 15)")
    print(f"{'messages':>9} {'ours ms':>8} {'json.dumps ms':>14} {'body KB':>8}")
    for messages in (100, 300, 1_000, 3_000):
        with tempfile.TemporaryDirectory() as folder:
            own, dumps, size = asyncio.run(measure(messages, Path(folder)))
        print(f"{messages:>9} {own:>8.1f} {dumps:>14.1f} {size / 1000:>8.0f}")
    print("\nstreaming with the meter on (aim: 5,000 a second, no gap of 50 ms)")
    with tempfile.TemporaryDirectory() as folder:
        rate, longest = asyncio.run(stream(20_000, Path(folder)))
    print(f"{rate:>9.0f} deltas a second, longest gap of the loop {longest:.0f} ms")


if __name__ == "__main__":
    main()
