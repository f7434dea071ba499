"""Repairs pygls, so that each request gets one answer.

pygls 2.1.1 renames params of unknown methods, finds messages inside nested objects, leaves bad
requests unanswered, and writes tracebacks onto the wire. So this module parses messages, and
`_send_data` sends all.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import cattrs
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from sidecar.core.parts import Json, JsonObject
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import FORMERLY, DispatchedWork, Greet, Handler, Ticket, structure
from sidecar.wire.error_codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    RefusedMessage,
)
from sidecar.wire.messages import METHODS, ClientCapabilities, Method
from sidecar.wire.outbox import Outbox

Phase: TypeAlias = Literal["new", "running", "shut down"]


_SHAPELESS = (TypeError, ValueError, KeyError, AttributeError)
"""Of the converter, for params of an unexpected shape."""


_UNFIT = (LookupError, ValueError, TypeError, OSError)
logger = logging.getLogger("sidecar.wire")


class SidecarProtocol(LanguageServerProtocol):
    """One connection's protocol; pygls constructs it, `begin` completes it."""

    # pygls looks at every attribute while it constructs the protocol.
    _exit: int | None = None

    def begin(
        self,
        connection: Connection,
        outbox: Outbox,
        handlers: Mapping[str, Handler],
        greet: Greet,
    ) -> None:
        self._greet = greet
        self._connection = connection
        self._outbox = outbox
        self._handlers = handlers
        self._phase: Phase = "new"

    @property
    def exit_code(self) -> int | None:
        return self._exit

    # --- as a face of the dispatcher ---------------------------------------------------------

    def allow(self, method: str) -> None:
        if self._phase == "shut down":
            text = "the daemon is shutting down: only `exit` is taken now"
            raise RefusedMessage(INVALID_REQUEST, "shut_down", text)
        if self._phase == "new" and method != "initialize":
            raise RefusedMessage(NOT_INITIALIZED, "not_initialized", "send `initialize` first")
        if self._phase == "running" and method == "initialize":
            raise RefusedMessage(
                INVALID_REQUEST, "invalid_request", "`initialize` was answered already"
            )

    def listens(self, method: str) -> bool:
        if method == "exit":
            self._exit = 0 if self._phase == "shut down" else 1
            return False
        return self._phase == "running"

    def answered(self, method: str) -> None:
        if method == "initialize":
            self._phase = "running"
        elif method == "shutdown":
            self._phase = "shut down"

    def explain(self, method: str, error: Exception) -> JsonObject | None:
        if isinstance(error, JsonRpcInvalidParams):
            text = f"the params do not fit {method}: no such command, or other arguments"
            return RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params").error
        if method.startswith("textDocument/did") and isinstance(error, _UNFIT):
            # pygls trusts the editor: the change is to a closed document, or beyond its end.
            logger.warning("%s does not fit what is open: %s", method, type(error).__name__)
            text = f"{method} does not fit what is open"
            return RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params").error
        if method == "initialize" and isinstance(error, ValueError):
            # Folders are read by pygls and by us, and neither is a reader of anything.
            logger.warning("initialize names a folder that is none: %s", error)
            text = "a folder that `initialize` names is no file: URI of an absolute path"
            return RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params").error
        return None

    def work(self, method: str, params: Json, ticket: Ticket) -> DispatchedWork:
        known = METHODS.get(FORMERLY.get(method, method))
        if known is not None and known.direction == "clientToDaemon":
            handler = self._handlers.get(known.name)
            if not known.available or handler is None:
                text = f"this version of the daemon does not have {known.name} yet"
                raise RefusedMessage(METHOD_NOT_FOUND, "not_available", text)
            self._connection.log.unread(known.name, params, known.params)
            structured = structure(params, known.params)
            return lambda: handler(self._connection, structured, ticket)
        builtin = self.fm.builtin_features.get(method) or self.fm.features.get(method)
        message_type = self.get_message_type(method)
        if builtin is None or message_type is None:
            raise RefusedMessage(METHOD_NOT_FOUND, "unknown_method", f"there is no method {method}")
        shaped = self._structure_lsp(message_type, method, params)
        if method == "initialize":
            return lambda: self._initialize(builtin, shaped, params)
        return lambda: self._builtin(builtin, shaped)

    async def _initialize(self, builtin: Callable[..., Any], shaped: object, params: Json) -> Json:
        if isinstance(params, dict):
            capabilities = params.get("capabilities")
            announced = capabilities if isinstance(capabilities, dict) else {}
            self._connection.announce(announced)
            experimental = announced.get("experimental")
            ours = experimental.get("sidecar") if isinstance(experimental, dict) else None
            where = "capabilities.experimental.sidecar"
            self._connection.log.unread(where, ours, ClientCapabilities)
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
            shaped = self._converter.structure(message, message_type).params
        except (cattrs.BaseValidationError, *_SHAPELESS) as error:
            text = f"the params do not fit {method}: see the LSP specification"
            raise RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params") from error
        if not isinstance(getattr(shaped, "token", ""), str | int):
            # The converter lets any value through where there is a choice of plain types.
            text = "a token must be a string or a whole number"
            raise RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params.token")
        return shaped

    async def _builtin(self, handler: Callable[..., Any], params: Any) -> Json:  # noqa: ANN401 - pygls's
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

    # --- messages pygls sends of its own accord ----------------------------------------------

    def _send_data(self, data: object) -> None:
        """Queues data, which pygls would write to stdout at once, logging bodies."""
        self._outbox.answer(self._converter.unstructure(data))


def _is_ours(method: Method) -> bool:
    return method.direction == "clientToDaemon"


def language_server(version: str) -> LanguageServer:
    return LanguageServer(
        "sidecar",
        version,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        protocol_cls=SidecarProtocol,
    )
