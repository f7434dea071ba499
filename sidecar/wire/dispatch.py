"""Handles JSON-RPC for LSP and ACP: exactly one answer to each request."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import msgspec

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, SidecarError, innermost
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import DEEPEST, is_deep
from sidecar.wire.client_requests import ClientRequests
from sidecar.wire.connection import Connection
from sidecar.wire.error_codes import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    OUT_OF_MEMORY,
    PARSE_ERROR,
    RefusedMessage,
    fault,
    internal,
)
from sidecar.wire.framing import Arrived, Broken, DroppedMessage, Frame, Malformed
from sidecar.wire.outbox import Outbox

logger = logging.getLogger("sidecar.wire")

AT_ONCE = 32
"""One connection's requests in progress; others wait in order."""


FORMERLY: Mapping[str, str] = {
    "context/undo_compaction": "context/undoCompaction",
    "session/find_files": "session/findFiles",
}
"""Deprecated names that answer on, and the methods that they name."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One request in progress.

    A handler that `ends_itself` learns of a cancellation by `on_cancel`, or by `cancelled` if
    earlier; tasks of other handlers are cancelled. `on_answered` runs once the result is queued.
    `arrived`: set once a prompt is in line.
    """

    ends_itself: bool = False
    cancelled: bool = False
    on_cancel: Callable[[], None] | None = None
    on_answered: Callable[[], None] | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)


Handler: TypeAlias = Callable[[Connection, Any, Ticket], Awaitable[Json]]
"""(connection, params of the table's struct, ticket) -> result."""

DispatchedWork: TypeAlias = Callable[[], Awaitable[Json]]
"""A handler with structured params."""

Greet: TypeAlias = Callable[[JsonObject], Awaitable[None]]
"""Called with `initialize`'s params, before the answer."""


class Face(Protocol):
    """Handles one protocol."""

    def allow(self, method: str) -> None:
        """Raises RefusedMessage for a method out of turn."""
        ...

    def listens(self, method: str) -> bool:
        """Other notifications are dropped."""
        ...

    def work(self, method: str, params: Json, ticket: Ticket) -> DispatchedWork:
        """Binds a handler to structured params; raises RefusedMessage."""
        ...

    def answered(self, method: str) -> None: ...

    def explain(self, method: str, error: Exception) -> JsonObject | None:
        """Returns `None` for an unexpected error."""
        ...


class Dispatch:
    """Tracks a connection's requests, in both directions."""

    def __init__(
        self, requests: ClientRequests, outbox: Outbox, group: asyncio.TaskGroup, face: Face
    ) -> None:
        self._requests = requests
        self._outbox = outbox
        self._group = group
        self._face = face
        self._under_way: dict[str | int, tuple[Ticket, asyncio.Task[None]]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._first = asyncio.Lock()

    def under_way(self) -> tuple[asyncio.Task[None], ...]:
        return tuple(task for _, task in self._under_way.values())

    def is_full(self) -> bool:
        return len(self._under_way) > 2 * AT_ONCE

    async def settle(self, limit: float) -> None:
        """Waits up to `limit` seconds for answers, except those of prompts."""
        asked = [task for ticket, task in self._under_way.values() if not ticket.ends_itself]
        if asked:
            await asyncio.wait(asked, timeout=limit)

    async def arrivals(self) -> None:
        """Waits until prompts sent so far are in line."""
        for ticket, _ in tuple(self._under_way.values()):
            if ticket.ends_itself:
                await ticket.arrived.wait()

    # --- receiving ---------------------------------------------------------------------------

    def receive(self, frame: Frame) -> None:
        match frame:
            case Malformed(reason=reason):
                self._refuse(None, RefusedMessage(PARSE_ERROR, "parse_error", reason))
            case Broken(reason=reason):
                text = f"{reason}; the connection cannot be read any further"
                self._refuse(None, RefusedMessage(PARSE_ERROR, "parse_error", text))
            case DroppedMessage(head=head):
                self._not_taken(head, RefusedMessage(INTERNAL_ERROR, "internal", OUT_OF_MEMORY))
            case Arrived(value=dict() as message):
                self._message(message)
            case Arrived(value=list()):
                text = "batches are not taken: send messages one by one"
                self._refuse(None, RefusedMessage(INVALID_REQUEST, "invalid_request", text))
            case Arrived():
                text = "a message must be a JSON object"
                self._refuse(None, RefusedMessage(INVALID_REQUEST, "invalid_request", text))

    def _message(self, message: JsonObject) -> None:
        request_id, method = _id_of(message), message.get("method")
        if is_deep(message):
            # Deep nesting would overflow the stack.
            text = f"a message may hold {DEEPEST} lists and objects within one another at most"
            refused = RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params")
            self._not_taken(message, refused)
        elif method is None and ("result" in message or "error" in message):
            self._requests.answered(request_id, message.get("result"), message.get("error"))
        elif not isinstance(method, str):
            text = "a message must have a method, or be an answer to a request"
            self._refuse(request_id, RefusedMessage(INVALID_REQUEST, "invalid_request", text))
        elif "id" not in message:
            self._notified(method, message.get("params"))
        elif request_id is not None:
            self._requested(request_id, method, message.get("params"))
        else:
            text = "a request's id must be a string or a whole number"
            self._refuse(None, RefusedMessage(INVALID_REQUEST, "invalid_request", text))

    def _not_taken(self, message: JsonObject, refused: RefusedMessage) -> None:
        request_id, method = _id_of(message), message.get("method")
        if method is None and ("result" in message or "error" in message):
            self._requests.answered(request_id, None, refused.error)
        elif isinstance(method, str) and "id" not in message:
            logger.warning("notification refused: %s: %s", method, refused)
        else:
            self._refuse(request_id, refused)

    def _requested(self, request_id: str | int, method: str, params: Json) -> None:
        ticket = Ticket(ends_itself=method.endswith("session/prompt"))
        try:
            self._allow(request_id, method)
            work = self._face.work(method, {} if params is None else params, ticket)
        except RefusedMessage as refused:
            self._refuse(request_id, refused)
            return
        except Exception as error:  # noqa: BLE001 - one message must not end all sessions
            self._send_error(request_id, self._explain(method, request_id, error))
            return
        task = self._group.create_task(self._answer(request_id, method, work, ticket))
        self._under_way[request_id] = (ticket, task)
        task.add_done_callback(lambda task: self._ended(request_id, task))
        task.add_done_callback(lambda _: ticket.arrived.set())

    def _allow(self, request_id: str | int, method: str) -> None:
        if request_id in self._under_way:
            text = f"a request with the id {request_id!r} is under way: use another"
            raise RefusedMessage(INVALID_REQUEST, "invalid_request", text)
        self._face.allow(method)

    def _ended(self, request_id: str | int, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(request_id, None)
        if task.cancelled():
            # Cancelled before its first step, the task could not answer.
            self._refuse(
                request_id, RefusedMessage(CANCELLED, "cancelled", "the request was cancelled")
            )

    def _notified(self, method: str, params: Json) -> None:
        if method in ("$/cancelRequest", "$/cancel_request"):
            self._cancel(params)
        elif self._face.listens(method):
            try:
                work = self._face.work(method, {} if params is None else params, Ticket())
            except RefusedMessage as refused:
                logger.warning("notification refused: %s: %s", method, refused)
            except Exception as error:  # noqa: BLE001 - as for a request; nothing carries it
                self._explain(method, None, error)
            else:
                self._group.create_task(self._run(method, work))

    # --- the request boundary ----------------------------------------------------------------

    async def _answer(
        self, request_id: str | int, method: str, work: DispatchedWork, ticket: Ticket
    ) -> None:
        try:
            result = await self._in_turn(method, work, ticket)
        except asyncio.CancelledError:
            text = "the request was cancelled"
            self._refuse(request_id, RefusedMessage(CANCELLED, "cancelled", text))
        except RefusedMessage as refused:
            self._refuse(request_id, refused)
        except Exception as error:  # noqa: BLE001 - the one boundary: logged once, answered once
            self._send_error(request_id, self._explain(method, request_id, error))
        else:
            self._face.answered(method)
            self._outbox.answer({"jsonrpc": "2.0", "id": request_id, "result": result})
            if ticket.on_answered is not None:
                ticket.on_answered()

    async def _in_turn(self, method: str, work: DispatchedWork, ticket: Ticket) -> Json:
        """Runs a handler once its answer has room.

        Reads are not paused: thousands of requests may be read already, and cancellations must
        pass.
        """
        if ticket.ends_itself or method == "shutdown":
            # A prompt waits for people, has its session's own queue, and has a small answer.
            return await work()
        async with self._turn:
            # One by one, so that the first to wait is the first to begin.
            async with self._first:
                await self._outbox.readable()
            return await work()

    async def _run(self, method: str, work: DispatchedWork) -> None:
        try:
            await work()
        except RefusedMessage as refused:
            logger.warning("notification refused: %s: %s", method, refused)
        except Exception as error:  # noqa: BLE001 - a notification has no answer to carry it
            self._explain(method, None, error)

    def _explain(self, method: str, request_id: str | int | None, error: Exception) -> JsonObject:
        error = innermost(error)
        told = self._face.explain(method, error)
        if told is not None:
            return told
        if isinstance(error, SidecarError):
            return fault(error)
        logger.error("%s failed, request %s", method, request_id, exc_info=error)
        return internal(error)

    def _cancel(self, params: Json) -> None:
        named = params if isinstance(params, dict) else {}
        # LSP says `id`, ACP says `requestId`.
        request_id = named.get("id", named.get("requestId"))
        if not isinstance(request_id, str | int) or request_id not in self._under_way:
            return
        ticket, task = self._under_way[request_id]
        ticket.cancelled = True
        if ticket.on_cancel is not None:
            ticket.on_cancel()
        elif not ticket.ends_itself:
            task.cancel()

    def _refuse(self, request_id: Json, refused: RefusedMessage) -> None:
        self._send_error(request_id, refused.error)

    def _send_error(self, request_id: Json, error: JsonObject) -> None:
        self._outbox.answer({"jsonrpc": "2.0", "id": request_id, "error": error})


def _id_of(message: JsonObject) -> str | int | None:
    found = message.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


@lru_cache
def _required(shape: type) -> frozenset[str]:
    if not issubclass(shape, msgspec.Struct):
        return frozenset()
    return frozenset(f.encode_name for f in msgspec.structs.fields(shape) if f.required)


def structure(params: Json, shape: type | None) -> Any:  # noqa: ANN401 - of the given shape
    """Raises RefusedMessage, naming the invalid field."""
    if shape is None:
        return params
    if isinstance(params, dict):
        # Many editors write null for absent fields.
        needed = _required(shape)
        params = {k: v for k, v in params.items() if v is not None or k in needed}
    try:
        return msgspec.convert(params, type=shape)
    except msgspec.ValidationError as error:
        said = str(error)
        # The message may repeat the input, however long.
        reason, mark, where = said.rpartition(" - at `$")
        reason, where = (reason, where) if mark else (said, "")
        error_fault = fault(BadRequest(reason, "params" + where.removesuffix("`")))
        refused = RefusedMessage(INVALID_PARAMS, "bad_request", reason)
        refused.error = error_fault
        raise refused from None
    except UnicodeEncodeError:
        text = "a text in the params holds half a character, which no value has"
        raise RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params") from None
