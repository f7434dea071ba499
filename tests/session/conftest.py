"""Sessions over a real store, with a scripted model, a scripted editor and a clock of the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any

import pytest

from sidecar.config import Config
from sidecar.config.layers import Resolved
from sidecar.config.reload import CurrentSettings
from sidecar.core.errors import Cancelled, StorageFailed
from sidecar.core.parts import Json, JsonObject, Message
from sidecar.core.prompt.observation import Observation, PendingObservation, read
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.core.prompt.prompt import ModelRequest, Prompt, flat
from sidecar.model.catalogue import lookup
from sidecar.model.messages.encode import encode
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.sessions import Sessions
from sidecar.session.environment import Environment
from sidecar.session.interface import NewSession, PromptRequest, PromptResult
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Event
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.prefix_gate import ColdGate
from sidecar.store.connection.lease import this_process
from sidecar.store.format.values import StoreChange
from sidecar.store.journal import Store
from sidecar.tools.tool_contract import PermissionOption
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions_watch import InstructionsWatch, ReadInstructions
from sidecar.workspace.shared_snapshots import RECHECK_EVERY, SharedSnapshots
from sidecar.workspace.workspaces import Workspaces
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.scripted_model import Script
from tests.fakes.validation import refusal
from tests.memory import tmp_path
from tests.session import inside
from tests.session.net import Net
from tests.session.work import TOOLS, BilledModel, Worker

__all__ = ["tmp_path"]

LIMIT = 10.0
DEAD_PID = 2**22 + 1
"""Above the largest that Linux gives."""


@dataclass
class Editor:
    """A client whose answers a test sets; it keeps what it was asked."""

    tools: dict[str, Callable[[Json], Any]] = field(default_factory=dict)
    permission: str | None = "allow_once"
    asked: list[JsonObject] = field(default_factory=list)
    called: list[tuple[str, Json]] = field(default_factory=list)
    can_read_files: bool = False
    can_write_files: bool = False
    can_apply_edits: bool = False
    terminals: Any = None
    gone: bool = False
    applied: list[tuple[str, str]] = field(default_factory=list)

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        self.applied.append((path, content))
        return True

    async def call_tool(self, session_id: str, call_id: str, name: str, tool_input: Json) -> Any:
        self.called.append((name, tool_input))
        answer = self.tools[name](tool_input)
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, str):
            return {"content": [{"type": "text", "text": answer}]}
        return answer

    async def request_permission(
        self, session_id: str, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        if self.gone:
            raise Cancelled("gone")
        self.asked.append(tool_call)
        return self.permission


@dataclass(repr=False)
class Desk:
    """Running sessions, and everything a test looks at."""

    sessions: Sessions
    model: BilledModel
    editor: Editor
    store: Store
    workspace: Path
    world: "World"
    events: list[Event] = field(default_factory=list)
    happened: asyncio.Condition = field(default_factory=asyncio.Condition)
    group: asyncio.TaskGroup | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def watch(self, event: Event) -> None:
        self.events.append(event)
        self.changed.set()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, found: Callable[[], bool]) -> None:
        """Wait for an event that makes `found` true."""
        async with asyncio.timeout(LIMIT):
            while not found():
                self.changed.clear()
                await self.changed.wait()

    async def open(self, **given: Any) -> Session:
        request = NewSession(cwd=str(self.workspace), **given)
        opened = await self.sessions.new(request, self.editor, self.watch)
        return await self.sessions.get(opened.session_id)

    async def worker(self, **given: Any) -> Worker:
        """Open a session with a tool that gives long results, and a provider that bills."""
        if self.model.cache is None:
            self.model.cache = CacheSimulator(lambda: self.world.time / 1000)
        return Worker(self, await self.open(tools=TOOLS, **given))

    def reload(self, config: Config) -> None:
        """Have the sessions take settings over that were read again."""
        self.take(Resolved(config, {}, ()))

    def take(self, resolved: Resolved) -> None:
        known = self.sessions.shared.known
        assert known is not None
        self.sessions.reload(known.settings, resolved)

    async def ask(self, session: Session, text: str = "go", **given: Any) -> PromptResult:
        async with asyncio.timeout(LIMIT):
            return await session.prompt(prompt_of(text, **given))

    def script(self, *responses: Script) -> None:
        self.model.responses.extend(responses)

    def prompts(self) -> list[Prompt]:
        return [request.prompt for request in self.model.requests]

    def messages(self, session: Session) -> tuple[Message, ...]:
        return inside.messages(session)


def prompt_of(text: str, **given: Any) -> PromptRequest:
    return PromptRequest(({"type": "text", "text": text},), **given)


async def no_instructions(cwd: str, trusted: bool) -> tuple[()]:
    return ()


@dataclass
class World:
    """What survives a daemon: the folder, the clock, and how many ids were minted."""

    folder: Path
    workspace: Path
    time: int = 1_700_000_000_000
    minted: int = 0
    moves_prefix: bool = False
    config: Config = field(default_factory=Config)
    net: Net = field(default_factory=Net)
    open: list[Sessions] = field(default_factory=list)
    sleepers: list[tuple[int, asyncio.Event]] = field(default_factory=list)
    slept: asyncio.Event = field(default_factory=asyncio.Event)
    instructions: ReadInstructions = no_instructions
    watch: InstructionsWatch = field(init=False)
    follows: bool = False
    recheck_every: int = RECHECK_EVERY
    known: ModelInfo | None = None
    shared: SharedSnapshots | None = None
    observed: list[Observation] = field(default_factory=list)

    def now(self) -> int:
        self.time += 1
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Sleep until the test lets that much time pass."""
        woken = asyncio.Event()
        sleeper = (self.time + round(seconds * 1000), woken)
        self.sleepers.append(sleeper)
        self.slept.set()
        try:
            await woken.wait()
        finally:
            if sleeper in self.sleepers:
                self.sleepers.remove(sleeper)

    async def let_pass(self, milliseconds: int) -> None:
        """Let time pass, for someone who sleeps."""
        async with asyncio.timeout(LIMIT):
            while not self.sleepers:
                self.slept.clear()
                await self.slept.wait()
        self.time += milliseconds
        for sleeper in [one for one in self.sleepers if one[0] <= self.time]:
            self.sleepers.remove(sleeper)
            sleeper[1].set()

    def snapshots(self, store: Store) -> SharedSnapshots:
        """Files have the real time, so this has it too."""
        self.shared = SharedSnapshots(
            store, self.folder, lambda: round(time() * 1000), recheck_every=self.recheck_every
        )
        return self.shared

    def see(self, unread: Observation | PendingObservation) -> None:
        seen = read(unread)
        if seen is not None:
            self.observed.append(seen)

    def info(self, model_id: str) -> ModelInfo:
        return self.known or info(model_id)

    def new_id(self, prefix: str) -> str:
        self.minted += 1
        return f"{prefix}_{self.minted:08d}"

    @asynccontextmanager
    async def daemon(self, kill: bool = False, name: str = "one") -> AsyncIterator[Desk]:
        """Run sessions over the folder; `kill` ends them without a word."""
        store = Store.open(self.folder, now=self.now)
        model = BilledModel(observe=self._check)
        buffers = Buffers()
        self.watch = InstructionsWatch(self.instructions)
        environment = Environment(
            store=store,
            settings=CurrentSettings(self.config),
            clock=Clock(self.now, self.new_id, self.sleep),
            models=ModelAccess(
                lambda _: model,
                self.info,
                {"scripted": "", "other": ""},
                lambda text: len(text) // 4,
                ColdGate(self.now),
                VOCABULARY,
            ),
            workspaces=Workspaces(
                buffers,
                facts,
                {"PATH": "/usr/bin:/bin"},
                self.watch,
                self.snapshots(store) if self.follows else None,
            ),
            observe=self.see,
        )

        async def open_environment(options: JsonObject, root: Path | None) -> Environment:
            return environment

        # A daemon that will be killed names a process that is dead already, as its pid would be.
        owner = this_process(f"token-{name}-{self.minted}")
        owner = replace(owner, pid=DEAD_PID) if kill else owner
        sessions = Sessions(
            open_environment, buffers, OpenSessions(owner), lambda _: {}, lambda _: "", Path()
        )
        desk = Desk(sessions, model, Editor(), store, self.workspace, self)
        self.open.append(sessions)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(sessions.open.run())
            await asyncio.sleep(0)
            try:
                yield desk
            finally:
                if kill:
                    # What the dying tasks would still write never reaches the disk.
                    store.write = _refused  # type: ignore[method-assign]
                    store.save = lambda *_: None  # type: ignore[method-assign]
                    running.cancel()
                    await asyncio.wait({running})
                    await store.close()
                else:
                    await sessions.open.shutdown()
                self.open.remove(sessions)

    def _check(self, request: ModelRequest) -> None:
        """The net; it finds the session by the turn that the prompt's newest block belongs to."""
        turns = (b.turn_id for b in reversed(flat(request.prompt)) if b.turn_id is not None)
        turn = next(turns, None)
        if turn is None:
            # What is asked with nothing but a text belongs to no place of the conversation.
            assert request.purpose == "summary"
            assert refusal(encode(request)) is None
            return
        logs = [inside.log(s) for sessions in self.open for s in sessions.open]
        log = next(log for log in logs if any(m.turn_id == turn for m in log))
        self.net.check(request, log, moves_prefix=self.moves_prefix)


VOCABULARY = "a quarter of the characters"


def _refused(
    *changes: StoreChange, size: int | None = None, synced: bool = True
) -> "asyncio.Future[None]":
    written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    written.set_exception(StorageFailed("killed", kind="io"))
    return written


async def facts(cwd: str, trusted: bool, shown: JsonObject) -> str:
    return "<context>\nDate: 2026-11-21\n</context>"


def info(model_id: str) -> ModelInfo:
    if model_id in ("scripted", "other"):
        return replace(lookup("claude-sonnet-4-6"), compaction=0)
    return lookup(model_id)


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> World:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes.txt").write_text("alpha\n")
    config = Config(model="scripted", workspace_trusted=True, data_dir=tmp_path / "data")
    marked = request.node.get_closest_marker("moves_prefix") is not None
    return World(tmp_path / "data", workspace, moves_prefix=marked, config=config)


@pytest.fixture
def following(world: World) -> None:
    """Have the world's daemons follow what becomes of the workspace's files."""
    world.follows = True


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    async with world.daemon() as running:
        yield running
