"""Sessions: opening, listing, options, prompts."""

from typing import Annotated, Any, Literal

import msgspec

from protocol.source.meter import Meter

ToolKind = Literal["read", "edit", "search", "execute", "other"]

StopReason = Annotated[
    str,
    msgspec.Meta(
        examples=[
            "end_turn",
            "max_tokens",
            "max_turn_requests",
            "refusal",
            "cancelled",
            "blocked",
            "error",
        ]
    ),
]


class Empty(msgspec.Struct, rename="camel", kw_only=True):
    """An object without fields, to confirm success."""


class ToolDefinition(msgspec.Struct, rename="camel", kw_only=True):
    """A tool run by the client. `inputSchema` is JSON Schema; `outputLimit` is in bytes.

    Calls are asked about where `kind` is `edit` or `execute`, the default unless `readOnly`.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind | msgspec.UnsetType = msgspec.UNSET
    read_only: bool | msgspec.UnsetType = msgspec.UNSET
    output_limit: int | msgspec.UnsetType = msgspec.UNSET
    protected_from_pruning: bool | msgspec.UnsetType = msgspec.UNSET


class ConfigOptionValue(msgspec.Struct, rename="camel", kw_only=True):
    """A possible value of an option."""

    value: str
    name: str
    description: str | msgspec.UnsetType = msgspec.UNSET


class ConfigOption(msgspec.Struct, rename="camel", kw_only=True):
    """A setting of a session, in ACP's shape: current and possible values."""

    id: str
    name: str
    type: Annotated[str, msgspec.Meta(examples=["select", "boolean"])]
    current_value: str | bool
    options: list[ConfigOptionValue] | msgspec.UnsetType = msgspec.UNSET
    category: str | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET


class SessionNewParams(msgspec.Struct, rename="camel", kw_only=True):
    """Open a session in a folder; absent fields come from the configuration.

    `window` and `maxTokens` are tokens; the window must exceed the room for an answer, 32,000
    unless `maxTokens` is given. `builtinTools: false` leaves only the client's tools. `from`:
    session to continue.
    """

    cwd: str
    title: str | msgspec.UnsetType = msgspec.UNSET
    agent: str | msgspec.UnsetType = msgspec.UNSET
    model: str | msgspec.UnsetType = msgspec.UNSET
    policy: str | msgspec.UnsetType = msgspec.UNSET
    window: int | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    tools: list[ToolDefinition] | msgspec.UnsetType = msgspec.UNSET
    builtin_tools: bool | msgspec.UnsetType = msgspec.UNSET
    system: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    from_session: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")


class SessionNewResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session, already stored."""

    session_id: str
    revision: int
    config_options: list[ConfigOption]


class SessionListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List sessions of a folder, or all. `cursor` is `nextCursor` of the last page."""

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionInfo(msgspec.Struct, rename="camel", kw_only=True):
    """A line of the session list. `updatedAt` is ISO 8601 UTC; `cost` is null when unknown.

    `parent` is the session forked from, continued, or served as a subtask, and may be deleted. A
    subtask's cost counts in its parent's too.
    """

    session_id: str
    title: str
    cwd: str
    updated_at: str
    turns: int
    cost: str | None
    parent: str | msgspec.UnsetType = msgspec.UNSET


class SessionListResult(msgspec.Struct, rename="camel", kw_only=True):
    """One page of sessions, newest first; the last without `nextCursor`."""

    sessions: list[SessionInfo]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionLoadParams(msgspec.Struct, rename="camel", kw_only=True):
    """Load a stored session. With `replay` its history comes first, after part `after`.

    The replay repeats updates: each part whole, ends of turns, compactions, notices. `mcpServers`
    are started for the session's original tools.
    """

    session_id: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    replay: bool | msgspec.UnsetType = msgspec.UNSET
    after: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionLoadResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session's current state. `readOnly`: another daemon writes the session."""

    session_id: str
    revision: int
    read_only: bool
    config_options: list[ConfigOption] | msgspec.UnsetType = msgspec.UNSET


class SessionCloseParams(msgspec.Struct, rename="camel", kw_only=True):
    """Close a session, which stays stored."""

    session_id: str


class SessionDeleteParams(msgspec.Struct, rename="camel", kw_only=True):
    """Delete a session for good.

    While a turn runs or waits, refused with -32602 unless `force` cancels it first. Written by
    another window, refused with -32011 in any case.
    """

    session_id: str
    force: bool | msgspec.UnsetType = msgspec.UNSET


class SessionDeleteResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session is deleted; `notes` name places, in sentences, where copies may remain."""

    notes: list[str] | msgspec.UnsetType = msgspec.UNSET


class SessionRenameParams(msgspec.Struct, rename="camel", kw_only=True):
    """A session's new title, of 1 to 200 characters; it counts as used when before."""

    session_id: str
    title: str


class SessionRenameResult(msgspec.Struct, rename="camel", kw_only=True):
    """The title as it is kept, on one line; who has the session open gets it as an update."""

    title: str


class SessionSearchParams(msgspec.Struct, rename="camel", kw_only=True):
    """Search titles, messages, thinking, calls and their shown results of all sessions.

    All words of `query` must stand in one text, in letters of either size and in any order; words
    in double quotes stand together. `cwd`: sessions of this folder alone. `limit`: sessions found,
    20 when absent, at most 100. `cursor` is `nextCursor` of the last page.
    """

    query: str
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    cursor: str | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SearchHit(msgspec.Struct, rename="camel", kw_only=True):
    """A match and what stands around it, in one line; a title's has no ids.

    `context/recall` with `partId` gives the whole text.
    """

    speaker: Annotated[
        str, msgspec.Meta(examples=["title", "user", "agent", "thinking", "tool", "file"])
    ]
    before: str
    match: str
    after: str
    message_id: str | msgspec.UnsetType = msgspec.UNSET
    part_id: str | msgspec.UnsetType = msgspec.UNSET


class FoundSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session and its newest matches, at most five; `more`: there are, or may be, others."""

    session: SessionInfo
    hits: list[SearchHit]
    more: bool


class SessionSearchResult(msgspec.Struct, rename="camel", kw_only=True):
    """What was found in two seconds, in the newest sessions first.

    With `nextCursor` not all sessions were read, whether or not any was found.
    """

    sessions: list[FoundSession]
    next_cursor: str | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionParams(msgspec.Struct, rename="camel", kw_only=True):
    """An option's new value: model, policy, effort, autoCompact, autoContinue."""

    session_id: str
    config_id: str
    value: Any
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionSetConfigOptionResult(msgspec.Struct, rename="camel", kw_only=True):
    """All options with their current values."""

    config_options: list[ConfigOption]


class SessionPromptParams(msgspec.Struct, rename="camel", kw_only=True):
    """Run a turn. `prompt` has ACP's content blocks: text, image, resource, resource_link.

    A link to `sidecar:session/ID` becomes a digest of that session.

    `context` is the editor's state: `{selection?, openFiles?, diagnostics?}`. `steer` adds the text
    to the running turn at its next step instead of starting a turn.
    """

    session_id: str
    prompt: list[dict[str, Any]]
    context: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    steer: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesParams(msgspec.Struct, rename="camel", kw_only=True):
    """Find files of the session's folder by letters of their paths, in order, not all together.

    An empty query gives the topmost files. `limit` is 50 when absent, at most 500.
    """

    session_id: str
    query: str
    limit: int | msgspec.UnsetType = msgspec.UNSET


class SessionFindFilesResult(msgspec.Struct, rename="camel", kw_only=True):
    """Paths relative to `cwd`, the best matches first, without ignored files.

    `partial`: the folder is too large for a look at all of its files.
    """

    files: list[str]
    partial: bool


class Usage(msgspec.Struct, rename="camel", kw_only=True):
    """Tokens of all model requests of a turn; `thoughtTokens` is a share of `outputTokens`."""

    input_tokens: int
    output_tokens: int
    cached_read_tokens: int
    cached_write_tokens: int
    thought_tokens: int
    total_tokens: int
    requests: int


class TurnError(msgspec.Struct, rename="camel", kw_only=True):
    """A turn's failure; `code` and `kind` as in the table of errors, `status` is HTTP's."""

    code: int
    kind: str
    message: str
    retryable: bool
    status: int | msgspec.UnsetType | None = msgspec.UNSET


class SessionPromptResult(msgspec.Struct, rename="camel", kw_only=True):
    """A turn's end, also of a failed turn. `messageId` is the typed message, `cost` in USD."""

    stop_reason: StopReason
    turn_id: str
    message_id: str
    revision: int
    usage: Usage
    cost: str | None
    meter: Meter
    error: TurnError | msgspec.UnsetType = msgspec.UNSET


class SessionCancelParams(msgspec.Struct, rename="camel", kw_only=True):
    """End the running turn and waiting prompts as `cancelled`."""

    session_id: str
