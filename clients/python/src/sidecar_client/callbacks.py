"""A client's callbacks for the daemon: their capabilities and answers."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from sidecar_client.connection import INVALID_PARAMS, Answer
from sidecar_client.errors import SidecarError
from sidecar_client.messages import (
    METHODS,
    ClientCapabilities,
    FileCapabilities,
    FsReadTextFileParams,
    FsReadTextFileResult,
    FsWriteTextFileParams,
    Meter,
    PermissionCancelled,
    PermissionSelected,
    SessionRequestPermissionParams,
    SessionRequestPermissionResult,
    SessionUpdateParams,
    ToolCallParams,
    ToolCallResult,
)

logger = logging.getLogger("sidecar_client")

Tool: TypeAlias = Callable[[Any], Awaitable[Mapping[str, Any] | ToolCallResult | str]]
"""Runs a tool on the model's input; returns `tool/call`'s result, or just its text."""


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Callbacks offered to the daemon; `None` for those not offered."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    on_permission: Callable[[SessionRequestPermissionParams], Awaitable[str | None]] | None = None
    on_update: Callable[[SessionUpdateParams], None] | None = None
    on_meter: Callable[[Meter], None] | None = None
    on_notification: Callable[[str, object], None] | None = None
    read_text_file: Callable[[FsReadTextFileParams], Awaitable[str]] | None = None
    write_text_file: Callable[[FsWriteTextFileParams], Awaitable[None]] | None = None
    apply_edit: Callable[[dict[str, Any]], Awaitable[bool]] | None = None


def capabilities(callbacks: Callbacks) -> dict[str, Any]:
    """Capabilities to announce in `initialize`."""
    ours = ClientCapabilities(
        fs=FileCapabilities(
            read_text_file=callbacks.read_text_file is not None,
            write_text_file=callbacks.write_text_file is not None,
        ),
        tool_call=bool(callbacks.tools),
        request_permission=callbacks.on_permission is not None,
    )
    return {
        "workspace": {"applyEdit": callbacks.apply_edit is not None},
        "experimental": {"sidecar": msgspec.to_builtins(ours)},
    }


def answers(callbacks: Callbacks) -> dict[str, Answer]:
    """Handlers of the daemon's requests, by method."""
    found: dict[str, Answer] = {}
    if callbacks.tools:
        found["tool/call"] = _tool_call(callbacks.tools)
    if (on_permission := callbacks.on_permission) is not None:

        async def permission(raw: msgspec.Raw) -> SessionRequestPermissionResult:
            params = msgspec.json.decode(raw, type=SessionRequestPermissionParams)
            chosen = await on_permission(params)
            if chosen is None:
                return SessionRequestPermissionResult(outcome=PermissionCancelled())
            return SessionRequestPermissionResult(outcome=PermissionSelected(option_id=chosen))

        found["session/request_permission"] = permission
    if (read := callbacks.read_text_file) is not None:

        async def read_file(raw: msgspec.Raw) -> FsReadTextFileResult:
            params = msgspec.json.decode(raw, type=FsReadTextFileParams)
            return FsReadTextFileResult(content=await read(params))

        found["fs/read_text_file"] = read_file
    if (write := callbacks.write_text_file) is not None:

        async def write_file(raw: msgspec.Raw) -> dict[str, Any]:
            await write(msgspec.json.decode(raw, type=FsWriteTextFileParams))
            return {}

        found["fs/write_text_file"] = write_file
    if (apply := callbacks.apply_edit) is not None:

        async def edit(raw: msgspec.Raw) -> dict[str, Any]:
            return {"applied": await apply(msgspec.json.decode(raw, type=dict[str, Any]))}

        found["workspace/applyEdit"] = edit
    return found


def notified(callbacks: Callbacks, method: str, raw: msgspec.Raw) -> None:
    """Pass a notification to its callback, or to `on_notification`.

    There as the method's struct, or as plain JSON if the shape is unknown, such as updates newer
    than this client.
    """
    known = METHODS.get(method)
    params: object
    try:
        params = msgspec.json.decode(raw, type=Any if known is None else known.params)
    except msgspec.ValidationError:
        params = msgspec.json.decode(raw)
    match params:
        case SessionUpdateParams() if callbacks.on_update is not None:
            callbacks.on_update(params)
        case Meter() if callbacks.on_meter is not None:
            callbacks.on_meter(params)
        case _ if callbacks.on_notification is not None:
            callbacks.on_notification(method, params)
        case _:
            pass


def _tool_call(tools: Mapping[str, Tool]) -> Answer:
    async def call(raw: msgspec.Raw) -> Mapping[str, Any] | ToolCallResult:
        params = msgspec.json.decode(raw, type=ToolCallParams)
        tool = tools.get(params.name)
        if tool is None:
            text = f"this client has no tool {params.name!r}"
            raise SidecarError(INVALID_PARAMS, "bad_request", text, {})
        try:
            result = await tool(params.input)
        except Exception as error:
            logger.exception("the tool %s failed", params.name)
            return ToolCallResult(content=_text(f"{params.name} failed: {error}"), is_error=True)
        return ToolCallResult(content=_text(result)) if isinstance(result, str) else result

    return call


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]
