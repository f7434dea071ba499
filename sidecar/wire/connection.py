"""One client."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.core.text.visible import clipped
from sidecar.session.log.events import (
    AlertChanged,
    Event,
    MeterChanged,
    Progressed,
    SessionChanged,
    TextChunk,
    ToolChanged,
    ToolInputChunk,
    ToolOutputChunk,
)
from sidecar.tools.tool_contract import PermissionOption, Terminals
from sidecar.wire.client_requests import (
    ERROR,
    ClientFailed,
    ClientLog,
    ClientRequests,
    inside,
    shown,
)
from sidecar.wire.outbox import CONTENT_TEXT, Outbox
from sidecar.wire.translate import notification

MOST_SHOWN = 120
"""Characters shown of a wrong answer."""

AMID_A_TURN = ("step", "tools")
"""Causes of changes that are soon followed by another."""
_INPUT_DELTA = ["params", "update", "_meta", "sidecar", "inputDelta"]
_OUTPUT_DELTA = ["params", "update", "_meta", "sidecar", "outputDelta"]


@dataclass(frozen=True, slots=True)
class Announced:
    """Which requests a client answers.

    `ours`: any of Sidecar's own; `progress`: `window/workDoneProgress/create`.
    """

    read_files: bool = False
    write_files: bool = False
    apply_edits: bool = False
    ask_permission: bool = False
    call_tools: bool = False
    ours: bool = False
    progress: bool = False


def announced_by(capabilities: JsonObject) -> Announced:
    def files(name: str) -> bool:
        # ACP has `fs` at the top; an LSP client says it under `experimental`.
        places = ((), ("experimental",), ("experimental", "sidecar"))
        return any(inside(capabilities, *place, "fs", name) is True for place in places)

    ours = inside(capabilities, "experimental", "sidecar")
    return Announced(
        read_files=files("readTextFile"),
        write_files=files("writeTextFile"),
        apply_edits=inside(capabilities, "workspace", "applyEdit") is True,
        ask_permission=inside(ours, "requestPermission") is True,
        # Over ACP, in `_meta.sidecar`.
        call_tools=any(
            inside(given, "toolCall") is True
            for given in (ours, inside(capabilities, "_meta", "sidecar"))
        ),
        ours=ours is not None,
        progress=inside(capabilities, "window", "workDoneProgress") is True,
    )


class Connection:
    """Implements `tools.tool_contract.Client` over one outbox."""

    def __init__(
        self, outbox: Outbox, requests: ClientRequests | None = None, log: ClientLog | None = None
    ) -> None:
        self._outbox = outbox
        self.requests = requests or ClientRequests(outbox)
        self.log = log or ClientLog(self.requests)
        self.can = Announced()

    # --- capabilities ------------------------------------------------------------------------

    def announce(self, capabilities: JsonObject) -> None:
        self.can = announced_by(capabilities)

    @property
    def can_read_files(self) -> bool:
        return self.can.read_files

    @property
    def can_write_files(self) -> bool:
        return self.can.write_files

    @property
    def can_apply_edits(self) -> bool:
        return self.can.apply_edits

    @property
    def terminals(self) -> Terminals | None:
        return None

    # --- telling the client ------------------------------------------------------------------

    def watch(self, event: Event) -> None:
        message = notification(event)
        match event:
            case MeterChanged(session_id=session_id):
                self._outbox.meter(session_id, message)
            case SessionChanged(session_id=session_id, cause=cause):
                self._outbox.changed(session_id, message, may_wait=cause in AMID_A_TURN)
            case TextChunk(origin=origin):
                key = f"{origin.part_id} text"
                self._outbox.chunk(origin.session_id, key, message, CONTENT_TEXT)
            case ToolInputChunk(origin=origin):
                key = f"{origin.part_id} input"
                self._outbox.chunk(origin.session_id, key, message, _INPUT_DELTA)
            case ToolOutputChunk(origin=origin):
                key = f"{origin.part_id} output"
                self._outbox.chunk(origin.session_id, key, message, _OUTPUT_DELTA)
            case ToolChanged(origin=origin):
                self._outbox.call(origin.session_id, origin.part_id, message)
            case AlertChanged(session_id=session_id):
                self._outbox.update(session_id or "", message)
                if (told := alarm(event)) is not None:
                    self.requests.notify("window/showMessage", told)
            case Progressed(session_id=session_id):
                self._progress(event, session_id, message)
            case _:
                self._outbox.update(_session_of(message), message)

    def _progress(self, event: Progressed, session_id: str, message: JsonObject) -> None:
        if event.ours:
            if not self.can.progress:
                return
            if event.kind == "begin":
                params: JsonObject = {"token": event.token}
                create = self.requests.asking("window/workDoneProgress/create", params)
                self._outbox.update(session_id, create)
        self._outbox.update(session_id, message)

    async def show(self, event: Event) -> None:
        message = notification(event)
        await self._outbox.paced(_session_of(message), message)

    # --- asking the client -------------------------------------------------------------------

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        """Has the client run a tool; raises ClientFailed, also if the client runs none.

        A cancellation reaches the client.
        """
        if not self.can.call_tools:
            raise self._lacks("this editor runs no tools: it did not announce `toolCall`")
        params: JsonObject = {
            "sessionId": session_id,
            "callId": call_id,
            "name": name,
            "input": tool_input,
        }
        return _object(await self.requests.request("tool/call", params))

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """`None` for a dismissed question.

        Raises ClientFailed for a client that cannot ask, or an unknown option.
        """
        if not self.can.ask_permission:
            raise self._lacks(
                "this editor cannot be asked: it did not announce `requestPermission`. What may "
                "run unasked is set by `workspaceTrusted` and `permissions.allow`"
            )
        listed: list[Json] = [
            {"optionId": o.option_id, "name": o.name, "kind": o.kind} for o in options
        ]
        params: JsonObject = {"sessionId": session_id, "toolCall": tool_call, "options": listed}
        try:
            answer = await self.requests.request("session/request_permission", params)
            return _choice(answer, options)
        except ClientFailed as failed:
            self.log.write(ERROR, f"session/request_permission: {failed.message}")
            raise

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        params: JsonObject = {"sessionId": session_id, "path": path}
        content = _object(await self.requests.request("fs/read_text_file", params)).get("content")
        if not isinstance(content, str):
            raise ClientFailed("the editor gave no text for this file")
        return content

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        params: JsonObject = {"sessionId": session_id, "path": path, "content": content}
        await self.requests.request("fs/write_text_file", params)

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        end: JsonObject = {"line": 2**31 - 1, "character": 0}
        start: JsonObject = {"line": 0, "character": 0}
        edit: JsonObject = {"range": {"start": start, "end": end}, "newText": content}
        params: JsonObject = {
            "label": label,
            "edit": {"changes": {Path(path).as_uri(): [edit]}},
        }
        answer = await self.requests.request("workspace/applyEdit", params)
        return inside(answer, "applied") is True

    def _lacks(self, text: str) -> ClientFailed:
        self.log.once(text)
        return ClientFailed(text)


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
            shown = clipped(repr(answer), MOST_SHOWN)
            text = f"the editor answered {shown}, which is none of the options ({named})"
            raise ClientFailed(text)


def alarm(event: AlertChanged) -> JsonObject | None:
    """Returns `None` below a warning."""
    kinds = {"warning": 2, "critical": 1}
    if event.state != "raised" or event.level not in kinds:
        return None
    return shown(kinds[event.level], f"{event.message} {event.action}")


def path_of(uri: str) -> str | None:
    """`None` for other URIs than `file:`."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else None


def folder_at(path: str) -> Path:
    if b"\0" in os.fsencode(path):
        raise ValueError("no path holds a NUL")
    return Path(path)


def _session_of(message: JsonObject) -> str:
    return str(inside(message, "params", "sessionId") or "")


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def is_cut(tool_call: JsonObject) -> bool:
    """Whether a question shows only a part of a change."""
    content = tool_call.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and "_meta" in block for block in blocks)
