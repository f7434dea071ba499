"""Speaks ACP on one connection."""

from collections.abc import Callable, Mapping
from pathlib import Path

from sidecar.config.loading import unknown_options
from sidecar.core.errors import SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.session.desk.sessions import Sessions
from sidecar.wire.acp import acp_params, acp_prompt
from sidecar.wire.acp import acp_sessions as session_methods
from sidecar.wire.acp.acp_connection import AgentConnection
from sidecar.wire.acp.acp_errors import AUTH_REQUIRED, agent_fault
from sidecar.wire.acp.acp_names import incoming, outgoing
from sidecar.wire.acp.acp_sessions import AcpMethod, Desk
from sidecar.wire.acp.capabilities import KEY_HELP, KEY_METHOD, welcome
from sidecar.wire.connection import folder_at
from sidecar.wire.dispatch import FORMERLY, DispatchedWork, Handler, Ticket, structure
from sidecar.wire.error_codes import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    RefusedMessage,
)
from sidecar.wire.messages import METHODS

_TRUST = "workspaceTrusted"


class AgentFace:
    """Implements `dispatch.Face`; `on_ready`: once the workspace is known."""

    def __init__(
        self,
        sessions: Sessions,
        connection: AgentConnection,
        ours: Mapping[str, Handler],
        version: str,
        on_ready: Callable[[], None],
    ) -> None:
        self._sessions = sessions
        self._connection = connection
        self._ours = ours
        self._version = version
        self._on_ready = on_ready
        self._options: JsonObject = {}
        self._rooted = False
        self._initialized = False
        desk = Desk(sessions, connection, ours)
        self._methods: dict[str, AcpMethod] = {
            "initialize": (acp_params.Initialize, self._initialize),
            "authenticate": (acp_params.Authenticate, self._authenticate),
            **session_methods.methods(desk),
            **acp_prompt.methods(desk),
        }
        self._desk = desk

    def allow(self, method: str) -> None:
        if not self._initialized and method != "initialize":
            raise RefusedMessage(INVALID_REQUEST, "not_initialized", "send `initialize` first")
        if self._initialized and method == "initialize":
            raise RefusedMessage(
                INVALID_REQUEST, "invalid_request", "`initialize` was answered already"
            )

    def listens(self, method: str) -> bool:
        return self._initialized and (method in self._methods or incoming(method) is not None)

    def answered(self, method: str) -> None:
        if method == "initialize":
            self._initialized = True

    def explain(self, method: str, error: Exception) -> JsonObject | None:  # noqa: ARG002 - see Face
        return agent_fault(error) if isinstance(error, SidecarError) else None

    def work(self, method: str, params: Json, ticket: Ticket) -> DispatchedWork:
        name = incoming(method)
        if name is not None:
            return self._own(name, params, ticket)
        if method not in self._methods:
            hint = f"; `_sidecar/{method}` is ours" if method in METHODS else ""
            text = f"there is no method {method}{hint}"
            raise RefusedMessage(METHOD_NOT_FOUND, "unknown_method", text)
        shape, handle = self._methods[method]
        given = structure(params, shape)
        if method != "initialize":
            self._take_root(method, getattr(given, "cwd", None))
        return lambda: handle(given, ticket)

    def _own(self, name: str, params: Json, ticket: Ticket) -> DispatchedWork:
        name = FORMERLY.get(name, name)
        known, handler = METHODS.get(name), self._ours.get(name)
        if known is None or known.direction != "clientToDaemon":
            raise RefusedMessage(
                METHOD_NOT_FOUND, "unknown_method", f"there is no method {name} of ours"
            )
        if not known.available or handler is None:
            text = f"this version of the daemon does not have {name} yet"
            raise RefusedMessage(METHOD_NOT_FOUND, "not_available", text)
        self._connection.log.unread(outgoing(name), params, known.params)
        given = structure(params, known.params)
        self._take_root(name, getattr(given, "cwd", None))

        async def work() -> Json:
            if name == "session/load":
                await self._desk.enter(given.session_id)
            result = await handler(self._connection, given, ticket)
            made = result.get("sessionId") if isinstance(result, dict) else None
            if isinstance(made, str):
                await self._desk.enter(made)
            return result

        return work

    # --- before any session ------------------------------------------------------------------

    async def _initialize(self, params: acp_params.Initialize, _: Ticket) -> Json:
        self._connection.announce(params.client_capabilities)
        self._options = acp_params.extra(params)
        for problem in unknown_options(self._options):
            self._connection.log.once(problem)
        # Until a folder is named, the client's word of trust is about none.
        trusted = self._options.get(_TRUST) is True
        nameless = {k: v for k, v in self._options.items() if not (trusted and k == _TRUST)}
        problem = self._sessions.shared.configure(nameless, None)
        if problem:
            raise RefusedMessage(
                INVALID_PARAMS, "bad_request", problem, path="params._meta.sidecar"
            )
        return welcome(self._version)

    def _take_root(self, method: str, cwd: object) -> None:
        """Makes the first folder named the configuration's workspace, but for a list's filter."""
        folder = None if self._rooted or "/list" in method else _folder(cwd)
        if folder is not None:
            self._rooted = True
            self._sessions.shared.configure(self._options, folder)
            self._on_ready()

    async def _authenticate(self, params: acp_params.Authenticate, _: Ticket) -> Json:
        if params.method_id != KEY_METHOD:
            text = f"there is no way to authenticate called {params.method_id!r}: use {KEY_METHOD}"
            raise RefusedMessage(INVALID_PARAMS, "bad_request", text, path="params.methodId")
        await self._sessions.shared.warm_up()
        model = self._sessions.status().get("model")
        # Some clients authenticate before anything else, whether or not a key is needed.
        if isinstance(model, dict) and model.get("lacksKey") is True:
            raise RefusedMessage(AUTH_REQUIRED, "authentication", f"there is no key. {KEY_HELP}")
        return {}


def _folder(cwd: object) -> Path | None:
    try:
        return folder_at(cwd) if isinstance(cwd, str) and cwd else None
    except ValueError:
        # The request itself is refused later.
        return None
