"""The daemon's methods, typed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

from sidecar_client.calling import blocks, given
from sidecar_client.going_back import GoingBack
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
    Empty,
    FactKind,
    FactsListParams,
    FactsListResult,
    Meter,
    SessionCancelParams,
    SessionCloseParams,
    SessionDeleteParams,
    SessionDeleteResult,
    SessionListParams,
    SessionListResult,
    SessionLoadParams,
    SessionLoadResult,
    SessionNewParams,
    SessionNewResult,
    SessionPromptParams,
    SessionPromptResult,
    SessionSetConfigOptionParams,
    SessionSetConfigOptionResult,
    ToolDefinition,
)


class Client(GoingBack):
    """A running, initialized daemon. All methods raise `SidecarError`.

    `version` is the daemon's; `capabilities.features` names its methods. Cancelling a call cancels
    its request.
    """

    # --- sessions ----------------------------------------------------------------------------

    async def new_session(  # noqa: PLR0913 - every one but the folder is an optional keyword
        self,
        cwd: str | Path,
        *,
        title: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        policy: str | None = None,
        window: int | None = None,
        max_tokens: int | None = None,
        tools: Sequence[ToolDefinition] = (),
        builtin_tools: bool = True,
        system: str | None = None,
    ) -> SessionNewResult:
        """Open a new session in a folder; `tools` are run by this client."""
        params = SessionNewParams(
            cwd=str(cwd),
            title=given(title),
            agent=given(agent),
            model=given(model),
            policy=given(policy),
            window=given(window),
            max_tokens=given(max_tokens),
            tools=list(tools) or UNSET,
            builtin_tools=builtin_tools,
            system=given(system),
        )
        return await self._call("session/new", params, SessionNewResult)

    async def load_session(
        self,
        session_id: str,
        *,
        cwd: str | Path | None = None,
        replay: bool = True,
        after: str | None = None,
    ) -> SessionLoadResult:
        """Open a stored session; with `replay` its history comes first, as updates."""
        params = SessionLoadParams(
            session_id=session_id,
            cwd=UNSET if cwd is None else str(cwd),
            replay=replay,
            after=given(after),
        )
        return await self._call("session/load", params, SessionLoadResult)

    async def list_sessions(
        self,
        *,
        cwd: str | Path | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> SessionListResult:
        """List sessions, newest first; `cursor` is `next_cursor` of the previous page."""
        params = SessionListParams(
            cwd=UNSET if cwd is None else str(cwd), cursor=given(cursor), limit=given(limit)
        )
        return await self._call("session/list", params, SessionListResult)

    async def close_session(self, session_id: str) -> None:
        """Close a session, which stays stored."""
        await self._call("session/close", SessionCloseParams(session_id=session_id), Empty)

    async def delete_session(self, session_id: str, *, force: bool = False) -> SessionDeleteResult:
        """Delete a session for good; `notes` name places where copies may remain.

        Refused while a turn runs, unless `force` cancels it first.
        """
        params = SessionDeleteParams(session_id=session_id, force=force or UNSET)
        return await self._call("session/delete", params, SessionDeleteResult)

    async def set_config_option(
        self,
        session_id: str,
        config_id: str,
        value: str | bool,
        *,
        expected_revision: int | None = None,
    ) -> SessionSetConfigOptionResult:
        """Change an option of a session: model, policy, effort, autoCompact, autoContinue."""
        params = SessionSetConfigOptionParams(
            session_id=session_id,
            config_id=config_id,
            value=value,
            expected_revision=given(expected_revision),
        )
        return await self._call("session/set_config_option", params, SessionSetConfigOptionResult)

    # --- turns -------------------------------------------------------------------------------

    async def prompt(
        self,
        session_id: str,
        prompt: str | Sequence[Mapping[str, Any]],
        *,
        context: Mapping[str, Any] | None = None,
        steer: bool = False,
        expected_revision: int | None = None,
    ) -> SessionPromptResult:
        """Run a turn and wait for its end; `prompt` is text or ACP content blocks.

        A failed turn is a result too (`stop_reason == "error"`).
        """
        params = SessionPromptParams(
            session_id=session_id,
            prompt=blocks(prompt),
            context=UNSET if context is None else dict(context),
            steer=steer or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._call("session/prompt", params, SessionPromptResult)

    async def cancel(self, session_id: str) -> None:
        """Stop the running turn: its `prompt` returns with `stop_reason == "cancelled"`."""
        await self.notify("session/cancel", SessionCancelParams(session_id=session_id))

    # --- looking -----------------------------------------------------------------------------

    async def meter(self, session_id: str) -> Meter:
        """Read a session's meter."""
        return await self._call("context/meter", ContextMeterParams(session_id=session_id), Meter)

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
        return await self._call("context/recall", params, ContextRecallResult)

    async def preview(
        self, session_id: str, prompt: str | Sequence[Mapping[str, Any]] | None = None
    ) -> ContextPreviewResult:
        """The provider's next request, with this prompt or the current history."""
        params = ContextPreviewParams(
            session_id=session_id, prompt=UNSET if prompt is None else blocks(prompt)
        )
        return await self._call("context/preview", params, ContextPreviewResult)

    async def status(self) -> DaemonStatusResult:
        """Read the daemon's state."""
        return await self._call("daemon/status", DaemonStatusParams(), DaemonStatusResult)

    async def breakdown(self, session_id: str) -> ContextBreakdownResult:
        """Break the context down into segments."""
        params = ContextBreakdownParams(session_id=session_id)
        return await self._call("context/breakdown", params, ContextBreakdownResult)

    async def facts(
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
            cwd=UNSET if cwd is None else str(cwd),
            kind=given(kind),
            query=given(query),
        )
        return await self._call("facts/list", params, FactsListResult)

    # --- making room -------------------------------------------------------------------------

    async def compact(
        self,
        session_id: str,
        *,
        strategy: str | None = None,
        instructions: str | None = None,
        dry_run: bool = False,
        summary: bool = False,
        expected_revision: int | None = None,
    ) -> ContextCompactResult:
        """Compact now; a dry run only returns the plan, with `summary` a paid summary too."""
        params = ContextCompactParams(
            session_id=session_id,
            strategy=given(strategy),
            instructions=given(instructions),
            dry_run=dry_run or UNSET,
            summary=summary or UNSET,
            expected_revision=given(expected_revision),
        )
        return await self._call("context/compact", params, ContextCompactResult)

    async def undo_compaction(
        self, session_id: str, compaction_id: str | None = None
    ) -> ContextUndoCompactionResult:
        """Undo a compaction, by default the newest not undone."""
        params = ContextUndoCompactionParams(
            session_id=session_id, compaction_id=given(compaction_id)
        )
        return await self._call("context/undo_compaction", params, ContextUndoCompactionResult)

    async def pin(self, session_id: str, part_id: str, pinned: bool) -> ContextPinResult:
        """Keep a part through compactions, or no longer."""
        params = ContextPinParams(session_id=session_id, part_id=part_id, pinned=pinned)
        return await self._call("context/pin", params, ContextPinResult)

    # --- unsaved buffers ---------------------------------------------------------------------

    async def open_document(
        self, path: str | Path, text: str, *, language: str = "plaintext", version: int = 1
    ) -> None:
        """Open a buffer: the daemon's tools see this text instead of the file's."""
        document = {
            "uri": _uri(path),
            "languageId": language,
            "version": version,
            "text": text,
        }
        await self.notify("textDocument/didOpen", {"textDocument": document})

    async def change_document(self, path: str | Path, text: str, version: int) -> None:
        """Send a buffer's whole new text; `version` rises with each change."""
        document = {"uri": _uri(path), "version": version}
        change = {"textDocument": document, "contentChanges": [{"text": text}]}
        await self.notify("textDocument/didChange", change)

    async def close_document(self, path: str | Path) -> None:
        """Close a buffer: the file counts again."""
        await self.notify("textDocument/didClose", {"textDocument": {"uri": _uri(path)}})


def _uri(path: str | Path) -> str:
    return Path(path).absolute().as_uri()
