"""Calls of `context/…`, `facts/…` and `daemon/…`: look, and make room."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

from sidecar_client.calling import Caller, blocks, given, given_path
from sidecar_client.messages import (
    ContextBreakdownParams,
    ContextBreakdownResult,
    ContextCompactParams,
    ContextCompactResult,
    ContextMeterParams,
    ContextPinParams,
    ContextPinResult,
    ContextPreviewParams,
    ContextPreviewResult,
    ContextRecallParams,
    ContextRecallResult,
    ContextUndoCompactionParams,
    ContextUndoCompactionResult,
    DaemonStatusParams,
    DaemonStatusResult,
    FactKind,
    FactsListParams,
    FactsListResult,
    Meter,
)


class ContextCalls:
    """The methods of a session's context."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def meter(self, session_id: str) -> Meter:
        """Read a session's meter."""
        return await self._caller.call(
            "context/meter", ContextMeterParams(session_id=session_id), Meter
        )

    async def recall(
        self,
        session_id: str,
        part_id: str,
        *,
        offset: int | None = None,
        limit: int | None = None,
        pattern: str | None = None,
    ) -> ContextRecallResult:
        """Read a logged part by id; `offset` and `limit` are bytes of UTF-8."""
        params = ContextRecallParams(
            session_id=session_id,
            part_id=part_id,
            offset=given(offset),
            limit=given(limit),
            pattern=given(pattern),
        )
        return await self._caller.call("context/recall", params, ContextRecallResult)

    async def preview(
        self, session_id: str, prompt: str | Sequence[Mapping[str, Any]] | None = None
    ) -> ContextPreviewResult:
        """The provider's next request, with this prompt or the current history."""
        params = ContextPreviewParams(
            session_id=session_id, prompt=UNSET if prompt is None else blocks(prompt)
        )
        return await self._caller.call("context/preview", params, ContextPreviewResult)

    async def breakdown(self, session_id: str) -> ContextBreakdownResult:
        """Break the context down into segments."""
        params = ContextBreakdownParams(session_id=session_id)
        return await self._caller.call("context/breakdown", params, ContextBreakdownResult)

    async def compact(
        self,
        session_id: str,
        *,
        strategy: str | None = None,
        instructions: str | None = None,
        keep: Sequence[str] = (),
        dry_run: bool = False,
        summary: bool = False,
        expected_revision: int | None = None,
    ) -> ContextCompactResult:
        """Compact now; a dry run only returns the plan, with `summary` a paid summary too.

        Parts of `keep` stay this once.
        """
        params = ContextCompactParams(
            session_id=session_id,
            strategy=given(strategy),
            instructions=given(instructions),
            keep=list(keep) or UNSET,
            dry_run=dry_run or UNSET,
            summary=summary or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._caller.call("context/compact", params, ContextCompactResult)

    async def undo_compaction(
        self, session_id: str, compaction_id: str | None = None
    ) -> ContextUndoCompactionResult:
        """Undo a compaction, by default the newest not undone."""
        params = ContextUndoCompactionParams(
            session_id=session_id, compaction_id=given(compaction_id)
        )
        return await self._caller.call(
            "context/undoCompaction", params, ContextUndoCompactionResult
        )

    async def pin(self, session_id: str, part_id: str, pinned: bool) -> ContextPinResult:
        """Keep a part through compactions, or no longer."""
        params = ContextPinParams(session_id=session_id, part_id=part_id, pinned=pinned)
        return await self._caller.call("context/pin", params, ContextPinResult)


class FactCalls:
    """The methods of what sessions found out."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        session_id: str | None = None,
        cwd: str | Path | None = None,
        kind: FactKind | None = None,
        query: str | None = None,
    ) -> FactsListResult:
        """List facts of sessions, newest first; all given conditions must hold."""
        params = FactsListParams(
            session_id=given(session_id),
            cwd=given_path(cwd),
            kind=given(kind),
            query=given(query),
        )
        return await self._caller.call("facts/list", params, FactsListResult)


class DaemonCalls:
    """The methods of the daemon itself."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def status(self) -> DaemonStatusResult:
        """Read the daemon's state."""
        return await self._caller.call("daemon/status", DaemonStatusParams(), DaemonStatusResult)
