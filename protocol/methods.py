"""The methods as data: caller, params, result, purpose, expected errors."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from protocol.source.client import (
    FsReadTextFileParams,
    FsReadTextFileResult,
    FsWriteTextFileParams,
    SessionRequestPermissionParams,
    SessionRequestPermissionResult,
    ToolCallParams,
    ToolCallResult,
)
from protocol.source.context import (
    ContextBreakdownParams,
    ContextBreakdownResult,
    ContextCompactParams,
    ContextCompactResult,
    ContextPinParams,
    ContextPinResult,
    ContextPreviewParams,
    ContextPreviewResult,
    ContextRecallParams,
    ContextRecallResult,
    ContextUndoCompactionParams,
    ContextUndoCompactionResult,
)
from protocol.source.daemon import (
    DaemonAlertParams,
    DaemonStatusChangedParams,
    DaemonStatusParams,
    DaemonStatusResult,
    SessionChangedParams,
    SessionRetryingParams,
)
from protocol.source.history import (
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointListParams,
    CheckpointListResult,
    CheckpointRedoParams,
    CheckpointRestoreParams,
    CheckpointRestoreResult,
    FactsListParams,
    FactsListResult,
    SessionArchiveParams,
    SessionArchiveResult,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionForkResult,
    SessionHandoffParams,
    SessionHandoffResult,
    SessionImportParams,
    SessionImportResult,
)
from protocol.source.meter import ContextMeterParams, Meter
from protocol.source.session import (
    Empty,
    SessionCancelParams,
    SessionCloseParams,
    SessionDeleteParams,
    SessionDeleteResult,
    SessionFindFilesParams,
    SessionFindFilesResult,
    SessionListParams,
    SessionListResult,
    SessionLoadParams,
    SessionLoadResult,
    SessionNewParams,
    SessionNewResult,
    SessionPromptParams,
    SessionPromptResult,
    SessionRenameParams,
    SessionRenameResult,
    SessionSearchParams,
    SessionSearchResult,
    SessionSetConfigOptionParams,
    SessionSetConfigOptionResult,
)
from protocol.source.sync import (
    SessionListRemoteParams,
    SessionListRemoteResult,
    SessionSyncParams,
    SessionSyncResult,
)
from protocol.source.updates import SessionUpdateParams

PROTOCOL_VERSION = 1

Kind = Literal["request", "notification"]
Direction = Literal["clientToDaemon", "daemonToClient"]


@dataclass(frozen=True, slots=True)
class Method:
    """One method. `errors` excludes those possible for any request.

    A method not `available` is settled but not built, and answered with -32601.
    """

    name: str
    kind: Kind
    direction: Direction
    params: type[msgspec.Struct]
    result: type[msgspec.Struct] | None
    errors: tuple[int, ...]
    available: bool
    doc: str
    since: int = 1


COMMON_ERRORS = (-32600, -32601, -32602, -32603, -32002, -32800)
"""What any request can be answered with."""

_READ = (-32010, -32030)
_WRITE = (-32010, -32011, -32801, -32030)


def _ask(
    name: str,
    params: type[msgspec.Struct],
    result: type[msgspec.Struct],
    errors: tuple[int, ...],
    doc: str,
) -> Method:
    return Method(name, "request", "clientToDaemon", params, result, errors, True, doc)


def _tell(name: str, params: type[msgspec.Struct], doc: str) -> Method:
    return Method(name, "notification", "daemonToClient", params, None, (), True, doc)


def _call(
    name: str, params: type[msgspec.Struct], result: type[msgspec.Struct], doc: str
) -> Method:
    return Method(name, "request", "daemonToClient", params, result, (), True, doc)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _ask(
            "session/new",
            SessionNewParams,
            SessionNewResult,
            (-32010, -32030),
            "Open a new session in a folder.",
        ),
        _ask(
            "session/list",
            SessionListParams,
            SessionListResult,
            (-32030,),
            "List sessions, newest first.",
        ),
        _ask(
            "session/load",
            SessionLoadParams,
            SessionLoadResult,
            _READ,
            "Open a stored session; its history comes as session/update before the result.",
        ),
        _ask(
            "session/close",
            SessionCloseParams,
            Empty,
            _READ,
            "Let go of a session. It ends, with its turn, unless others have it open or at work.",
        ),
        _ask(
            "session/delete",
            SessionDeleteParams,
            SessionDeleteResult,
            (-32010, -32011, -32030),
            "Delete a session for good.",
        ),
        _ask(
            "session/rename",
            SessionRenameParams,
            SessionRenameResult,
            (-32010, -32011, -32030),
            "Give a session another title.",
        ),
        _ask(
            "session/search",
            SessionSearchParams,
            SessionSearchResult,
            (-32030,),
            "Search the texts of all sessions.",
        ),
        _ask(
            "session/set_config_option",
            SessionSetConfigOptionParams,
            SessionSetConfigOptionResult,
            _WRITE,
            "Change the model, the policy, the effort or a switch of a session.",
        ),
        _ask(
            "session/prompt",
            SessionPromptParams,
            SessionPromptResult,
            (-32010, -32011, -32801, -32001, -32030),
            "Run a turn; answered when it ends, a failed one too. An error means none began.",
        ),
        Method(
            "session/cancel",
            "notification",
            "clientToDaemon",
            SessionCancelParams,
            None,
            (),
            True,
            "Stop the running turn; its session/prompt answers with stopReason cancelled.",
        ),
        _ask(
            "session/findFiles",
            SessionFindFilesParams,
            SessionFindFilesResult,
            _READ,
            "Find files by a few letters of their paths, as a mention is completed.",
        ),
        _ask("context/meter", ContextMeterParams, Meter, _READ, "Read a session's meter."),
        _ask(
            "context/recall",
            ContextRecallParams,
            ContextRecallResult,
            _READ,
            "Read anything that was ever logged in a session, whole or by pieces.",
        ),
        _ask("daemon/status", DaemonStatusParams, DaemonStatusResult, (), "Ask how the daemon is."),
        _tell("session/update", SessionUpdateParams, "Something happened in a session."),
        _tell(
            "context/meterChanged",
            Meter,
            "The meter moved; at most four a second, newest wins. Over ACP it is usage_update.",
        ),
        _tell("session/changed", SessionChangedParams, "The session's revision rose."),
        _tell(
            "session/retrying",
            SessionRetryingParams,
            "A model request is tried again; parts that it had streamed are withdrawn.",
        ),
        _tell("daemon/statusChanged", DaemonStatusChangedParams, "Something for the status bar."),
        _tell(
            "daemon/alert",
            DaemonAlertParams,
            "A number is bad, or well again; `daemon/status` has the alerts that stand.",
        ),
        _call(
            "session/request_permission",
            SessionRequestPermissionParams,
            SessionRequestPermissionResult,
            "Ask the user whether a call may run, or whether a folder is trusted.",
        ),
        _call("tool/call", ToolCallParams, ToolCallResult, "Run one of the client's tools."),
        _call(
            "fs/read_text_file",
            FsReadTextFileParams,
            FsReadTextFileResult,
            "Read a file as the editor has it; only where the client says that it can.",
        ),
        _call(
            "fs/write_text_file",
            FsWriteTextFileParams,
            Empty,
            "Write a file through the editor; only where the client says that it can.",
        ),
        _ask(
            "session/fork",
            SessionForkParams,
            SessionForkResult,
            _READ,
            "Branch off a session; the new one is open and shares what the other's cache holds.",
        ),
        _ask(
            "session/handoff",
            SessionHandoffParams,
            SessionHandoffResult,
            _READ,
            "Draft the first prompt of a session that goes on with a goal, or open one.",
        ),
        _ask(
            "session/export",
            SessionExportParams,
            SessionExportResult,
            _READ,
            "Write a session to a file that session/import takes in, here or elsewhere.",
        ),
        _ask(
            "session/archive",
            SessionArchiveParams,
            SessionArchiveResult,
            (-32010, -32011, -32030),
            "Put a session away into a packed file, from which session/import brings it back.",
        ),
        _ask(
            "session/import",
            SessionImportParams,
            SessionImportResult,
            (-32030,),
            "Make a session of a file: one of session/export, or another agent's recording.",
        ),
        _ask(
            "session/sync",
            SessionSyncParams,
            SessionSyncResult,
            (-32001, -32014, -32030),
            "Bring a folder's sessions and those of a git remote together.",
        ),
        _ask(
            "session/listRemote",
            SessionListRemoteParams,
            SessionListRemoteResult,
            (-32001, -32014, -32030),
            "List the sessions that lie on a git remote.",
        ),
        _ask(
            "context/breakdown",
            ContextBreakdownParams,
            ContextBreakdownResult,
            _READ,
            "Take the context apart, piece by piece.",
        ),
        _ask(
            "context/preview",
            ContextPreviewParams,
            ContextPreviewResult,
            _READ,
            "See exactly what would be sent, and what it would cost.",
        ),
        _ask(
            "context/compact",
            ContextCompactParams,
            ContextCompactResult,
            (*_WRITE, -32012, -32020),
            "Make room in the context, or plan it.",
        ),
        _ask(
            "context/undoCompaction",
            ContextUndoCompactionParams,
            ContextUndoCompactionResult,
            (*_WRITE, -32012),
            "Take a compaction back.",
        ),
        _ask(
            "context/pin",
            ContextPinParams,
            ContextPinResult,
            _WRITE,
            "Keep a part through compactions.",
        ),
        _ask(
            "checkpoint/list",
            CheckpointListParams,
            CheckpointListResult,
            _READ,
            "List the states to which a session can go back.",
        ),
        _ask(
            "checkpoint/diff",
            CheckpointDiffParams,
            CheckpointDiffResult,
            _READ,
            "See what changed between two checkpoints.",
        ),
        _ask(
            "checkpoint/restore",
            CheckpointRestoreParams,
            CheckpointRestoreResult,
            (*_WRITE, -32012, -32013),
            "Go back: conversation, files or both.",
        ),
        _ask(
            "checkpoint/redo",
            CheckpointRedoParams,
            CheckpointRestoreResult,
            (*_WRITE, -32012, -32013),
            "Undo a restore.",
        ),
        _ask(
            "facts/list",
            FactsListParams,
            FactsListResult,
            _READ,
            "List what sessions have found out.",
        ),
    )
}
