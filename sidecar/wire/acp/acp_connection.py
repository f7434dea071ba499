"""One ACP client."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from sidecar.core.parts import JsonObject, SessionId
from sidecar.core.text.visible import clipped, visible, visible_json, visible_lines
from sidecar.session.log.events import (
    AlertChanged,
    ContentChunk,
    Event,
    MeterChanged,
    OptionsChanged,
    SessionChanged,
    StatusChanged,
    TextChunk,
    ToolChanged,
    ToolOutputChunk,
)
from sidecar.tools.tool_contract import PermissionOption
from sidecar.wire.acp.acp_names import outgoing
from sidecar.wire.acp.acp_updates import text_update, update
from sidecar.wire.acp.capabilities import Abilities, announced
from sidecar.wire.acp.markdown_answers import fenced
from sidecar.wire.acp.modes import mode_update
from sidecar.wire.acp.terminals import AgentTerminals
from sidecar.wire.client_requests import ClientLog, ClientRequests, inside
from sidecar.wire.connection import AMID_A_TURN, Connection, announced_by, is_cut
from sidecar.wire.outbox import CONTENT_TEXT, Outbox
from sidecar.wire.translate import notification

MOST_EARLY = 200
"""Events kept of sessions whose ids the client lacks."""
MOST_SHOWN = 16 * 1024
"""Last characters shown of a running tool's output."""
LONGEST_NAME = 160
"""Characters of an answer's name; the title has the call whole."""
OUTPUT_EVERY = 0.25
"""Seconds between updates of a tool's output: each repeats the whole."""


class AgentRequests(ClientRequests):
    """Names and withdraws requests as ACP does."""

    def asking(self, method: str, params: JsonObject) -> JsonObject:
        return super().asking(outgoing(method), params)

    def _withdrawal(self, request_id: str) -> JsonObject:
        params: JsonObject = {"requestId": request_id}
        return {"jsonrpc": "2.0", "method": "$/cancel_request", "params": params}


class AgentConnection(Connection):
    """Implements `tools.tool_contract.Client` for an ACP client.

    Updates wait until the client has the session's id. `window`: its environment.
    """

    def __init__(self, outbox: Outbox, window: Callable[[], object] = lambda: None) -> None:
        # ACP has no log on the client's side: stderr is read there.
        super().__init__(outbox, AgentRequests(outbox), ClientLog(None))
        self._window = window
        self._folders: dict[str, str] = {}
        self._early: deque[Event] = deque(maxlen=MOST_EARLY)
        self._output: dict[str, tuple[str, float]] = {}
        self._kinds: dict[str, str] = {}
        self._terminals: dict[str, str] = {}
        self.acp = Abilities()

    def announce(self, capabilities: JsonObject) -> None:
        # Every ACP client answers questions.
        self.can = replace(announced_by(capabilities), ask_permission=True)
        self.acp = announced(capabilities)

    @property
    def terminals(self) -> AgentTerminals | None:
        if not self.acp.terminal:
            return None

        def post(method: str, params: JsonObject) -> None:
            self._outbox.answer(self.requests.asking(method, params))

        return AgentTerminals(self.requests.request, post, self._show_terminal)

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """Shows a call without a diff whole in a fence, then why no rule covers it.

        Each answer stands on one line. A title alone is Markdown, which hides comments and links'
        addresses. A change that is not shown whole cannot be allowed.
        """
        if is_cut(tool_call):
            options = tuple(one for one in options if one.kind.startswith("reject"))
        tool_call = {**tool_call, "title": visible_lines(str(tool_call.get("title") or ""))}
        given = tool_call.get("rawInput")
        if given and not tool_call.get("content"):
            command = given.get("command") if isinstance(given, dict) and len(given) == 1 else None
            text = visible_lines(command) if isinstance(command, str) else visible_json(given, 2)
            tool_call = {**tool_call, "content": [_shown(fenced(text))]}
        why, content = inside(tool_call, "_meta", "sidecar", "why"), tool_call.get("content")
        if isinstance(why, str):
            more = content if isinstance(content, list) else []
            tool_call = {**tool_call, "content": [*more, _shown(fenced(visible(why)))]}
        plain = tuple(
            replace(one, name=clipped(visible(one.name), LONGEST_NAME)) for one in options
        )
        return await super().request_permission(session_id, tool_call, plain)

    # --- which sessions it knows -------------------------------------------------------------

    def enter(self, session_id: str, folder: str) -> None:
        self._folders[session_id] = folder
        early, self._early = self._early, deque(maxlen=MOST_EARLY)
        for event in early:
            self.watch(event)

    def leave(self, session_id: str) -> None:
        self._folders.pop(session_id, None)

    def knows(self, session_id: str) -> bool:
        return session_id in self._folders

    # --- telling the client ------------------------------------------------------------------

    def watch(self, event: Event) -> None:
        session_id = _session_of(event)
        if session_id and session_id not in self._folders:
            self._early.append(event)
        elif not self._typed_here(event):
            self._tell(session_id, event)

    def _typed_here(self, event: Event) -> bool:
        match event:
            case TextChunk(speaker="user", author=author) | ContentChunk(author=author):
                return author is None or author is self._window()
            case _:
                return False

    async def show(self, event: Event) -> None:
        session_id = _session_of(event)
        told = update(event, self.acp, self._folders.get(session_id, "/"))
        if told is not None:
            await self._outbox.paced(session_id, _update(session_id, told))

    def say(self, session_id: str, kind: str, text: str) -> None:
        self.send(session_id, text_update(kind, text))

    def send(self, session_id: str, told: JsonObject) -> None:
        self._outbox.update(session_id, _update(session_id, told))

    def _tell(self, session_id: str, event: Event) -> None:
        if self.acp.ours:
            self._tell_ours(session_id, event)
        if isinstance(event, ToolOutputChunk):
            self._show_output(session_id, event)
            return
        if isinstance(event, ToolChanged):
            event = self._with_kind(event)
        told = update(event, self.acp, self._folders.get(session_id, "/"))
        if told is None:
            return
        if isinstance(event, ToolChanged) and "content" in told:
            self._keep_terminal(event, told)
        message = _update(session_id, told)
        match event:
            case MeterChanged():
                self._outbox.meter(session_id, message)
            case TextChunk(origin=origin):
                self._outbox.chunk(session_id, f"{origin.part_id} text", message, CONTENT_TEXT)
            case ToolChanged(origin=origin):
                self._outbox.call(session_id, origin.part_id, message)
            case OptionsChanged(options=options):
                self._outbox.update(session_id, message)
                self.send(session_id, mode_update(options))
            case _:
                self._outbox.update(session_id, message)

    def _tell_ours(self, session_id: str, event: Event) -> None:
        if isinstance(event, SessionChanged | StatusChanged | AlertChanged):
            message = notification(event)
            message["method"] = outgoing(str(message["method"]))
            if isinstance(event, SessionChanged):
                self._outbox.changed(session_id, message, may_wait=event.cause in AMID_A_TURN)
            else:
                self._outbox.update(session_id, message)

    def _with_kind(self, event: ToolChanged) -> ToolChanged:
        """A call's end does not say its kind again, by which its title is made."""
        if event.kind is not None:
            self._kinds[event.call_id] = event.kind
        if event.status not in ("completed", "failed"):
            return event
        self._output.pop(event.call_id, None)
        return replace(event, kind=self._kinds.pop(event.call_id, None))

    def _show_output(self, session_id: str, event: ToolOutputChunk) -> None:
        text, shown = self._output.get(event.call_id, ("", 0.0))
        text = (text + event.text)[-MOST_SHOWN:]
        now = monotonic()
        if now - shown >= OUTPUT_EVERY:
            shown = now
            told: JsonObject = {
                "sessionUpdate": "tool_call_update",
                "toolCallId": event.call_id,
                "content": [_shown(text)],
            }
            self.send(session_id, told)
        self._output[event.call_id] = (text, shown)

    def _show_terminal(self, session_id: str, call_id: str, terminal: str) -> None:
        self._terminals[call_id] = terminal
        told: JsonObject = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call_id,
            "content": [{"type": "terminal", "terminalId": terminal}],
        }
        self.send(session_id, told)

    def _keep_terminal(self, event: ToolChanged, told: JsonObject) -> None:
        terminal = self._terminals.pop(event.call_id, None)
        if terminal is not None:
            told["content"] = [{"type": "terminal", "terminalId": terminal}]


def _update(session_id: str, told: JsonObject) -> JsonObject:
    params: JsonObject = {"sessionId": session_id, "update": told}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _shown(text: str) -> JsonObject:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _session_of(event: Event) -> str:
    match event:
        case StatusChanged():
            return ""
        case _ if hasattr(event, "origin"):
            return str(event.origin.session_id)
        case _:
            return str(getattr(event, "session_id", None) or "")
