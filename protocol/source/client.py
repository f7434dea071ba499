"""What the daemon asks of its client: permission, tools, files."""

from typing import Any, Literal

import msgspec

from protocol.source.updates import ToolCallKind, ToolCallLocation, ToolCallStatus

PermissionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(msgspec.Struct, rename="camel", kw_only=True):
    """One answer that the user can give."""

    option_id: str
    name: str
    kind: PermissionKind


class PermissionToolCall(msgspec.Struct, rename="camel", kw_only=True):
    """The call that waits for the answer; the fields of a `tool_call_update`."""

    tool_call_id: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    kind: ToolCallKind | msgspec.UnsetType = msgspec.UNSET
    status: ToolCallStatus | msgspec.UnsetType = msgspec.UNSET
    content: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    locations: list[ToolCallLocation] | msgspec.UnsetType = msgspec.UNSET
    raw_input: Any = msgspec.UNSET
    meta: dict[str, Any] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="_meta")


class SessionRequestPermissionParams(msgspec.Struct, rename="camel", kw_only=True):
    """Ask the user whether a call may run, in ACP's shape."""

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
    """The question was dismissed, or the turn was cancelled meanwhile."""


PermissionOutcome = PermissionSelected | PermissionCancelled


class SessionRequestPermissionResult(msgspec.Struct, rename="camel", kw_only=True):
    """The user's answer."""

    outcome: PermissionOutcome


class ToolCallParams(msgspec.Struct, rename="camel", kw_only=True):
    """Run one of the client's tools; `input` is what the model wrote, as it wrote it."""

    session_id: str
    call_id: str
    name: str
    input: Any


class ToolCallResult(msgspec.Struct, rename="camel", kw_only=True):
    """What the tool gave: ACP content blocks. `metadata.exitCode` tells a failed command."""

    content: list[dict[str, Any]]
    is_error: bool | msgspec.UnsetType = msgspec.UNSET
    title: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    attachments: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FsReadTextFileParams(msgspec.Struct, rename="camel", kw_only=True):
    """Read a file as the editor has it, unsaved changes and all; `path` is absolute."""

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
