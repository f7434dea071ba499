"""The errors as data: every code with its meaning and remedy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One JSON-RPC error code. `kinds` are the values of `data.kind`, `data` its other fields."""

    code: int
    kinds: tuple[str, ...]
    meaning: str
    remedy: str
    data: tuple[str, ...] = ()


ERRORS: dict[int, ErrorCode] = {
    error.code: error
    for error in (
        ErrorCode(
            -32700,
            ("parse_error",),
            "A message is not JSON.",
            "Fix what writes the messages; the answer has id null.",
        ),
        ErrorCode(
            -32600,
            ("invalid_request", "shut_down"),
            "A message is JSON but no request; a batch is none either.",
            "Send one JSON-RPC 2.0 object at a time, with an id that is a string or a number.",
        ),
        ErrorCode(
            -32601,
            ("unknown_method", "not_available"),
            "There is no such method, or not in this version.",
            "Look the method up in the features that initialize answers.",
        ),
        ErrorCode(
            -32602,
            ("bad_request",),
            "A parameter is missing or wrong.",
            "Fix the field that data.path names.",
            ("path",),
        ),
        ErrorCode(
            -32603,
            ("internal", "client"),
            "A fault of the daemon, or of the client in answering it.",
            "Report it with the daemon's log.",
        ),
        ErrorCode(
            -32002,
            ("not_initialized",),
            "The daemon is not initialized; over ACP: a resource was not found.",
            "Send initialize first, and wait for its answer.",
        ),
        ErrorCode(
            -32800,
            ("cancelled",),
            "The request was cancelled before it did anything.",
            "Nothing; send it again if it is still wanted.",
        ),
        ErrorCode(
            -32801,
            ("revision_conflict",),
            "The session moved on: expectedRevision is not its newest.",
            "Look at the session as it is now, then send it again with the newest revision.",
            ("revision",),
        ),
        ErrorCode(
            -32001,
            ("overloaded",),
            "Too many prompts wait for this session.",
            "Wait for one of them to end, or cancel.",
        ),
        ErrorCode(
            -32010,
            ("unknown_session",),
            "No session has this id.",
            "Take an id from session/list.",
        ),
        ErrorCode(
            -32011,
            ("session_owned",),
            "Another window writes this session.",
            "Go on there or close it there; here the session can only be read.",
            ("owner",),
        ),
        ErrorCode(
            -32012,
            ("nothing_to_do",),
            "The call would change nothing.",
            "Nothing; of a restore, data.files says of every path why it stays.",
            ("files",),
        ),
        ErrorCode(
            -32013,
            ("restore_conflict",),
            "Files that the restore would touch were changed meanwhile; nothing was touched.",
            "Look at data.conflicts, then choose onConflict.",
            ("conflicts",),
        ),
        ErrorCode(
            -32014,
            ("remote_failed",),
            "A git remote cannot be reached, or refused.",
            "Do what the message says and sync again; nothing was lost.",
        ),
        ErrorCode(
            -32020,
            (
                "authentication",
                "rate_limit",
                "overloaded",
                "context_overflow",
                "bad_request",
                "network",
                "interrupted",
            ),
            "The model's provider refused or broke off.",
            "Do what the message says; when data.retryable is true, the same can be sent again.",
            ("status", "retryable"),
        ),
        ErrorCode(
            -32030,
            ("full", "corrupt", "newer_schema", "read_only", "io"),
            "The store cannot do it.",
            "Do what the message says: free space, repair or update, or choose another dataDir.",
        ),
    )
}
