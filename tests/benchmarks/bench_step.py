"""Our own time per step, and what streaming costs: everything but the model's and tools' time.

A step is timed from the moment the model's answer has ended to the next request that the model
gets, with a client's tool that answers at once: logging, durability, rendering, counting,
breakpoints, meter, and the body as JSON. Beside it stand the CPU of this process, of which the body
alone, whose bytes grow with the prompt, and `json.dumps` of the same body, which every client of
the API has to pay. Short outputs let a prompt of 3,000 messages fit every window; `manual` leaves
all in it, `economic` rewrites as it would for anybody, by the usage that the model reports.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from time import perf_counter, process_time

from sidecar.config import Config
from sidecar.config.reload import CurrentSettings
from sidecar.core.conversation.stream import (
    BlockDelta,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
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
SHORT = 400
"""Characters of a short output."""
OUTPUT = "def handler(request):\n    return respond(request, status=200)\n" * 25


@dataclass(frozen=True, slots=True)
class StepTook:
    """Medians in ms: our time of a step, CPU, of which the body's, and `json.dumps` of that.

    `mean` is that of the CPU, with steps in it that are rare and long.
    `grown`: how often the CPU of the first steps the last ones took of the one turn before.
    """

    own: float
    cpu: float
    mean: float
    body: float
    dumps: float
    bytes: int
    grown: float


class TimedModel:
    """Answers at once, and notes when it was asked and when it had answered."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._encoder = Encoder()
        self.left = 0
        self.number = 0
        self.bytes = 0
        self._sent: tuple[tuple[object, ...], int] = ((), 0)
        self.forget()

    def forget(self) -> None:
        """Begin to measure anew."""
        self.asked: list[float] = []
        self.answered: list[float] = []
        self.bodies: list[float] = []
        self.cpu: list[float] = []
        self._used = process_time()

    def dumps(self) -> float:
        """Give the seconds that `json.dumps` takes of the last body, when no step is measured."""
        body = self.body(self._request)
        begun = self._clock()
        json.dumps(body)
        return self._clock() - begun

    def body(self, request: ModelRequest) -> JsonObject:
        """Give the real body."""
        return encode(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Encode as the real model does, then call a tool, or end when enough was asked."""
        begun = process_time()
        self.bytes = len(self._encoder.write(request, stream=True))
        self.bodies.append(process_time() - begun)
        self.asked.append(self._clock())
        self.cpu.append(process_time() - self._used)
        self._request = request
        self.number += 1
        self.left -= 1
        script = (
            calls(
                (f"c{self.number}", "tool", {"path": f"src/file{self.number}.py"}), words="Looking."
            )
            if self.left > 0
            else says("Done.")
        )
        usage = self._billed(request)
        for event in script:
            match event:
                case ResponseStarted(sdk=sdk):
                    yield ResponseStarted("timed", usage, sdk)
                case ResponseFinished(stop=reason, usage=told):
                    self.answered.append(self._clock())
                    self._used = process_time()
                    yield ResponseFinished(reason, replace(usage, output=told.output))
                case _:
                    yield event  # type: ignore[misc]

    def _billed(self, request: ModelRequest) -> Usage:
        """Tell a token for four bytes; what was sent before is read from the cache."""
        messages, tokens = request.prompt.messages, self.bytes // 4
        before, known = self._sent
        read = known if messages[: len(before)] == before else 0
        self._sent = messages, tokens
        return Usage(cache_read=read, cache_write_5m=tokens - read)

    async def ping(self, request: ModelRequest) -> Usage:
        """Read nothing: there is no cache."""
        del request
        return Usage()


class InstantEditor:
    """A client whose tool answers at once, a little different each time."""

    can_read_files = can_write_files = False
    terminals = None

    def __init__(self, characters: int = len(OUTPUT)) -> None:
        self.number = 0
        self._output = OUTPUT[:characters]

    async def call_tool(self, *_: object) -> JsonObject:
        """Give an output, by default of some 1,600 characters."""
        self.number += 1
        return {"content": [{"type": "text", "text": f"# {self.number}\n{self._output}"}]}


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
        ModelAccess(lambda _: model, info, {"timed": ""}, tokenizer(), ColdGate(read_clock)),
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
    characters: int = len(OUTPUT),
    policy: str = "manual",
) -> StepTook:
    """Measure steps of a session of so many messages, whose outputs have so many characters.

    `manual` leaves all of them in the prompt.
    """
    model, editor = TimedModel(clock), InstantEditor(characters)
    store = Store.open(folder, now=read_clock)
    buffers = Buffers()
    config = Config(model="timed", max_steps=100_000, policy=policy)
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
        grown = median(model.cpu[-STEPS:]) / median(model.cpu[STEPS : 2 * STEPS])
        model.forget()
        model.left = STEPS + 1
        await session.prompt(PromptRequest(({"type": "text", "text": "go on"},)))
        own = [
            asked - answered
            for answered, asked in zip(model.answered, model.asked[1:], strict=False)
        ]
        await sessions.open.shutdown()
    took = (own, model.cpu[1:], model.bodies[1:], [model.dumps()])
    own_ms, cpu, body, dumps = (median(some) * 1000 for some in took)
    return StepTook(own_ms, cpu, mean(took[1]) * 1000, body, dumps, model.bytes, grown)


async def stream(deltas: int, folder: Path) -> tuple[float, float]:
    """Give deltas a second that pass through, and the loop's longest gap in ms."""
    model, editor = TimedModel(), InstantEditor()

    async def flood(_: ModelRequest) -> AsyncIterator[StreamEvent]:
        yield started()
        yield says("x")[1]  # type: ignore[misc]
        for _number in range(deltas):
            yield BlockDelta(0, "token ")
        yield stop()

    model.stream = flood  # type: ignore[assignment, method-assign]
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
    print("our own time per step (median of 15), and how often that of the first")
    head = (
        "messages",
        "KB",
        "ours ms",
        "times",
        "CPU ms",
        "times",
        "mean",
        "times",
        "body's",
        "json.dumps",
        "in a turn",
    )
    print(" ".join(f"{name:>10}" for name in head))
    for characters, policy in ((SHORT, "manual"), (len(OUTPUT), "manual"), (SHORT, "economic")):
        print(f"{policy}, outputs of {characters} characters")
        first: StepTook | None = None
        for messages in (100, 300, 1_000, 3_000):
            with tempfile.TemporaryDirectory() as folder:
                given = messages, Path(folder), ignore, perf_counter, characters, policy
                took = asyncio.run(measure(*given))
            first = first or took
            times, more, most = (
                getattr(took, what) / getattr(first, what) for what in ("own", "cpu", "mean")
            )
            cells = f"{messages:>10} {took.bytes / 1000:>10.0f} {took.own:>10.1f} {times:>10.2f}"
            cells += f" {took.cpu:>10.1f} {more:>10.2f} {took.mean:>10.1f} {most:>10.2f}"
            cells += f" {took.body:>10.1f} {took.dumps:>10.1f}"
            cells += f" {took.grown:>10.2f}"
            print(cells, flush=True)
    print("\nstreaming with the meter on (aim: 5,000 a second, no gap of 50 ms)")
    with tempfile.TemporaryDirectory() as folder:
        rate, longest = asyncio.run(stream(20_000, Path(folder)))
    print(f"{rate:>9.0f} deltas a second, longest gap of the loop {longest:.0f} ms")


if __name__ == "__main__":
    main()
