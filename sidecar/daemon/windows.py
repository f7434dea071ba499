"""What windows share, and what is each one's own."""

import asyncio
import linecache
import logging
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sidecar import __version__
from sidecar.config import settings_files
from sidecar.config.loading import check_options as check_settings
from sidecar.config.reload import CurrentSettings, stamps
from sidecar.config.settings import keys_of
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject
from sidecar.core.text.redaction import SHORTEST
from sidecar.daemon.clock_and_ids import id_source, read_clock, seconds
from sidecar.daemon.environment_parts import (
    access_to,
    check_options,
    paces,
    read_settings,
    workspaces_of,
)
from sidecar.daemon.one_heap import give_back, share_one_heap
from sidecar.daemon.private_memory import keep_memory_private
from sidecar.daemon.status import SharedStore, alert_event, describe, queues_of
from sidecar.daemon.stores import open_store
from sidecar.model.models import Models, Vocabulary
from sidecar.session.desk.open_sessions import OPENING, OpenSessions
from sidecar.session.desk.sessions import Sessions
from sidecar.session.desk.settings_reload import follow
from sidecar.session.desk.turn_sync import TurnSyncs
from sidecar.session.environment import Environment
from sidecar.session.meter.pause import logged
from sidecar.session.transfer.archive import ground_of
from sidecar.session.transfer.sweep import LOOK, Sweeping, quota_event, see_time_pass
from sidecar.session.turn.clock import Clock
from sidecar.store.connection.lease import this_process
from sidecar.store.journal import Store
from sidecar.tools.mcp.servers import McpServers
from sidecar.wire.outbox import Outbox
from sidecar.wire.stderr_log import set_log_level
from sidecar.wire.streams import ReadBytes, WriteBytes
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.shared_snapshots import SharedSnapshots
from sidecar.workspace.snapshots.steady_read import Limits
from sidecar.workspace.trust import NAME as TRUSTED

if TYPE_CHECKING:
    from sidecar.observe.alerts.alerts import Changed
    from sidecar.observe.observer import Observer


logger = logging.getLogger("sidecar.daemon")

SWITCHES = 0.001
"""Seconds that a thread may keep the event loop waiting; Python gives it five times as many."""
ENDING = 8.0
"""Seconds for all to end when the daemon does: MCP servers may take six."""
LAST_NUMBERS = 1.0
"""Seconds to send metrics and traces when the daemon stops."""


class Daemon:
    """Shared by all windows of a process."""

    def __init__(self, *, resident: bool = False) -> None:
        sys.setswitchinterval(SWITCHES)
        self.resident = resident
        self.clock = Clock(read_clock, id_source(read_clock))
        self.sessions = OpenSessions(this_process(secrets.token_hex(8)))
        self.buffers = Buffers()
        self.vocabulary = Vocabulary()
        self.outboxes: list[Outbox] = []
        self._shared: dict[Path, SharedStore] = {}
        self._opening = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._context = copy_context()
        """Of no window."""

    async def shared(self, settings: CurrentSettings) -> SharedStore:
        """Opened by the first window, whose settings count for sweeps, metrics and snapshots."""
        config = settings.config
        async with self._opening:
            self.sessions.check_running()
            if config.data_dir not in self._shared:
                self._shared[config.data_dir] = await self._open(settings)
            return self._shared[config.data_dir]

    async def _open(self, settings: CurrentSettings) -> SharedStore:
        config, open_sessions = settings.config, self.sessions
        store = await _open_in_time(config.data_dir)
        observer = _observer(open_sessions)
        observer.configure(config.alerts)
        queues = partial(queues_of, open_sessions, self.outboxes, store)
        await observer.export(config, __version__, os.environ, queues, store.size)
        snapshots = SharedSnapshots(store, store.folder, read_clock, Limits.of(config.snapshots))
        swept: JsonObject = {}
        sweeping = Sweeping(
            ground_of(store, read_clock, open_sessions.owner),
            lambda: settings.config.retention,
            lambda quota: open_sessions.tell(quota_event(quota, read_clock())),
            swept,
            self.clock.sleep,
            seconds("SIDECAR_SWEEP_EVERY", LOOK),
            config.snapshots.workspace_mib,
        )
        works = map(logged, (observer.run, sweeping.run, give_back))
        self._tasks += [self.start(work, self._context) for work in works]
        return SharedStore(store, snapshots, observer, swept)

    def start(
        self, work: Coroutine[None, None, None], context: Context | None = None
    ) -> "asyncio.Task[None]":
        assert self.sessions.group is not None
        return self.sessions.group.create_task(work, context=context)

    async def shutdown(self, within: float = ENDING) -> None:
        """Ends sweeps and figures, then sessions, windows and stores.

        What has not ended by then, as a slow disk's read, ends with the process.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                # Of a store opened from here on the tasks would never be ended.
                with suppress(TimeoutError):
                    async with asyncio.timeout(OPENING), self._opening:
                        pass
                for task in self._tasks:
                    task.cancel()
                await self.sessions.shutdown()

    async def close(self) -> None:
        """The process ends next."""
        for shared in self._shared.values():
            await shared.observer.close(LAST_NUMBERS)


@dataclass(frozen=True, slots=True)
class TapLine:
    """A wrapped agent's tap: its variables, folder and log's level, and its bytes.

    `read` gives `b""` once the tap, or the daemon, ends; `is_left` tells so while bytes wait.
    """

    variables: Mapping[str, str]
    folder: str
    set_level: Callable[[str], None]
    read: ReadBytes
    write: WriteBytes
    is_left: Callable[[], bool]


ServeTap: TypeAlias = Callable[[Daemon, TapLine], Awaitable[None]]


def _holds(value: str, keys: frozenset[str]) -> bool:
    return value in keys or any(len(key) >= SHORTEST and key in value for key in keys)


class EditorWindow:
    """One client's own: variables, settings, key, MCP servers, perhaps its count of tokens."""

    def __init__(
        self,
        daemon: Daemon,
        variables: Mapping[str, str],
        folder: str = "",
        set_level: Callable[[str], None] = set_log_level,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._daemon = daemon
        self._set_level = set_level
        self._variables = variables
        self._vocabulary = vocabulary or daemon.vocabulary
        self._models: Models | None = None
        self._store: SharedStore | None = None
        check = partial(check_options, variables)
        self.sessions = Sessions(
            self._open,
            daemon.buffers,
            daemon.sessions,
            self._describe,
            check,
            Path(folder or os.getcwd()),
        )
        self.sessions.heard = TurnSyncs(self.sessions).heard

    async def _open(self, options: JsonObject, root: Path | None) -> Environment:
        # Before anything is run for the model. `ctypes` takes a hundredth of a second.
        await asyncio.to_thread(keep_memory_private)
        await asyncio.to_thread(share_one_heap)
        # A folder opened through a link keeps its settings when the link moves, as sessions do.
        root = None if root is None else await asyncio.to_thread(root.resolve)
        trusted: set[Path] = set()
        reading = asyncio.Lock()
        read = partial(read_settings, options, root, self._variables, trusted)
        files = settings_files(root)
        known = await asyncio.to_thread(stamps, files)
        resolved = await asyncio.to_thread(read)
        check_settings(resolved)
        # Other windows and daemons add to the list of trusted folders.
        listed = (resolved.config.data_dir / TRUSTED,)
        known += await asyncio.to_thread(stamps, listed)
        settings, config = CurrentSettings.of(resolved), resolved.config
        self._set_level(config.log)
        for problem in resolved.problems:
            logger.warning("configuration: %s", problem)
        dice, resident = secrets.SystemRandom().random, self._daemon.resident
        models = Models(read_clock, dice, *paces(), self._vocabulary, shared=resident)
        models.configure(config)
        self._models = models
        shared = self._store = await self._daemon.shared(settings)

        async def read_again() -> None:
            nonlocal resolved
            async with reading:
                found = await asyncio.to_thread(read)
                if found == resolved:
                    return
                self.sessions.reload(settings, found)
                resolved = found
            shared.observer.configure(settings.config.alerts)
            self._set_level(settings.config.log)

        async def trust(folder: Path) -> None:
            trusted.add(folder)
            await read_again()

        async def end() -> None:
            for task in own:
                task.cancel()
            await asyncio.wait(own)
            await models.aclose()

        keys = frozenset(keys_of(config))
        # `env:VARIABLE` may name one that looks like no secret to who starts commands. It stays,
        # empty: an editor's terminal has its own variables beside ours.
        keyless = {n: "" if _holds(it, keys) else it for n, it in self._variables.items()}
        environment = Environment(
            store=shared.store,
            settings=settings,
            clock=self._daemon.clock,
            models=await access_to(models),
            workspaces=workspaces_of(
                settings, self._daemon.buffers, keyless, root, shared.snapshots
            ),
            observe=shared.observer.take,
            mcp=McpServers(keyless),
            resident=self._daemon.resident,
            end=end,
            trusted=trust,
            root=root,
        )
        instructions, servers = environment.workspaces.instructions, environment.mcp
        following = partial(follow, (*files, *listed), read_again, known)
        works = (instructions.run, servers.run, following)
        own = [self._daemon.start(logged(work)) for work in works]
        return environment

    async def warm_up(self) -> None:
        await self.sessions.shared.warm_up()
        if self._models is not None:
            await self._models.warm_up()
        # Of what libraries generated as they were imported: 2 MiB, for debuggers.
        linecache.clearcache()

    def _describe(self, environment: Environment | None) -> JsonObject:
        return describe(environment, self._store)


async def _open_in_time(folder: Path) -> Store:
    store = await asyncio.to_thread(open_store, folder)
    if not store.read_only:
        await see_time_pass(store.keeping)
    return store


def _observer(sessions: OpenSessions) -> "Observer":
    """Imported late: `initialize` does not need it."""
    from sidecar.observe.observer import Observer  # noqa: PLC0415 - see above

    def tell(change: "Changed") -> None:
        alert = alert_event(change)
        sessions.tell(alert, alert.session_id)

    return Observer(read_clock, tell, asyncio.get_running_loop().call_later)
