"""The daemon that a user's windows share, and recorders of wrapped agents, behind a socket."""

import asyncio
import logging
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from time import monotonic

from sidecar import __version__
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.visible import visible_json
from sidecar.daemon.bounded_log import cut_back
from sidecar.daemon.clock_and_ids import seconds
from sidecar.daemon.first_message import first_message, why_alone
from sidecar.daemon.rendezvous import (
    HERE,
    LONGEST,
    MAY,
    MUST,
    WRAPPED,
    Locked,
    identity,
    stopping_path,
    user_of,
)
from sidecar.daemon.windows import ENDING, Daemon, EditorWindow, ServeTap, TapLine
from sidecar.session.desk.open_sessions import give_questions_up, working
from sidecar.wire.server import serve
from sidecar.wire.stderr_log import WINDOW, WindowLog, log_of_windows

CHUNK = 64 * 1024
GREETING = 10.0
"""Seconds for a window to say who it is."""
LINGER = 300.0
"""Seconds after the last window went and the last turn ended, or waits for an answer."""
PATIENCE = 50.0
"""Seconds for turns to end when somebody stops the daemon gently; all ends within a minute."""
AT_ONCE = 3.0
"""Seconds for all to end when somebody does not."""
LOOK = 0.5
"""Seconds between looks at whether anybody is left."""

logger = logging.getLogger("sidecar.daemon")


def reside(descriptor: int, path: str, record: ServeTap) -> None:
    """Serve windows until all are gone for a while; `descriptor`: a listening socket.

    `record` serves taps of wrapped agents.
    """
    log_of_windows()
    # A program that outlives this process would keep windows waiting there.
    os.set_inheritable(descriptor, False)
    try:
        asyncio.run(_Resident(socket.socket(fileno=descriptor), path, record).run())
    except Exception:
        logger.exception("the daemon failed")
    finally:
        os._exit(1)


def _file_at(path: str) -> tuple[int, int] | None:
    """What tells a file from a later namesake."""
    with suppress(OSError):
        about = os.lstat(path)
        return about.st_ino, about.st_ctime_ns
    return None


@dataclass(frozen=True, slots=True)
class _Greeting:
    """Descriptors: `outcome` takes a window's exit code, `log` its stderr.

    Commands need neither; a window does without the latter where descriptors are short.
    """

    wish: str
    variables: dict[str, str]
    folder: str
    outcome: int | None
    log: WindowLog


class _Resident:
    def __init__(self, listener: socket.socket, path: str, record: ServeTap) -> None:
        self._listener = listener
        self._path = path
        self._record = record
        self._taps: dict[socket.socket, asyncio.Task[None]] = {}
        self._daemon = Daemon(resident=True)
        self._socket = _file_at(path)
        self._windows = 0
        self._has_left = False
        self._begun = self._needed = monotonic()
        self._ending = asyncio.Event()
        self._within = ENDING
        self._taken: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        self._listener.setblocking(False)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._ending.set)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._daemon.sessions.run())
            accepting = group.create_task(self._accept(group))
            lonely = group.create_task(self._until_alone())
            ended = group.create_task(self._ending.wait())
            await asyncio.wait({lonely, ended}, return_when=asyncio.FIRST_COMPLETED)
            accepting.cancel()
            lonely.cancel()
            ended.cancel()
            self._leave()
            self._vanish()
            until = monotonic() + self._within
            await self._end_records()
            await self._daemon.shutdown(max(until - monotonic(), 0))
            await self._daemon.close()
            sys.stderr.flush()
            # Leaving the loop would wait for threads, and for what has not ended in time.
            os._exit(0)

    async def _accept(self, group: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:
                # Of too many open files, say, which those who are here need not suffer from.
                logger.warning("no window can be taken: %s", error.strerror)
                await asyncio.sleep(LOOK)
                continue
            task = group.create_task(self._take(connection))
            self._taken.add(task)
            task.add_done_callback(self._taken.discard)

    async def _take(self, connection: socket.socket) -> None:
        """A window's or command's, whose failure is nobody else's."""
        with connection:
            connection.setblocking(False)
            greeting = await _greeted(connection)
            if greeting is None:
                return
            try:
                if self._has_left and greeting.wish in (MUST, MAY, WRAPPED):
                    return
                await asyncio.get_running_loop().sock_sendall(connection, HERE)
                match greeting.wish:
                    case wish if wish in (MUST, MAY):
                        await self._serve(connection, greeting)
                    case wish if wish == WRAPPED:
                        await self._record_for(connection, greeting)
                    case "status":
                        async with asyncio.timeout(GREETING):
                            loop = asyncio.get_running_loop()
                            await loop.sock_sendall(connection, self._status())
                    case "stop" | "stop now":
                        await self._stop(gently=greeting.wish == "stop")
                    case unknown:
                        logger.warning("nobody knows the wish %r", unknown)
            except Exception:
                logger.exception("a window failed")
            finally:
                greeting.log.close()
                if greeting.outcome is not None:
                    os.close(greeting.outcome)

    def _status(self) -> bytes:
        """One line, for `sidecar status`."""
        opened, recorded = self._daemon.sessions, self._daemon.sessions.recorded
        known = {session.id: session for session in opened}
        sessions: list[Json] = [
            {
                "sessionId": name,
                "title": session.row.title,
                "cwd": session.row.cwd,
                "busy": recorded[name].busy if name in recorded else session.prompts.busy,
                "windows": len(known[name].audience.connected) if name in known else 0,
                "wrapped": name in recorded,
            }
            for name, session in {**known, **{n: o.session for n, o in recorded.items()}}.items()
        ]
        about: JsonObject = {
            "pid": os.getpid(),
            "version": __version__,
            "windows": self._windows,
            "wrappedAgents": len(self._taps),
            "stopping": self._has_left,
            "uptimeMs": round((monotonic() - self._begun) * 1000),
            "sessions": sessions,
        }
        return visible_json(about).encode()

    async def _stop(self, *, gently: bool) -> None:
        """Turn new windows away; end once no turn runs, or at once."""
        self._leave()
        self._within = ENDING if gently else AT_ONCE
        until = monotonic() + (PATIENCE if gently else 0)
        while self._daemon.sessions.busy and monotonic() < until:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(LOOK)
        self._ending.set()
        # Who stops it hears of the end by the end of this process.
        await asyncio.Event().wait()

    async def _serve(self, connection: socket.socket, greeting: _Greeting) -> None:
        loop, said = asyncio.get_running_loop(), list[bytes]()
        assert greeting.outcome is not None
        WINDOW.set(greeting.log)
        window = EditorWindow(
            self._daemon, greeting.variables, greeting.folder, greeting.log.set_level
        )

        async def read() -> bytes:
            if said:
                return said.pop()
            try:
                return await loop.sock_recv(connection, CHUNK)
            except OSError:
                return b""

        async def gone() -> None:
            """Nothing more: turns go on."""

        if greeting.wish == MAY:
            first, options = await first_message(read)
            if why := await why_alone(options, greeting.variables):
                os.write(greeting.outcome, why.encode())
                return
            said.append(first)
        self._windows += 1
        try:
            code = await serve(
                window.sessions,
                read,
                partial(loop.sock_sendall, connection),
                version=__version__,
                on_initialized=window.warm_up,
                on_gone=gone,
                outboxes=self._daemon.outboxes,
                is_child=False,
            )
        finally:
            self._windows -= 1
            self._needed = monotonic()
        with suppress(OSError):
            os.write(greeting.outcome, str(code).encode())

    async def _record_for(self, connection: socket.socket, greeting: _Greeting) -> None:
        loop, writing, task = asyncio.get_running_loop(), asyncio.Lock(), asyncio.current_task()
        assert task is not None
        WINDOW.set(greeting.log)

        async def read() -> bytes:
            try:
                return await loop.sock_recv(connection, CHUNK)
            except OSError:
                return b""

        async def write(data: bytes) -> None:
            async with writing:
                await loop.sock_sendall(connection, data)

        variables, folder, level = greeting.variables, greeting.folder, greeting.log.set_level
        is_left = partial(_is_left, connection)
        self._taps[connection] = task
        try:
            await self._record(
                self._daemon, TapLine(variables, folder, level, read, write, is_left)
            )
        finally:
            del self._taps[connection]
            self._needed = monotonic()

    async def _end_records(self) -> None:
        """What taps have sent is recorded, and their sessions are closed."""
        for connection in self._taps:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        if self._taps:
            await asyncio.wait(self._taps.values(), timeout=self._within / 2)

    async def _until_alone(self) -> None:
        linger = seconds("SIDECAR_LINGER", LINGER)
        while True:
            await asyncio.sleep(min(LOOK, linger))
            with suppress(OSError):
                cut_back(sys.stderr.fileno())
            if self._taken or working(self._daemon.sessions):
                self._needed = monotonic()
            elif monotonic() - self._needed >= linger:
                give_questions_up(self._daemon.sessions)
                return

    def _leave(self) -> None:
        """New windows start another; commands find this one."""
        if self._has_left:
            return
        self._has_left = True
        # Where somebody removed the socket, another daemon's may be in its place.
        with suppress(OSError), Locked(self._path, LOOK):
            if _file_at(self._path) == self._socket:
                os.rename(self._path, stopping_path(self._path))

    def _vanish(self) -> None:
        """Turns newcomers away."""
        # The loop would take the next file of this number for the socket.
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        with suppress(OSError):
            os.unlink(stopping_path(self._path))


def _is_left(connection: socket.socket) -> bool:
    """Whether the other end is closed, though there may be more to read."""
    look = select.poll()
    look.register(connection, getattr(select, "POLLRDHUP", 0))
    return bool(look.poll(0))


async def _greeted(connection: socket.socket) -> _Greeting | None:
    """`None` for another user, silence, or who wants another daemon."""
    descriptors: list[int] = []
    try:
        if user_of(connection) != os.getuid():
            return None
        async with asyncio.timeout(GREETING):
            await _readable(connection)
            head, descriptors, _, _ = socket.recv_fds(connection, 4, 2)
            data = await _piece(connection, int.from_bytes(head, "big"))
        for descriptor in descriptors:
            # Else programs that the daemon starts would hold the window's process up.
            os.set_inheritable(descriptor, False)
        name, wish, folder, *pairs = os.fsdecode(data).split("\0")
        variables = dict(pair.split("=", 1) for pair in pairs)
        if name == identity(variables, __version__):
            # It arrives only where this process has a number free for it.
            outcome = descriptors.pop(0) if descriptors else None
            if outcome is None and wish in (MUST, MAY):
                logger.warning("no window can be taken: its descriptor did not arrive")
                return None
            log = WindowLog(descriptors.pop() if descriptors else None)
            # Until all its settings are read.
            log.set_level(variables.get("SIDECAR_LOG", ""))
            return _Greeting(wish, variables, folder, outcome, log)
    except (OSError, ValueError):
        return None
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return None


async def _readable(connection: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


async def _piece(connection: socket.socket, size: int) -> bytes:
    """Raises OSError for less, or for more than `LONGEST`."""
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < size <= LONGEST and (
        more := await loop.sock_recv(connection, size - len(data))
    ):
        data += more
    if len(data) < size:
        raise ConnectionError("half a greeting")
    return data
