"""Serves one client: joins streams, framing, protocol, outbox and handlers, and ends in time."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sidecar.core.parts import Json, JsonObject
from sidecar.session.sessions import Sessions
from sidecar.wire.connection import Connection, path_of
from sidecar.wire.framing import Broken, Decoder
from sidecar.wire.methods import checkpoint, context, daemon, editor, facts, history, session
from sidecar.wire.methods.commands import Commands
from sidecar.wire.outbox import Outbox
from sidecar.wire.plain import PlainEditor
from sidecar.wire.protocol import Handler, SidecarProtocol, language_server
from sidecar.wire.streams import Read, Write

PARENT_EVERY = 3.0
"""Seconds between looks at whether the editor still lives."""
FLUSH = 1.0
"""Seconds that the last answers get to be written when the connection ends."""

logger = logging.getLogger("sidecar.wire")


async def serve(
    sessions: Sessions,
    read: Read,
    write: Write,
    *,
    version: str,
    on_initialized: Callable[[], Awaitable[None]],
) -> int:
    """Serve a client until it says `exit`, its stream ends or it dies; gives the exit code.

    `on_initialized` runs once `initialize` has been answered: for what is slow to load.
    """
    outbox = Outbox(write, sessions.revision_of)
    connection = Connection(outbox)
    server = language_server(version)
    protocol = server.protocol
    assert isinstance(protocol, SidecarProtocol)
    editor.follow_documents(server, sessions)
    editor.follow_cancellations(server, sessions)
    handlers: dict[str, Handler] = {
        **session.handlers(sessions),
        **history.handlers(sessions),
        **context.handlers(sessions),
        **checkpoint.handlers(sessions),
        **facts.handlers(sessions),
        **daemon.handlers(sessions),
    }
    parent: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def greet(params: JsonObject) -> None:
        process_id = params.get("processId")
        if not parent.done():
            parent.set_result(process_id if isinstance(process_id, int) else None)
        problem = sessions.configure(_options(params), _root(params))
        if problem:
            shown: JsonObject = {"type": 1, "message": problem}
            outbox.answer({"jsonrpc": "2.0", "method": "window/showMessage", "params": shown})
        later.set()

    later = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        commands = Commands(sessions, PlainEditor(connection), group)
        commands.offer(server)
        protocol.begin(connection, outbox, group, handlers, greet)
        writing = group.create_task(_write(outbox))
        loading = group.create_task(_after(later, on_initialized))
        reading = group.create_task(_read(read, protocol, outbox))
        watching = group.create_task(_until_orphaned(parent))
        await asyncio.wait({reading, writing, watching}, return_when=asyncio.FIRST_COMPLETED)
        code = protocol.exit_code
        connection.close()
        sessions.detach(connection.watch)
        await sessions.shutdown()
        outbox.close()
        await asyncio.wait({writing}, timeout=FLUSH)
        for task in (
            reading,
            writing,
            watching,
            loading,
            *protocol.under_way(),
            *commands.under_way(),
        ):
            task.cancel()
    return 1 if code is None else code


async def _read(read: Read, protocol: SidecarProtocol, outbox: Outbox) -> None:
    """Take frames until the stream ends or cannot be read, or the client said `exit`."""
    decoder = Decoder()
    while protocol.exit_code is None and (data := await read()):
        for frame in decoder.feed(data):
            outbox.framing = decoder.framing or "headers"
            protocol.receive(frame)
            if isinstance(frame, Broken):
                return
            if protocol.exit_code is not None:
                return
        await outbox.readable()


async def _write(outbox: Outbox) -> None:
    # A client that closes its end is gone; what it did not read is in the log.
    with suppress(OSError):
        await outbox.run()


async def _after(answered: asyncio.Event, then: Callable[[], Awaitable[None]]) -> None:
    await answered.wait()
    # The answer to `initialize` goes out before anything heavy takes the interpreter.
    await asyncio.sleep(0.02)
    await then()


async def _until_orphaned(parent: "asyncio.Future[int | None]") -> None:
    """Wait until the editor is gone: the process it named, or the one that started us."""
    started_by = os.getppid()
    named = await parent
    while os.getppid() == started_by and (named is None or _alive(named)):  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(PARENT_EVERY)
    logger.warning("the editor is gone: stopping")


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
    """Give the workspace's folder: the first that the editor has open."""
    folders = params.get("workspaceFolders")
    first = folders[0] if isinstance(folders, list) and folders else None
    uri = first.get("uri") if isinstance(first, dict) else params.get("rootUri")
    path = path_of(uri) if isinstance(uri, str) else None
    return None if path is None else Path(path)
