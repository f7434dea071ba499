"""One client: capabilities, requests and notifications."""

import asyncio
import logging
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.log.events import (
    AlertChanged,
    Event,
    MeterChanged,
    Progressed,
    TextChunk,
    ToolInputChunk,
    ToolOutputChunk,
)
from sidecar.tools.tool_contract import PermissionOption, Terminals
from sidecar.wire.outbox import Outbox
from sidecar.wire.translate import notification
from sidecar.wire.unread_fields import unread

logger = logging.getLogger("sidecar.wire")

ERROR, WARNING, INFO = 1, 2, 3
"""LSP's message types."""
MOST_SHOWN = 120
"""Characters shown of a wrong answer."""
MOST_TOLD = 100
"""Warnings of one connection, each of something else."""

_CONTENT_TEXT = ["params", "update", "content", "text"]
_INPUT_DELTA = ["params", "update", "_meta", "sidecar", "inputDelta"]
_OUTPUT_DELTA = ["params", "update", "_meta", "sidecar", "outputDelta"]


class ClientFailed(SidecarError):
    """The client answered a request with an error."""

    kind = "client"


class Connection:
    """Implements `tools.tool_contract.Client` over one outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._number = 0
        self._closed = False
        self._capabilities: JsonObject = {}
        self._told: set[str] = set()

    # --- capabilities ------------------------------------------------------------------------

    def announce(self, capabilities: JsonObject) -> None:
        """Take the client's capabilities from `initialize`."""
        self._capabilities = capabilities

    @property
    def can_read_files(self) -> bool:
        """Whether the client answers `fs/read_text_file`."""
        return self._can("readTextFile")

    @property
    def can_write_files(self) -> bool:
        """Whether the client answers `fs/write_text_file`."""
        return self._can("writeTextFile")

    @property
    def can_apply_edits(self) -> bool:
        """Whether the client answers `workspace/applyEdit`."""
        return _inside(self._capabilities, "workspace", "applyEdit") is True

    @property
    def knows_us(self) -> bool:
        """Whether the client announced any of Sidecar's own methods."""
        return _inside(self._capabilities, "experimental", "sidecar") is not None

    @property
    def can_ask_permission(self) -> bool:
        """Whether the client announced `session/request_permission`."""
        asked = _inside(self._capabilities, "experimental", "sidecar", "requestPermission")
        return asked is True

    @property
    def can_call_tools(self) -> bool:
        """Whether the client announced `tool/call`; over ACP, in `_meta.sidecar`."""
        places = (("experimental", "sidecar"), ("_meta", "sidecar"))
        return any(_inside(self._capabilities, *place, "toolCall") is True for place in places)

    @property
    def terminals(self) -> Terminals | None:
        """Always `None`: LSP has no terminals."""
        return None

    def _can(self, name: str) -> bool:
        # ACP has `fs` at the top; an LSP client says it under `experimental`.
        places = ((), ("experimental",), ("experimental", "sidecar"))
        return any(_inside(self._capabilities, *place, "fs", name) is True for place in places)

    # --- telling the client ------------------------------------------------------------------

    def notify(self, method: str, params: JsonObject) -> None:
        """Queue one of LSP's own notifications."""
        self._outbox.answer({"jsonrpc": "2.0", "method": method, "params": params})

    def log(self, kind: int, text: str) -> None:
        """Log a problem with the client, in the daemon's log and the client's."""
        logger.log(logging.ERROR if kind == ERROR else logging.WARNING, "%s", text)
        self.notify("window/logMessage", {"type": kind, "message": f"Sidecar: {text}"})

    def log_once(self, text: str) -> None:
        """Log a warning once per connection."""
        if text not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(text)
            self.log(WARNING, text)

    def warn_unread(self, method: str, params: Json, shape: type | None) -> None:
        """Warn once of each unknown field from the client."""
        for text in unread(method, params, shape):
            self.log_once(text)

    def watch(self, event: Event) -> None:
        """Queue an event's notification."""
        message = notification(event)
        match event:
            case MeterChanged(session_id=session_id):
                self._outbox.meter(session_id, message)
            case TextChunk(origin=origin):
                key = f"{origin.part_id} text"
                self._outbox.chunk(origin.session_id, key, message, _CONTENT_TEXT)
            case ToolInputChunk(origin=origin):
                key = f"{origin.part_id} input"
                self._outbox.chunk(origin.session_id, key, message, _INPUT_DELTA)
            case ToolOutputChunk(origin=origin):
                key = f"{origin.part_id} output"
                self._outbox.chunk(origin.session_id, key, message, _OUTPUT_DELTA)
            case AlertChanged(session_id=session_id):
                self._outbox.update(session_id or "", message)
                if (shown := alarm(event)) is not None:
                    self.notify("window/showMessage", shown)
            case Progressed(session_id=session_id):
                self._progress(event, session_id, message)
            case _:
                self._outbox.update(_session_of(message), message)

    def _progress(self, event: Progressed, session_id: str, message: JsonObject) -> None:
        """Show progress if the client can, announcing the daemon's own tokens first."""
        if event.ours:
            if _inside(self._capabilities, "window", "workDoneProgress") is not True:
                return
            if event.kind == "begin":
                self._number += 1
                create: JsonObject = {
                    "jsonrpc": "2.0",
                    "id": f"sidecar-{self._number}",
                    "method": "window/workDoneProgress/create",
                    "params": {"token": event.token},
                }
                self._outbox.update(session_id, create)
        self._outbox.update(session_id, message)

    async def show(self, event: Event) -> None:
        """Queue an event of a replay, waiting for room."""
        message = notification(event)
        await self._outbox.paced(_session_of(message), message)

    # --- asking the client -------------------------------------------------------------------

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        """Run one of the client's tools; cancellation reaches the client.

        Raises:
            ClientFailed: no tools announced, or an error as answer.
        """
        if not self.can_call_tools:
            raise self._lacks("this editor runs no tools: it did not announce `toolCall`")
        params: JsonObject = {
            "sessionId": session_id,
            "callId": call_id,
            "name": name,
            "input": tool_input,
        }
        return _object(await self.request("tool/call", params))

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """Ask the user; `None` when the question was dismissed.

        Raises:
            ClientFailed: the client cannot ask, or chose an unknown option.
        """
        if not self.can_ask_permission:
            raise self._lacks(
                "this editor cannot be asked: it did not announce `requestPermission`. What may "
                "run unasked is set by `workspaceTrusted` and `permissions.allow`"
            )
        listed: list[Json] = [
            {"optionId": o.option_id, "name": o.name, "kind": o.kind} for o in options
        ]
        params: JsonObject = {"sessionId": session_id, "toolCall": tool_call, "options": listed}
        try:
            return _choice(await self.request("session/request_permission", params), options)
        except ClientFailed as failed:
            self.log(ERROR, f"session/request_permission: {failed.message}")
            raise

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        """Read a file as the editor has it."""
        params: JsonObject = {"sessionId": session_id, "path": path}
        content = _object(await self.request("fs/read_text_file", params)).get("content")
        if not isinstance(content, str):
            raise ClientFailed("the editor gave no text for this file")
        return content

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file through the editor."""
        params: JsonObject = {"sessionId": session_id, "path": path, "content": content}
        await self.request("fs/write_text_file", params)

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        """Replace a document's whole text through the editor's undo history."""
        end: JsonObject = {"line": 2**31 - 1, "character": 0}
        start: JsonObject = {"line": 0, "character": 0}
        edit: JsonObject = {"range": {"start": start, "end": end}, "newText": content}
        params: JsonObject = {
            "label": label,
            "edit": {"changes": {Path(path).as_uri(): [edit]}},
        }
        return _object(await self.request("workspace/applyEdit", params)).get("applied") is True

    async def request(self, method: str, params: JsonObject) -> Json:
        """Send a request and wait for the answer, without a time limit.

        Raises:
            ClientFailed: the client answered with an error.
            Cancelled: the client is gone.
        """
        if self._closed:
            raise Cancelled("the editor is not connected any more")
        message = self._asking(method, params)
        request_id = str(message["id"])
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = answer
        self._outbox.answer(message)
        try:
            return await answer
        except asyncio.CancelledError:
            self._outbox.answer(self._withdrawal(request_id))
            raise
        finally:
            self._asked.pop(request_id, None)

    def _lacks(self, text: str) -> ClientFailed:
        """Make the error for an unsupported request, and log it once."""
        self.log_once(text)
        return ClientFailed(text)

    def _asking(self, method: str, params: JsonObject) -> JsonObject:
        self._number += 1
        request_id = f"sidecar-{self._number}"
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def _withdrawal(self, request_id: str) -> JsonObject:
        return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}}

    def answered(self, request_id: Json, result: Json, error: Json) -> None:
        """Take the client's answer; late ones are dropped."""
        answer = self._asked.get(str(request_id))
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            reason = _inside(error, "message") or "no reason given"
            answer.set_exception(ClientFailed(f"the editor answered with an error: {reason}"))

    def close(self) -> None:
        """End all waits for a client that is gone."""
        self._closed = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(Cancelled("the editor is not connected any more"))


def _choice(answer: Json, options: tuple[PermissionOption, ...]) -> str | None:
    match answer:
        case {"outcome": {"outcome": "cancelled"}}:
            return None
        case {"outcome": {"outcome": "selected", "optionId": str(chosen)}} if any(
            chosen == option.option_id for option in options
        ):
            return chosen
        case _:
            named = ", ".join(option.option_id for option in options)
            shown = repr(answer)
            shown = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}…"
            text = f"the editor answered {shown}, which is none of the options ({named})"
            raise ClientFailed(text)


def alarm(event: AlertChanged) -> JsonObject | None:
    """LSP's message for a raised warning or critical alert, else `None`."""
    kinds = {"warning": 2, "critical": 1}
    if event.state != "raised" or event.level not in kinds:
        return None
    return {"type": kinds[event.level], "message": f"{event.message} {event.action}"}


def path_of(uri: str) -> str | None:
    """Path of a `file:` URI, or `None` for any other."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else None


def folder_at(path: str) -> Path:
    """Path of a folder named by a client.

    Raises:
        ValueError: a NUL byte, possible in no path.
    """
    if b"\0" in os.fsencode(path):
        raise ValueError("no path holds a NUL")
    return Path(path)


def _session_of(message: JsonObject) -> str:
    return str(_inside(message, "params", "sessionId") or "")


def _inside(value: Json, *path: str) -> Json:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
