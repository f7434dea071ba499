"""pygls, repaired: LSP's own methods by pygls, ours by the method table, one answer to each.

pygls 2.1.1 turns params of methods it does not know into namedtuples with other keys, looks for
messages inside nested objects, leaves bad requests unanswered, and writes tracebacks onto the
wire. So messages are taken apart here, only LSP's own are structured by its converter, and
everything that leaves passes `_send_data`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import cattrs
import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from sidecar.core.errors import BadRequest, SidecarError, innermost
from sidecar.core.parts import Json, JsonObject
from sidecar.wire.connection import Connection
from sidecar.wire.faults import (
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    Refused,
    fault,
    internal,
)
from sidecar.wire.framing import Arrived, Broken, Frame, Malformed
from sidecar.wire.messages import METHODS, Method
from sidecar.wire.outbox import Outbox

logger = logging.getLogger("sidecar.wire")

Handler: TypeAlias = Callable[[Connection, Any, "Ticket"], Awaitable[Json]]
"""(connection, params as the method table has them, ticket) -> result."""

Work: TypeAlias = Callable[[], Awaitable[Json]]
"""A request or notification with its handler found and its params structured."""

Greet: TypeAlias = Callable[[JsonObject], Awaitable[None]]
"""Called with the params of `initialize`, before it is answered."""

Phase: TypeAlias = Literal["new", "running", "shut down"]


_SHAPELESS = (TypeError, ValueError, KeyError, AttributeError)
"""What the converter raises, besides its own, for params of another shape than it expects."""


class Ticket:
    """One request under way.

    The handler of one that `ends_itself` is told of a cancellation by `on_cancel`, or finds it
    in `cancelled` if it came before; every other's task is cancelled.
    """

    def __init__(self, *, ends_itself: bool = False) -> None:
        self.ends_itself = ends_itself
        self.cancelled = False
        self.on_cancel: Callable[[], None] | None = None


class SidecarProtocol(LanguageServerProtocol):
    """One connection's protocol. `begin` gives it what it works with, as pygls constructs it."""

    # pygls looks at every attribute while it constructs the protocol.
    _exit: int | None = None

    def begin(
        self,
        connection: Connection,
        outbox: Outbox,
        group: asyncio.TaskGroup,
        handlers: Mapping[str, Handler],
        greet: Greet,
    ) -> None:
        """Join the protocol to its connection; `handlers` are those of the method table."""
        self._greet = greet
        self._connection = connection
        self._outbox = outbox
        self._group = group
        self._handlers = handlers
        self._phase: Phase = "new"
        self._under_way: dict[str | int, tuple[Ticket, asyncio.Task[None]]] = {}

    @property
    def exit_code(self) -> int | None:
        """What to exit with, once the client has said `exit`."""
        return self._exit

    def under_way(self) -> tuple[asyncio.Task[None], ...]:
        """Give the tasks of requests that have no answer yet."""
        return tuple(task for _, task in self._under_way.values())

    # --- what comes in -----------------------------------------------------------------------

    def receive(self, frame: Frame) -> None:
        """Take one frame; every request in it gets exactly one answer."""
        match frame:
            case Malformed(reason=reason):
                self._refuse(None, Refused(PARSE_ERROR, "parse_error", reason))
            case Broken(reason=reason):
                text = f"{reason}; the connection cannot be read any further"
                self._refuse(None, Refused(PARSE_ERROR, "parse_error", text))
            case Arrived(value=dict() as message):
                self._message(message)
            case Arrived(value=list()):
                text = "batches are not taken: send messages one by one"
                self._refuse(None, Refused(INVALID_REQUEST, "invalid_request", text))
            case Arrived():
                text = "a message must be a JSON object"
                self._refuse(None, Refused(INVALID_REQUEST, "invalid_request", text))

    def _message(self, message: JsonObject) -> None:
        request_id = message.get("id")
        readable = isinstance(request_id, str | int) and not isinstance(request_id, bool)
        method = message.get("method")
        if method is None and ("result" in message or "error" in message):
            self._connection.answered(request_id, message.get("result"), message.get("error"))
        elif not isinstance(method, str):
            known = request_id if readable else None
            text = "a message must have a method, or be an answer to a request"
            self._refuse(known, Refused(INVALID_REQUEST, "invalid_request", text))
        elif "id" not in message:
            self._notified(method, message.get("params"))
        elif isinstance(request_id, str | int) and readable:
            self._requested(request_id, method, message.get("params"))
        else:
            text = "a request's id must be a string or a whole number"
            self._refuse(None, Refused(INVALID_REQUEST, "invalid_request", text))

    def _requested(self, request_id: str | int, method: str, params: Json) -> None:
        ticket = Ticket(ends_itself=method == "session/prompt")
        try:
            self._allow(request_id, method)
            work = self._work(method, {} if params is None else params, ticket)
        except Refused as refused:
            self._refuse(request_id, refused)
            return
        task = self._group.create_task(self._answer(request_id, method, work))
        self._under_way[request_id] = (ticket, task)
        task.add_done_callback(lambda task: self._ended(request_id, task))

    def _ended(self, request_id: str | int, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(request_id, None)
        if task.cancelled():
            # It was cancelled before its first step, so that it could not answer itself.
            self._refuse(request_id, Refused(CANCELLED, "cancelled", "the request was cancelled"))

    def _notified(self, method: str, params: Json) -> None:
        if method == "exit":
            self._exit = 0 if self._phase == "shut down" else 1
        elif method in ("$/cancelRequest", "$/cancel_request"):
            self._cancel(params)
        elif self._phase == "running":
            try:
                work = self._work(method, {} if params is None else params, Ticket())
            except Refused as refused:
                logger.warning("notification refused: %s: %s", method, refused)
            else:
                self._group.create_task(self._run(method, work))

    def _allow(self, request_id: str | int, method: str) -> None:
        if request_id in self._under_way:
            text = f"a request with the id {request_id!r} is under way: use another"
            raise Refused(INVALID_REQUEST, "invalid_request", text)
        if self._phase == "shut down":
            text = "the daemon is shutting down: only `exit` is taken now"
            raise Refused(INVALID_REQUEST, "shut_down", text)
        if self._phase == "new" and method != "initialize":
            raise Refused(NOT_INITIALIZED, "not_initialized", "send `initialize` first")
        if self._phase == "running" and method == "initialize":
            raise Refused(INVALID_REQUEST, "invalid_request", "`initialize` was answered already")

    def _work(self, method: str, params: Json, ticket: Ticket) -> Work:
        """Find what handles a method, with its params structured; raises Refused."""
        known = METHODS.get(method.removeprefix("_sidecar/"))
        if known is not None and known.direction == "clientToDaemon":
            handler = self._handlers.get(known.name)
            if not known.available or handler is None:
                text = f"this version of the daemon does not have {known.name} yet"
                raise Refused(METHOD_NOT_FOUND, "not_available", text)
            structured = _structure(params, known.params)
            return lambda: handler(self._connection, structured, ticket)
        builtin = self.fm.builtin_features.get(method)
        message_type = self.get_message_type(method)
        if builtin is None or message_type is None:
            raise Refused(METHOD_NOT_FOUND, "unknown_method", f"there is no method {method}")
        shaped = self._structure_lsp(message_type, method, params)
        if method == "initialize":
            return lambda: self._initialize(builtin, shaped, params)
        return lambda: self._builtin(builtin, shaped)

    async def _initialize(self, builtin: Callable[..., Any], shaped: object, params: Json) -> Json:
        """Answer `initialize` with what pygls can do and what we can."""
        if isinstance(params, dict):
            capabilities = params.get("capabilities")
            self._connection.announce(capabilities if isinstance(capabilities, dict) else {})
            await self._greet(params)
        result = await self._builtin(builtin, shaped)
        if isinstance(result, dict) and isinstance(result["capabilities"], dict):
            features = sorted(m.name for m in METHODS.values() if m.available and _is_ours(m))
            sidecar: JsonObject = {"protocolVersion": 1, "features": list(features)}
            result["capabilities"]["experimental"] = {"sidecar": sidecar}
        return result

    def _structure_lsp(self, message_type: type[Any], method: str, params: Json) -> Any:  # noqa: ANN401 - lsprotocol's
        message = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        try:
            return self._converter.structure(message, message_type).params
        except (cattrs.BaseValidationError, *_SHAPELESS) as error:
            text = f"the params do not fit {method}: see the LSP specification"
            raise Refused(INVALID_PARAMS, "bad_request", text, path="params") from error

    async def _builtin(self, handler: Callable[..., Any], params: Any) -> Json:  # noqa: ANN401 - pygls's
        """Run one of pygls's own handlers, which are generators over other handlers."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        key = f"builtin-{id(done)}"

        def finished(future: Any) -> None:  # noqa: ANN401 - concurrent or asyncio
            if done.done():
                return
            error = None if future.cancelled() else future.exception()
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(None if future.cancelled() else future.result())
            self._request_futures.pop(key, None)

        # pygls's `shutdown` cancels every request of its own but the one of this context.
        self._ctx_msg_id.set(key)
        self._execute_handler(key, handler, finished, (params,))
        result = await done
        unstructured: Json = self._converter.unstructure(result)
        return unstructured

    # --- the request boundary ----------------------------------------------------------------

    async def _answer(
        self,
        request_id: str | int,
        method: str,
        work: Work,
    ) -> None:
        """Run a handler and answer, once, whatever happens."""
        try:
            result = await work()
        except asyncio.CancelledError:
            text = "the request was cancelled"
            self._refuse(request_id, Refused(CANCELLED, "cancelled", text))
        except Refused as refused:
            self._refuse(request_id, refused)
        except Exception as error:  # noqa: BLE001 - the one boundary: logged once, answered once
            self._send_error(request_id, self._explain(method, request_id, error))
        else:
            if method == "initialize":
                self._phase = "running"
            elif method == "shutdown":
                self._phase = "shut down"
            self._outbox.answer({"jsonrpc": "2.0", "id": request_id, "result": result})

    async def _run(self, method: str, work: Work) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - a notification has no answer to carry it
            self._explain(method, None, error)

    def _explain(self, method: str, request_id: str | int | None, error: Exception) -> JsonObject:
        error = innermost(error)
        if isinstance(error, SidecarError):
            return fault(error)
        if isinstance(error, JsonRpcInvalidParams):
            text = f"the params do not fit {method}: no such command, or other arguments"
            return Refused(INVALID_PARAMS, "bad_request", text, path="params").error
        logger.error("%s failed, request %s", method, request_id, exc_info=error)
        return internal()

    def _cancel(self, params: Json) -> None:
        request_id = params.get("id") if isinstance(params, dict) else None
        if not isinstance(request_id, str | int) or request_id not in self._under_way:
            return
        ticket, task = self._under_way[request_id]
        ticket.cancelled = True
        if ticket.on_cancel is not None:
            ticket.on_cancel()
        elif not ticket.ends_itself:
            task.cancel()

    def _refuse(self, request_id: Json, refused: Refused) -> None:
        self._send_error(request_id, refused.error)

    def _send_error(self, request_id: Json, error: JsonObject) -> None:
        self._outbox.answer({"jsonrpc": "2.0", "id": request_id, "error": error})

    # --- what pygls sends of itself ----------------------------------------------------------

    def _send_data(self, data: object) -> None:
        """Queue what pygls would write to stdout at once, and log whole."""
        self._outbox.answer(self._converter.unstructure(data))


def _is_ours(method: Method) -> bool:
    return method.direction == "clientToDaemon"


@lru_cache
def _required(shape: type) -> frozenset[str]:
    """Name the fields, as on the wire, that a params struct cannot do without."""
    if not issubclass(shape, msgspec.Struct):
        return frozenset()
    return frozenset(f.encode_name for f in msgspec.structs.fields(shape) if f.required)


def _structure(params: Json, shape: type | None) -> object:
    """Give params as the method table has them.

    Raises:
        BadRequest: naming the field that does not fit.
    """
    if shape is None:
        return params
    if isinstance(params, dict):
        # Many editors write null for what they leave out.
        needed = _required(shape)
        params = {k: v for k, v in params.items() if v is not None or k in needed}
    try:
        return msgspec.convert(params, type=shape)
    except msgspec.ValidationError as error:
        reason, _, where = str(error).partition(" - at `$")
        error_fault = fault(BadRequest(reason, "params" + where.removesuffix("`")))
        refused = Refused(INVALID_PARAMS, "bad_request", reason)
        refused.error = error_fault
        raise refused from None


def language_server(version: str) -> LanguageServer:
    """Make a pygls server with our protocol; one for each connection, for they cannot be shared."""
    return LanguageServer(
        "sidecar",
        version,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        protocol_cls=SidecarProtocol,
    )
