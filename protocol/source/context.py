"""Looking into the context and changing it: recall, breakdown, preview, compaction, pins."""

from typing import Annotated, Any

import msgspec

from protocol.source.meter import Accuracy, Meter


class ContextRecallParams(msgspec.Struct, rename="camel", kw_only=True):
    """Recall a logged part by id; `offset` and `limit` are bytes of UTF-8.

    With `pattern`, a regular expression: matching lines with numbers.
    """

    session_id: str
    part_id: str
    offset: int | msgspec.UnsetType = msgspec.UNSET
    limit: int | msgspec.UnsetType = msgspec.UNSET
    pattern: str | msgspec.UnsetType = msgspec.UNSET


class ContextRecallResult(msgspec.Struct, rename="camel", kw_only=True):
    """A piece of the text, the last if without `nextOffset`."""

    content: str
    total_bytes: int
    next_offset: int | msgspec.UnsetType = msgspec.UNSET


class ContextBreakdownParams(msgspec.Struct, rename="camel", kw_only=True):
    """Break down a session's context into segments."""

    session_id: str


class ContextSegment(msgspec.Struct, rename="camel", kw_only=True):
    """A piece of the prompt; `presentation` tells whether whole, cut or a stub.

    `pinned`: kept through compactions. `reason`: of the rewrite by which the part is not whole.
    `server`: the MCP server of a tool.
    """

    id: str
    region: str
    label: str
    tokens: int
    accuracy: Accuracy
    presentation: str
    cached: bool
    pinned: bool
    reason: str | msgspec.UnsetType = msgspec.UNSET
    turn_id: str | msgspec.UnsetType = msgspec.UNSET
    part_id: str | msgspec.UnsetType = msgspec.UNSET
    server: str | msgspec.UnsetType = msgspec.UNSET


class ContextBreakdownResult(msgspec.Struct, rename="camel", kw_only=True):
    """The meter and its segments, in the order of the prompt."""

    meter: Meter
    segments: list[ContextSegment]


class ContextPreviewParams(msgspec.Struct, rename="camel", kw_only=True):
    """Preview the next request with this prompt, or the current history without one."""

    session_id: str
    prompt: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class ContextPreviewResult(msgspec.Struct, rename="camel", kw_only=True):
    """`request` is the provider's exact request body; `price` is USD or null."""

    request: dict[str, Any]
    tokens: int
    predicted_cache_read: int
    predicted_cache_write: int
    price: str | None
    breakpoints: list[dict[str, Any]]


class ContextCompactParams(msgspec.Struct, rename="camel", kw_only=True):
    """Compact the context now; `dryRun` only plans.

    With `summary` a dry run requests the summary too, which costs money. `workDoneToken` is LSP's:
    progress comes by `$/progress`, and `window/workDoneProgress/cancel` stops the work. Parts of
    `keep` stay this once, as pinned ones do; the plan's `reason` says why where one cannot.
    """

    session_id: str
    strategy: str | msgspec.UnsetType = msgspec.UNSET
    keep: list[str] | msgspec.UnsetType = msgspec.UNSET
    instructions: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET
    summary: bool | msgspec.UnsetType = msgspec.UNSET
    work_done_token: str | int | msgspec.UnsetType = msgspec.UNSET


class CompactionStep(msgspec.Struct, rename="camel", kw_only=True):
    """A change to one part or turn, with its reason."""

    action: Annotated[
        str,
        msgspec.Meta(examples=["drop", "evict", "truncate", "excerpt", "restore", "summarize"]),
    ]
    reason: str
    tokens_before: int
    tokens_after: int
    part_id: str | msgspec.UnsetType = msgspec.UNSET
    turn_id: str | msgspec.UnsetType = msgspec.UNSET


class FileShownAsItStands(msgspec.Struct, rename="camel", kw_only=True):
    """A file that is worked on: ranges of lines from 1, their tokens, and USD for writing them.

    `price` is null where prices are not known.
    """

    path: str
    lines: Annotated[str, msgspec.Meta(examples=["1-40, 88-120"])]
    tokens: int
    price: str | None


class ContextCompactResult(msgspec.Struct, rename="camel", kw_only=True):
    """The plan and its gain; `breakEvenRequests` is the number of requests until the plan pays.

    `files` are shown as they stand, in place of earlier reads of them. A dry run with nothing to
    leave out returns an empty plan and the `reason`. `asked`: the ways to a summary and the models
    asked, in order (`server`: the provider's own compaction; `extension`: behind the conversation;
    `fresh`: apart); of a dry run, the first to be asked. `problem`: why one gave none.
    """

    plan: list[CompactionStep]
    tokens_before: int
    tokens_after: int
    price: str | None
    break_even_requests: int | None
    files: list[FileShownAsItStands] | msgspec.UnsetType = msgspec.UNSET
    compaction_id: str | msgspec.UnsetType = msgspec.UNSET
    summary: str | msgspec.UnsetType = msgspec.UNSET
    asked: list[str] | msgspec.UnsetType = msgspec.UNSET
    problem: str | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET


class ContextUndoCompactionParams(msgspec.Struct, rename="camel", kw_only=True):
    """Undo a compaction, by default the newest not undone."""

    session_id: str
    compaction_id: str | msgspec.UnsetType = msgspec.UNSET


class ContextUndoCompactionResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session afterwards."""

    revision: int
    meter: Meter


class ContextPinParams(msgspec.Struct, rename="camel", kw_only=True):
    """Keep a part in the context through compactions, or no longer."""

    session_id: str
    part_id: str
    pinned: bool


class ContextPinResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session's newest revision."""

    revision: int
