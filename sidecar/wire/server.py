"""Serves one client."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from sidecar.config.loading import unknown_options
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.session.desk.sessions import Sessions
from sidecar.session.log.events import Watcher
from sidecar.wire.acp.acp_connection import AgentConnection
from sidecar.wire.acp.face import AgentFace
from sidecar.wire.client_requests import ERROR, shown
from sidecar.wire.connection import Connection, folder_at, path_of
from sidecar.wire.dispatch import AT_ONCE, Dispatch, Handler
from sidecar.wire.framing import Broken, Frame, FrameDecoder
from sidecar.wire.methods import (
    checkpoint_methods,
    context_methods,
    daemon_methods,
    editor_methods,
    fact_methods,
    history_methods,
    session_methods,
    stored_methods,
    sync_methods,
)
from sidecar.wire.methods.actions import offer_actions
from sidecar.wire.methods.command_methods import Commands
from sidecar.wire.outbox import Outbox
from sidecar.wire.plain_editor import PlainEditor
from sidecar.wire.protocol import SidecarProtocol, language_server
from sidecar.wire.streams import ReadBytes, WriteBytes

PARENT_EVERY = 3.0
"""Seconds between looks at whether the editor still lives."""
MOST_PID = 2**31 - 1
"""Highest process id of any system; larger ones raise errors."""
ARRIVAL = 10.0
"""Seconds for prompts of a client that went to stand in line."""
PACE = 0.02
"""Seconds for answers in between, after as many requests as are worked on at once."""
FLUSH = 1.0
"""Seconds to write the last answers when the connection ends."""

logger = logging.getLogger("sidecar.wire")


async def serve(
    sessions: Sessions,
    read: ReadBytes,
    write: WriteBytes,
    *,
    version: str,
    on_initialized: Callable[[], Awaitable[None]],
    on_gone: Callable[[], Awaitable[None]],
    outboxes: list[Outbox] | None = None,
    is_child: bool = True,
) -> int:
    """Serves until `exit`, end of stream or the client's death; returns the exit code.

    The first byte tells the protocol. `on_initialized`, for slow loading, follows the answer to
    `initialize`; `on_gone` precedes the last answers. `outboxes` hold this client's meanwhile.
    `is_child`: this process ends with its parent.
    """
    outbox = Outbox(write, sessions.open.revision_of)
    decoder = FrameDecoder()
    first = await _first(read, decoder)
    if decoder.framing is None:
        await on_gone()
        return 1
    outbox.framing = decoder.framing
    later = asyncio.Event()
    parent: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
    async with AsyncExitStack() as leaving, asyncio.TaskGroup() as group:
        if outboxes is not None:
            outboxes.append(outbox)
            leaving.callback(outboxes.remove, outbox)
        leaving.push_async_callback(sessions.shared.give_up)
        join = agent_face if decoder.framing == "lines" else editor_face
        served = join(sessions, outbox, group, version=version, parent=parent, later=later)
        # A request that ended late may have attached the client once more.
        leaving.callback(_detach, sessions, served)
        writing = group.create_task(outbox.run())
        loading = group.create_task(_after(later, on_initialized))
        reading = group.create_task(_read(read, decoder, first, served, outbox))
        watching = group.create_task(_until_orphaned(parent, is_child=is_child))
        await asyncio.wait({reading, writing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            # A client that was killed may have sent more, which waits to be read.
            await asyncio.wait({reading}, timeout=FLUSH)
        code = served.exit_code()
        served.connection.requests.close()
        if reading.done() and code is None:
            # A client that closes its input may still read its answers.
            await served.dispatch.settle(FLUSH)
        with suppress(TimeoutError):
            async with asyncio.timeout(ARRIVAL):
                await served.arrivals()
        _detach(sessions, served)
        sessions.leave()
        await on_gone()
        outbox.close()
        await asyncio.wait({writing}, timeout=FLUSH)
        for task in (reading, writing, watching, loading, *served.under_way()):
            task.cancel()
    return served.end_code if code is None else code


@dataclass(frozen=True, slots=True)
class Served:
    """A client being served; `end_code`: for a stream that ends without `exit`.

    `arrivals` waits until prompts are in line.
    """

    connection: Connection
    dispatch: Dispatch
    exit_code: Callable[[], int | None]
    under_way: Callable[[], tuple[asyncio.Task[None], ...]]
    arrivals: Callable[[], Awaitable[None]]
    watchers: tuple[Watcher, ...]
    end_code: int


def _detach(sessions: Sessions, served: Served) -> None:
    for watcher in served.watchers:
        sessions.open.detach(watcher)


def editor_face(
    sessions: Sessions,
    outbox: Outbox,
    group: asyncio.TaskGroup,
    *,
    version: str,
    parent: "asyncio.Future[int | None]",
    later: asyncio.Event,
) -> Served:
    connection = Connection(outbox)
    server = language_server(version)
    protocol = server.protocol
    assert isinstance(protocol, SidecarProtocol)
    sessions.documents.editor = connection
    editor_methods.follow_documents(server, sessions.documents)
    editor_methods.follow_cancellations(server, sessions.open)

    async def greet(params: JsonObject) -> None:
        if not parent.done():
            parent.set_result(_editor(params))
        for unknown in unknown_options(_options(params)):
            connection.log.once(unknown)
        problem = sessions.shared.configure(_options(params), _root(params))
        if problem:
            connection.requests.notify("window/showMessage", shown(ERROR, problem))
        later.set()

    editor = PlainEditor(connection)
    commands = Commands(sessions, editor, group)
    commands.offer(server)
    offer_actions(server, connection)
    protocol.begin(connection, outbox, all_handlers(sessions), greet)
    dispatch = Dispatch(connection.requests, outbox, group, protocol)

    def under_way() -> tuple[asyncio.Task[None], ...]:
        return (*dispatch.under_way(), *commands.under_way())

    async def arrivals() -> None:
        await dispatch.arrivals()
        await commands.arrivals()

    watchers = (connection.watch, editor.watch)
    return Served(
        connection, dispatch, lambda: protocol.exit_code, under_way, arrivals, watchers, 1
    )


def agent_face(
    sessions: Sessions,
    outbox: Outbox,
    group: asyncio.TaskGroup,
    *,
    version: str,
    parent: "asyncio.Future[int | None]",
    later: asyncio.Event,
) -> Served:
    connection = AgentConnection(outbox, lambda: sessions.shared.known)
    parent.set_result(None)
    face = AgentFace(sessions, connection, all_handlers(sessions), version, later.set)
    dispatch = Dispatch(connection.requests, outbox, group, face)
    watchers = (connection.watch,)
    return Served(
        connection, dispatch, lambda: None, dispatch.under_way, dispatch.arrivals, watchers, 0
    )


def all_handlers(sessions: Sessions) -> Mapping[str, Handler]:
    return {
        **session_methods.handlers(sessions),
        **stored_methods.handlers(sessions),
        **history_methods.handlers(sessions),
        **sync_methods.handlers(sessions),
        **context_methods.handlers(sessions),
        **checkpoint_methods.handlers(sessions),
        **fact_methods.handlers(sessions.shared),
        **daemon_methods.handlers(sessions),
    }


async def _first(read: ReadBytes, decoder: FrameDecoder) -> list[Frame]:
    while decoder.framing is None and (data := await read()):
        if frames := decoder.feed(data):
            return frames
    return []


async def _read(
    read: ReadBytes, decoder: FrameDecoder, frames: list[Frame], served: Served, outbox: Outbox
) -> None:
    taken = 0
    while True:
        for frame in frames:
            served.dispatch.receive(frame)
            taken += 1
            if isinstance(frame, Broken) or served.exit_code() is not None:
                return
        await outbox.readable()
        # Else who sends without end has the loop alone: a read that finds bytes does not wait.
        if taken > AT_ONCE:
            taken = 0
            await asyncio.sleep(PACE if served.dispatch.is_full() else 0)
        if not (data := await read()):
            return
        frames = decoder.feed(data)


async def _after(answered: asyncio.Event, then: Callable[[], Awaitable[None]]) -> None:
    await answered.wait()
    # The answer to `initialize` goes out before anything heavy takes the interpreter.
    await asyncio.sleep(0.02)
    try:
        await then()
    except Exception:
        # Who needs these parts loads them again, or is told why not.
        logger.exception("loading ahead failed")


async def _until_orphaned(parent: "asyncio.Future[int | None]", *, is_child: bool) -> None:
    started_by = os.getppid()
    named = await parent
    while (not is_child or os.getppid() == started_by) and (named is None or _alive(named)):  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(PARENT_EVERY)
    logger.warning("the editor is gone: stopping")


def _editor(params: JsonObject) -> int | None:
    named = params.get("processId")
    if not isinstance(named, int) or isinstance(named, bool):
        return None
    return named if 0 < named <= MOST_PID else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _options(params: JsonObject) -> JsonObject:
    options: Json = params.get("initializationOptions")
    return options if isinstance(options, dict) else {}


def _root(params: JsonObject) -> Path | None:
    folders = params.get("workspaceFolders")
    first = folders[0] if isinstance(folders, list) and folders else None
    uri = first.get("uri") if isinstance(first, dict) else params.get("rootUri")
    path = path_of(uri) if isinstance(uri, str) else None
    return None if path is None else folder_at(path)
