"""Requests of the daemon to its client: permission, tools, files."""

from typing import Any, Literal

import msgspec

from protocol.source.updates import ToolCallKind, ToolCallLocation, ToolCallStatus

PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(msgspec.Struct, rename="camel", kw_only=True):
    """One possible answer of the user."""

    option_id: str
    name: str
    kind: PermissionKind


class PermissionToolCall(msgspec.Struct, rename="camel", kw_only=True):
    """The call waiting for the answer; fields of a `tool_call_update`.

    `content` of an edit shows the expected change as ACP's
    `{type: "diff", path, oldText, newText}`, one per hunk with three lines of context. Beyond
    400,000 characters in total, texts are cut, and say so at the end. `path` is absolute; `oldText`
    is null for a new file. A command stands whole in `rawInput.command`.
    """

    tool_call_id: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class SessionRequestPermissionParams(msgspec.Struct, rename="camel", kw_only=True):
    """Ask the user before a call continues, in ACP's shape.

    `_meta.sidecar.question` is `permission` (may the call run), `trust` (is the folder
    `_meta.sidecar.folder` trusted) or `loop` (may a model repeating itself continue). A client
    answering by its own rules answers `permission` alone. Parallel calls are asked about at the
    same time, each answered by its request's id. The end of the turn withdraws a question by
    `$/cancelRequest` (ACP: `$/cancel_request`). `options` may be many, several of one kind: show
    all, by name.
    """

    session_id: str
    tool_call: PermissionToolCall
    options: list[PermissionOption]


class PermissionSelected(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="selected"
):
    """The user chose an option."""

    option_id: str


class PermissionCancelled(
    msgspec.Struct, rename="camel", kw_only=True, tag_field="outcome", tag="cancelled"
):
    """The user dismissed the question, which cancels the turn, or the turn was cancelled."""


PermissionOutcome = PermissionSelected | PermissionCancelled


class SessionRequestPermissionResult(msgspec.Struct, rename="camel", kw_only=True):
    """The user's answer. An unknown option refuses the call, and the turn continues.

    A call rejected by the user ends the turn as `blocked`.
    """

    outcome: PermissionOutcome


class ToolCallParams(msgspec.Struct, rename="camel", kw_only=True):
    """Run one of the client's tools; `input` is the model's, unchanged."""

    session_id: str
    call_id: str
    name: str
    input: Any


class ToolCallResult(msgspec.Struct, rename="camel", kw_only=True):
    """The tool's result: ACP content blocks. `metadata.exitCode` marks a failed command."""

    content: list[dict[str, Any]]
    is_error: bool | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    attachments: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FsReadTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    """Read a file as the editor has it, with unsaved changes; `path` is absolute."""

    session_id: str
    path: str


class FsReadTextFileResult(msgspec.Struct, rename="camel", kw_only=True):
    """The file's whole text."""

    content: str


class FsWriteTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    """Replace a file's whole text through the editor; `path` is absolute."""

    session_id: str
    path: str
    content: str
