"""The composition root of a daemon: joins the parts and serves."""

import asyncio
import logging
import os
import secrets
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sidecar import __version__
from sidecar.config import default_model, load, settings_files
from sidecar.config.layers import Resolved
from sidecar.config.loading import check_options as check_settings
from sidecar.config.loading import resolve_all
from sidecar.config.reload import CurrentSettings, stamps
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.ground import id_source, open_store, read_clock
from sidecar.joining import access, workspaces
from sidecar.model.models import Models
from sidecar.model.stalls import STALL
from sidecar.session.desk.sessions import Sessions
from sidecar.session.desk.settings_reload import follow
from sidecar.session.environment import Environment
from sidecar.session.log.events import AlertChanged
from sidecar.session.transfer.archive import ground_of
from sidecar.session.transfer.sweep import LOOK, Sweeping, quota_event, see_time_pass
from sidecar.session.turn.clock import Clock
from sidecar.store.connection.lease import this_process
from sidecar.store.journal import Store
from sidecar.wire.outbox import Outbox
from sidecar.wire.server import serve
from sidecar.wire.stderr_log import log_to_stderr
from sidecar.wire.streams import reader, take_stdio, writer
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.shared_snapshots import SharedSnapshots
from sidecar.workspace.snapshots.steady_read import Limits
from sidecar.workspace.trust import is_trusted

if TYPE_CHECKING:
    from sidecar.observe.alerts.alerts import Changed
    from sidecar.observe.observer import Observer

logger = logging.getLogger("sidecar.daemon")

LAST_NUMBERS = 1.0
"""Seconds to send metrics and traces when the daemon stops."""
PR_SET_DUMPABLE = 4
"""Of `<linux/prctl.h>`: 0 leaves `/proc` files to root, and dumps no core."""


def serve_stdio() -> None:
    read, write = take_stdio()
    log_to_stderr(os.environ.get("SIDECAR_LOG", "info"))

    async def serve_and_exit() -> None:
        code = await _serve(read, write)
        sys.stderr.flush()
        # Leaving the loop would wait for threads that read stdin, load a library or wait for a
        # tool.
        os._exit(code)

    asyncio.run(serve_and_exit())


async def _serve(read: int, write: int) -> int:
    clock = Clock(read_clock, id_source(read_clock))
    models = Models(read_clock, secrets.SystemRandom().random, *_paces())
    buffers = Buffers()

    async def open_environment(options: JsonObject, root: Path | None) -> Environment:
        # Before anything is run for the model. `ctypes` takes a hundredth of a second.
        await asyncio.to_thread(keep_memory_private)
        read, files = partial(read_settings, options, root), settings_files(root)
        known = await asyncio.to_thread(stamps, files)
        resolved = await asyncio.to_thread(read)
        check_settings(resolved)
        settings, config = CurrentSettings.of(resolved), resolved.config
        logging.getLogger().setLevel(config.log.upper())
        for problem in resolved.problems:
            logger.warning("configuration: %s", problem)

        def take(resolved: Resolved) -> None:
            sessions.reload(resolved)
            observer.configure(settings.config.alerts)
            logging.getLogger().setLevel(settings.config.log.upper())

        models.configure(config)
        store = await _open_in_time(config.data_dir)
        observer = _observer(sessions)
        observer.configure(config.alerts)
        queues = partial(_queues, sessions, outboxes, store)
        await observer.export(config, __version__, os.environ, queues, store.size)
        observers.append(observer)
        snapshots = SharedSnapshots(store, store.folder, read_clock, Limits.of(config.snapshots))
        environment = Environment(
            store=store,
            settings=settings,
            clock=clock,
            models=await access(models),
            workspaces=workspaces(settings, buffers, snapshots),
            observe=observer.take,
        )
        sweeping = Sweeping(
            ground_of(store, read_clock, owner),
            lambda: settings.config.retention,
            lambda quota: sessions.open.tell_all(quota_event(quota, read_clock())),
            swept,
            clock.sleep,
            _seconds("SIDECAR_SWEEP_EVERY", LOOK),
            config.snapshots.workspace_mib,
        )
        instructions, servers = environment.workspaces.instructions, environment.mcp
        works = (instructions.run(), servers.run(), observer.run(), sweeping.run())
        following.extend(map(group.create_task, (*works, follow(files, read, take, known))))
        return environment

    following: list[asyncio.Task[None]] = []
    outboxes: list[Outbox] = []
    observers: list[Observer] = []
    swept: JsonObject = {}
    tell = partial(describe, observers, swept)
    owner = this_process(secrets.token_hex(8))
    sessions = Sessions(open_environment, buffers, owner, tell, check_options)
    async with asyncio.TaskGroup() as group:
        group.create_task(sessions.run())
        try:
            return await serve(
                sessions,
                reader(read),
                writer(write),
                version=__version__,
                on_initialized=lambda: _warm_up(models, sessions),
                on_outbox=outboxes.append,
            )
        finally:
            for observer in observers:
                await observer.close(LAST_NUMBERS)
            for task in following:
                task.cancel()


def keep_memory_private() -> None:
    """Hide this process's memory and environment, with keys, from the same user's others.

    A model's command could read `/proc/PID/environ`, a crash leave a dump. Linux only; off with
    `SIDECAR_DEBUGGABLE=1`.
    """
    if sys.platform == "linux" and os.environ.get("SIDECAR_DEBUGGABLE") != "1":
        libc = import_module("ctypes").CDLL(None)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def read_settings(options: JsonObject, root: Path | None) -> Resolved:
    """With those of a trusted workspace. Blocks."""
    return resolve_all(
        workspace=root,
        environment=os.environ,
        options=options,
        trusted=lambda config: root is not None and is_trusted(config.data_dir, root.resolve()),
    )


def _observer(sessions: Sessions) -> "Observer":
    """Imported late: `initialize` does not need it."""
    from sidecar.observe.observer import Observer  # noqa: PLC0415 - see above

    def tell(change: "Changed") -> None:
        sessions.open.tell_all(alert_event(change))

    return Observer(read_clock, tell, asyncio.get_running_loop().call_later)


def _queues(sessions: Sessions, outboxes: list[Outbox], store: Store) -> dict[str, int]:
    return {
        "prompts": sessions.open.waiting(),
        "client": sum(outbox.depth() for outbox in outboxes),
        "store": store.waiting(),
    }


def alert_event(change: "Changed") -> AlertChanged:
    alert = change.alert
    return AlertChanged(
        change.state,
        alert.name,
        alert.level,
        alert.session_id,
        alert.message,
        alert.action,
        round(alert.value, 4),
        alert.threshold,
        change.at,
    )


async def _open_in_time(folder: Path) -> Store:
    store = await asyncio.to_thread(open_store, folder)
    if not store.read_only:
        await see_time_pass(store.keeping)
    return store


async def _warm_up(models: Models, sessions: Sessions) -> None:
    await sessions.shared.warm_up()
    await models.warm_up()


def check_options(options: JsonObject) -> str:
    try:
        load(workspace=None, environment=os.environ, options=options)
    except BadRequest as error:
        return error.message
    return ""


def describe(
    observers: "list[Observer]", swept: JsonObject, environment: Environment | None
) -> JsonObject:
    about: JsonObject = {
        "version": __version__,
        "pid": os.getpid(),
        "store": None,
        "watcher": None,
        "mcp": [],
        "model": None,
        "metrics": {},
        "alerts": [],
        "settings": {},
    }
    if environment is None:
        return about
    config, store = environment.settings.config, environment.store
    about["settings"] = environment.settings.described
    about["store"] = {
        "path": str(store.folder),
        "bytes": store.size(),
        "readOnly": store.read_only,
        "retention": {**swept},
    }
    about["watcher"] = environment.workspaces.status()
    about["mcp"] = [*environment.mcp.status()]
    metrics = environment.counts.as_json()
    for observer in observers:
        metrics |= {**observer.metrics(), "queues": {**observer.queues()}}
        about["alerts"] = observer.alerts()
    about["metrics"] = metrics
    about["model"] = {
        "id": config.model,
        "provider": config.provider.name,
        "hasKey": bool(config.provider.api_key),
        "lacksKey": config.model != default_model(has_key=False)
        and not (config.provider.api_key or config.provider.base_url),
    }
    return about


def _paces() -> tuple[float, float]:
    """Seconds between the offline model's pieces, and of silence that fails a hosted one."""
    return _seconds("SIDECAR_OFFLINE_PACE", 0.0), _seconds("SIDECAR_MODEL_STALL", STALL)


def _seconds(variable: str, usual: float) -> float:
    try:
        return float(os.environ.get(variable, usual))
    except ValueError:
        return usual
