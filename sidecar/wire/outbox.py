"""Keeps messages for one client: bounded, never delaying other clients.

With too many unread answers, the client's requests wait. At the limits, updates are dropped;
`session/changed` has the client catch up by `session/load {after}`.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.wire.framing import Framing, encode

MAX_UPDATES = 5_000
MAX_UPDATE_BYTES = 4 * 1024 * 1024
MAX_ANSWER_BYTES = 16 * 1024 * 1024
BATCH_BYTES = 256 * 1024
HELD = 0.1
"""Seconds in which a client hears once that a session has grown, in the middle of a turn."""

UPDATE, META = ["params", "update"], ["_meta", "sidecar"]
CONTENT_TEXT = ["params", "update", "content", "text"]
"""Keys to a piece's text in a session's update."""

OutgoingKind: TypeAlias = Literal["answer", "update", "chunk", "call", "meter"]


@dataclass(slots=True)
class _Entry:
    kind: OutgoingKind
    message: JsonObject
    size: int
    session_id: str = ""
    key: str = ""


class Outbox:
    """Queues messages; `write` returns once the bytes are on the wire."""

    def __init__(
        self, write: Callable[[bytes], Awaitable[None]], revision_of: Callable[[str], int | None]
    ) -> None:
        self._write = write
        self._revision_of = revision_of
        self._waiting: deque[_Entry] = deque()
        self._meters: dict[str, _Entry] = {}
        self._updates = 0
        self._update_bytes = 0
        self._answer_bytes = 0
        self._lagging: set[str] = set()
        self._grown: dict[str, tuple[JsonObject, asyncio.TimerHandle]] = {}
        self._more = asyncio.Event()
        self._moved = asyncio.Event()
        self._closed = False
        self.framing: Framing = "headers"

    def depth(self) -> int:
        """Waiting messages; from any thread."""
        return len(self._waiting)

    def answer(self, message: JsonObject) -> None:
        """Answers and requests are never dropped."""
        self._add(_Entry("answer", message, _size(message)))

    def update(self, session_id: str, message: JsonObject) -> None:
        self._offer(_Entry("update", message, _size(message), session_id))

    def chunk(self, session_id: str, key: str, message: JsonObject, text: list[str]) -> None:
        """Queues text, or joins it to the last message of the same `key`.

        `text`: keys to the text in the message.
        """
        last = self._waiting[-1] if self._waiting else None
        joins = last is not None and last.kind == "chunk" and last.key == key
        if last is not None and joins and not self._full():
            added = join(last.message, message, text)
            last.size += added
            self._update_bytes += added
            return
        self._offer(_Entry("chunk", message, _size(message), session_id, key))

    def call(self, session_id: str, key: str, message: JsonObject) -> None:
        """Queues a tool call's change, or adds it to the last message if of the same `key`."""
        last = self._waiting[-1] if self._waiting else None
        if last is None or last.kind != "call" or last.key != key or self._full():
            self._offer(_Entry("call", message, _size(message), session_id, key))
            return
        last.message = _both(last.message, message)
        grown = _size(last.message) - last.size
        last.size += grown
        self._update_bytes += grown

    def changed(self, session_id: str, message: JsonObject, *, may_wait: bool) -> None:
        """Queues a new revision; if it `may_wait`, newer ones replace it for `HELD` seconds."""
        waits = self._grown.pop(session_id, None)
        if not may_wait:
            if waits is not None:
                waits[1].cancel()
            self.update(session_id, message)
        elif waits is not None:
            self._grown[session_id] = message, waits[1]
        else:
            later = asyncio.get_running_loop().call_later(HELD, self._tell_grown, session_id)
            self._grown[session_id] = message, later

    def _tell_grown(self, session_id: str) -> None:
        self.update(session_id, self._grown.pop(session_id)[0])

    def meter(self, session_id: str, message: JsonObject) -> None:
        known = self._meters.get(session_id)
        if known is not None:
            known.message = message
            return
        entry = _Entry("meter", message, 1024, session_id)
        self._meters[session_id] = entry
        self._add(entry)

    async def paced(self, session_id: str, message: JsonObject) -> None:
        """Queues an update once there is room, so replays lose nothing."""
        while self._full() and not self._closed:
            self._moved.clear()
            await self._moved.wait()
        self.update(session_id, message)

    async def readable(self) -> None:
        while self._answer_bytes > MAX_ANSWER_BYTES and not self._closed:
            self._moved.clear()
            await self._moved.wait()

    def close(self) -> None:
        self._closed = True
        self._more.set()
        self._moved.set()

    async def run(self) -> None:
        while True:
            if not self._waiting:
                self._resync()
            if not self._waiting:
                if self._closed:
                    return
                self._more.clear()
                await self._more.wait()
                continue
            try:
                await self._write(self._batch())
            except OSError:
                # A client that closes its output is gone; unread updates are in the log.
                return
            self._moved.set()

    def _batch(self) -> bytes:
        data = b""
        while self._waiting and len(data) < BATCH_BYTES:
            entry = self._waiting.popleft()
            if entry.kind == "meter":
                del self._meters[entry.session_id]
            elif entry.kind == "answer":
                self._answer_bytes -= entry.size
            else:
                self._updates -= 1
                self._update_bytes -= entry.size
            data += encode(entry.message, self.framing)
        return data

    def _offer(self, entry: _Entry) -> None:
        if entry.session_id in self._lagging:
            return
        if self._full():
            self._lagging.add(entry.session_id)
            return
        self._updates += 1
        self._update_bytes += entry.size
        self._add(entry)

    def _add(self, entry: _Entry) -> None:
        if entry.kind == "answer":
            self._answer_bytes += entry.size
        self._waiting.append(entry)
        self._more.set()

    def _full(self) -> bool:
        return self._updates >= MAX_UPDATES or self._update_bytes >= MAX_UPDATE_BYTES

    def _resync(self) -> None:
        for session_id in sorted(self._lagging):
            params: JsonObject = {
                "sessionId": session_id,
                "revision": self._revision_of(session_id) or 0,
                "cause": "resync",
            }
            self._lagging.discard(session_id)
            self.update(
                session_id, {"jsonrpc": "2.0", "method": "session/changed", "params": params}
            )


def join(into: JsonObject, more: JsonObject, text: list[str]) -> int:
    """Keeps the newer sequence number; returns the characters added."""
    inner, source = _at(into, text[:-1]), _at(more, text[:-1])
    added = str(source[text[-1]])
    inner[text[-1]] = str(inner[text[-1]]) + added
    meta = [*UPDATE, *META]
    _at(into, meta)["seq"] = _at(more, meta)["seq"]
    return len(added)


def _at(message: JsonObject, path: list[str]) -> JsonObject:
    found: Json = message
    for key in path:
        assert isinstance(found, dict)
        found = found[key]
    assert isinstance(found, dict)
    return found


def _both(first: JsonObject, then: JsonObject) -> JsonObject:
    """Prefers newer fields; a call that appears still does."""
    before, after = _at(first, UPDATE), _at(then, UPDATE)
    update: JsonObject = {**before, **after, "sessionUpdate": before["sessionUpdate"]}
    if "_meta" in before and "_meta" in after:
        about: JsonObject = {**_at(before, META), **_at(after, META)}
        update["_meta"] = {"sidecar": about}
    return {**then, "params": {**_at(then, UPDATE[:1]), "update": update}}


def _size(message: JsonObject) -> int:
    """Estimates bytes in memory."""
    total = 0
    waiting: list[Json] = [message]
    for value in waiting:
        if isinstance(value, str):
            total += 50 + len(value)
        elif isinstance(value, dict):
            total += 64
            waiting += value.values()
        elif isinstance(value, list):
            total += 56
            waiting += value
        else:
            total += 32
    return total
