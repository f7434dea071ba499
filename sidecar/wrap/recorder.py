"""Records what passes between an editor and an agent, beside the stream, in another process."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from math import ceil, inf
from time import monotonic

from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.prompt.tokens import Count
from sidecar.core.text.json_text import is_deep, shallow
from sidecar.daemon.windows import Daemon, EditorWindow, TapLine
from sidecar.model.models import Vocabulary
from sidecar.session.desk.open_sessions import (
    HEARTBEAT,
    RecordedSession,
    another_writer,
    begin_beside,
)
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import checked_folder
from sidecar.store.connection.lease import Leases
from sidecar.wire.stderr_log import log_to_stderr, set_log_level
from sidecar.wire.streams import reader, take_stdio, writer
from sidecar.wrap import acp_fold, context_gauge, stream_words, wrapped_commands
from sidecar.wrap.acp_fold import (
    AcpEvent,
    CommandsSeen,
    FolderNamed,
    LoadBegan,
    PromptEnded,
    PromptSeen,
    SessionLeft,
    SessionShown,
    Talk,
)
from sidecar.wrap.frame_reader import ENDED, FrameReader, LineJoiner
from sidecar.wrap.link_frames import (
    DOWN,
    GO,
    HELD,
    KNOWN,
    LINE,
    NUMBER,
    READY,
    UP,
    WORDS,
    frame,
)
from sidecar.wrap.wrapped_session import GAP, SessionWriter, WrappedSession, begun, copied, found

logger = logging.getLogger("sidecar.wrap")

MOST_REPLAYED = 20_000
"""Events of a loaded session's history that are taken."""
LATE = 0.1
"""Seconds after a prompt went on in which no agent has edited anything yet: its model answers."""
MOST_BEHIND = 1.0
"""Seconds that are waited for an agent which is never quiet."""
LIST_AFTER = 0.5
"""Seconds that an agent has to list its commands, before ours are listed alone."""
LONG = 64 * 1024
"""Bytes of a line that is read in a thread."""
UNKNOWN = "Sidecar does not know this session: it began before it was wrapped, or is not recorded."


def record_stdio() -> None:
    """Serves a tap on stdin and stdout until its end."""
    # The tap ends with the editor; what it said is written first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    read, write = take_stdio()
    log_to_stderr("error")
    asyncio.run(_serve(read, write))


async def _serve(read: int, write: int) -> None:
    daemon = Daemon()
    async with asyncio.TaskGroup() as group:
        group.create_task(daemon.sessions.run())
        # The daemon's own tasks begin first.
        await asyncio.sleep(0)
        line = TapLine(
            os.environ, "", set_log_level, reader(read), writer(write), is_left=lambda: False
        )
        try:
            await record(daemon, line)
        finally:
            await daemon.shutdown()
            await daemon.close()
        sys.stderr.flush()
        # Threads that read stdin or wait for a disk would keep the process.
        os._exit(0)


async def record(daemon: Daemon, line: TapLine) -> None:
    """Serves a tap, in the tap's own process or in a daemon that others use, too."""
    line.set_level(line.variables.get("SIDECAR_LOG", "error"))
    window = EditorWindow(daemon, line.variables, line.folder, lambda _: None, _RoughVocabulary())
    try:
        async with asyncio.TaskGroup() as group:
            await Recorder(daemon, window, line, group).run(FrameReader(line.read, group))
    finally:
        window.sessions.leave()
        await window.sessions.shared.give_up()


class _RoughVocabulary(Vocabulary):
    """Nothing is sent to a model from here, so 27 MiB are saved: four characters make a token."""

    name = ""

    async def counter(self) -> Count:
        return lambda text: ceil(len(text) / 4)


class Recorder:
    """Handles frames in order; a failure of one is logged, and the next is taken."""

    def __init__(
        self,
        daemon: Daemon,
        window: EditorWindow,
        line: TapLine,
        group: asyncio.TaskGroup,
    ) -> None:
        self._open, self._window, self._tap, self._group = daemon.sessions, window, line, group
        self._owner = another_writer(daemon.sessions)
        self._agent = ""
        self._talk = Talk()
        self._lines = {UP: LineJoiner(), DOWN: LineJoiner()}
        self._sessions: dict[str, WrappedSession] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._replayed: dict[str, list[AcpEvent]] = {}
        self._told: dict[str, str] = {}

    async def run(self, frames: FrameReader) -> None:
        """Until the tap ends; whatever happens, the sessions are closed."""
        try:
            await self._safely(self._warm_up())
            await self._send(READY)
            await self._take_all(frames)
        finally:
            for name in tuple(self._sessions):
                await self._safely(self._close(name))

    async def _take_all(self, frames: FrameReader) -> None:
        look_at = inf
        while True:
            waits = [one.patience for one in self._sessions.values() if one.patience is not None]
            patience = min(waits, default=inf)
            look_at = min(look_at, monotonic() + max(patience, MOST_BEHIND))
            came = await frames.next(patience if waits else None)
            if came is None or monotonic() > look_at:
                for wrapped in self._sessions.values():
                    await self._safely(wrapped.look_on())
                look_at = inf
            if came == ENDED:
                break
            if came is not None:
                await self._safely(self._take(*came))

    async def _close(self, name: str) -> None:
        wrapped = self._sessions.pop(name)
        try:
            await wrapped.close()
        finally:
            try:
                await self._release(wrapped.session.environment, wrapped.session.id)
            finally:
                self._open.recorded.pop(wrapped.session.id, None)

    async def _release(self, environment: Environment, session_id: SessionId) -> None:
        leases = environment.store.leases
        try:
            await leases.release(session_id, self._owner.token)
        except StorageFailed:
            # On a full disk, say: a daemon that lives on would keep it from all others.
            begin_beside(self._open, _release_later(leases, session_id, self._owner.token))
            raise

    async def _safely(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (SidecarError, OSError) as error:
            logger.error("not recorded: %s", error)  # noqa: TRY400 - told in a sentence
        except Exception:
            logger.exception("not recorded")

    async def _take(self, kind: bytes, content: bytes) -> None:
        match kind:
            case b"U" | b"D":
                for line in self._lines[kind].take(content):
                    await self._message(kind, line)
                    # Others have their turn amid a flood.
                    await asyncio.sleep(0)
            case b"N":
                self._agent = content.decode(errors="replace")
            case b"P":
                await self._prompt(content)
            case b"A":
                await self._asked(content)
            case b"u" | b"d":
                self._lines[kind.upper()].lose()
                for wrapped in self._sessions.values():
                    wrapped.note(GAP)
            case _:
                pass

    # --- messages ----------------------------------------------------------------------------

    async def _message(self, kind: bytes, line: bytes) -> None:
        message = await _read(line)
        if message is None:
            return
        fold = acp_fold.from_editor if kind == UP else acp_fold.from_agent
        self._talk, events = fold(self._talk, message)
        if self._talk.knows_us:
            await self._send(KNOWN)
            self._talk = replace(self._talk, knows_us=False)
        for event in events:
            await self._event(event)

    async def _event(self, event: AcpEvent) -> None:
        name = event.session
        match event:
            case FolderNamed(cwd=cwd):
                snapshots = (await self._ready()).workspaces.snapshots
                with suppress(SidecarError):
                    folder = checked_folder(cwd)
                    if snapshots is not None:
                        snapshots.look_ahead(folder)
                return
            case LoadBegan():
                self._replayed[name] = []
                return
            case SessionShown():
                await self._shown(event)
                return
            case CommandsSeen(names=names):
                self._listed[name] = names
            case _:
                pass
        if name in self._replayed:
            if len(self._replayed[name]) < MOST_REPLAYED:
                self._replayed[name].append(event)
            return
        wrapped = self._sessions.get(name)
        if wrapped is None:
            return
        if isinstance(event, SessionLeft):
            await self._close(name)
            return
        await wrapped.take(event)
        if isinstance(event, PromptEnded) and context_gauge.due(wrapped.gauge):
            wrapped.warned()
            logger.warning("%s", context_gauge.said(wrapped.gauge))
            await self._line(stream_words.said(name, context_gauge.warning(wrapped.gauge)))

    async def _shown(self, shown: SessionShown) -> None:
        name, replayed = shown.session, self._replayed.pop(shown.session, [])
        self._group.create_task(self._list_ours(name))
        if name in self._sessions or not shown.cwd:
            return
        by = SessionWriter(await self._ready(), self._owner, self._release)
        agent, wrapped = self._talk.agent or self._agent, None
        if shown.before:
            wrapped = await found(by, name, shown.cwd, agent, self._open.recorded)
        if shown.source in self._sessions:
            wrapped = await copied(by, name, self._sessions[shown.source], agent)
        is_new = wrapped is None
        if wrapped is None:
            wrapped = await begun(by, name, shown.cwd, agent)
        if shown.model:
            wrapped.model = shown.model
        self._sessions[name] = wrapped
        recorded = RecordedSession(wrapped.session, self._owner, self._tap.is_left)
        self._open.recorded[wrapped.session.id] = recorded
        if is_new:
            await wrapped.history(replayed)
        await self._tell_news(name, wrapped)
        await wrapped.look()

    async def _ready(self) -> Environment:
        """Of no workspace: what a folder sets is for Sidecar's own sessions."""
        return await self._window.sessions.shared.ready()

    async def _warm_up(self) -> None:
        """Before the first prompt, which waits for this."""
        await self._ready()

    async def _list_ours(self, name: str) -> None:
        """Lists our commands where the agent lists none of its own."""
        await asyncio.sleep(LIST_AFTER)
        if name not in self._listed:
            self._listed[name] = ()
            update = {
                "sessionUpdate": stream_words.LIST,
                "availableCommands": stream_words.described(()),
            }
            await self._line(stream_words.notified(name, update))

    # --- prompts and requests ----------------------------------------------------------------

    async def _prompt(self, content: bytes) -> None:
        number, words_before, until = HELD.unpack(content[: HELD.size])
        try:
            message = await _read(content[HELD.size :])
            if message is None:
                return
            self._talk, events = acp_fold.from_editor(self._talk, message)
            for event in events:
                wrapped = self._sessions.get(event.session)
                if wrapped is not None and isinstance(event, PromptSeen):
                    words = self._told.pop(event.session, "") if words_before else ""
                    await wrapped.prompt(event, words, lambda: monotonic() > until + LATE)
                    if (late := monotonic() - until) > LATE:
                        wrapped.came_late(ceil(late * 1000))
        finally:
            await self._send(GO, NUMBER.pack(number))

    async def _asked(self, line: bytes) -> None:
        message = await _read(line) or {}
        name, number = stream_words.session_of(message), message.get("id")
        wrapped, method = self._sessions.get(name), str(message.get("method"))
        if method == "session/prompt":
            prompt = stream_words.params_of(message).get("prompt")
            typed = stream_words.command_in(prompt, self._listed.get(name, ()))
            text = UNKNOWN
            if wrapped is not None and typed is not None:
                text = await wrapped_commands.answer(typed, wrapped)
                await self._tell_news(name, wrapped)
            await self._line(stream_words.said(name, text))
            await self._line(stream_words.answered(number, {"stopReason": "end_turn"}))
            return
        try:
            if wrapped is None:
                await self._line(stream_words.refused(number, UNKNOWN, -32002))
                return
            result = await wrapped_commands.asked(method, _params(message), wrapped)
            await self._tell_news(name, wrapped)
            await self._line(stream_words.answered(number, result))
        except SidecarError as error:
            await self._line(stream_words.refused(number, error.message))
        except Exception as error:
            await self._line(stream_words.refused(number, f"Sidecar failed: {error}"))
            raise

    async def _tell_news(self, name: str, wrapped: WrappedSession) -> None:
        words = wrapped.news()
        if words != self._told.get(name, ""):
            self._told[name] = words
            await self._send(WORDS, json.dumps([name, words]).encode())

    async def _line(self, line: bytes) -> None:
        await self._send(LINE, line)

    async def _send(self, kind: bytes, content: bytes = b"") -> None:
        with suppress(OSError):
            await self._tap.write(frame(kind, content))


async def _release_later(leases: Leases, session_id: SessionId, token: str) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
        with suppress(StorageFailed):
            return await leases.release(session_id, token)


async def _read(line: bytes) -> JsonObject | None:
    return _storable(line) if len(line) < LONG else await asyncio.to_thread(_storable, line)


def _storable(line: bytes) -> JsonObject | None:
    """A message that can be stored: what a tool printed may be nested at will."""
    message = stream_words.read(line)
    if message is None or not is_deep(message):
        return message
    return {name: shallow(value) for name, value in message.items()}


def _params(message: JsonObject) -> JsonObject:
    return stream_words.params_of(message)
