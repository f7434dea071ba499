"""The daemon's methods, typed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from sidecar_client.connection import INTERNAL_ERROR, Connection
from sidecar_client.errors import SidecarError
from sidecar_client.messages import (
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointListParams,
    CheckpointListResult,
    CheckpointRedoParams,
    CheckpointRestoreParams,
    CheckpointRestoreResult,
    ContextCompactParams,
    ContextCompactResult,
    ContextMeterParams,
    ContextPreviewParams,
    ContextPreviewResult,
    ContextRecallParams,
    ContextRecallResult,
    ContextUndoCompactionParams,
    ContextUndoCompactionResult,
    DaemonStatusParams,
    DaemonStatusResult,
    Empty,
    Meter,
    OnConflict,
    RestoreScope,
    ServerCapabilities,
    SessionCancelParams,
    SessionCloseParams,
    SessionDeleteParams,
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

T = TypeVar("T")


class Client:
    """A daemon that is running and initialized. All methods raise `SidecarError`.

    `version` is the daemon's; `capabilities.features` names the methods that it has.
    Cancelling a call tells the daemon to stop it.
    """

    def __init__(
        self, connection: Connection, version: str, capabilities: ServerCapabilities
    ) -> None:
        self._connection = connection
        self.version = version
        self.capabilities = capabilities

    async def request(self, method: str, params: Any = None) -> Any:  # noqa: ANN401 - any JSON
        """Send any request and give its result as plain JSON."""
        return msgspec.json.decode(await self._connection.request(method, _object(params)))

    async def notify(self, method: str, params: Any = None) -> None:  # noqa: ANN401 - any JSON
        """Send any notification."""
        await self._connection.notify(method, _object(params))

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
        """Open a new session in a folder; `tools` are those that this client runs."""
        params = SessionNewParams(
            cwd=str(cwd),
            title=_given(title),
            agent=_given(agent),
            model=_given(model),
            policy=_given(policy),
            window=_given(window),
            max_tokens=_given(max_tokens),
            tools=list(tools) or UNSET,
            builtin_tools=builtin_tools,
            system=_given(system),
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
        """Open a stored session; with `replay` its history comes as updates before the result."""
        params = SessionLoadParams(
            session_id=session_id,
            cwd=UNSET if cwd is None else str(cwd),
            replay=replay,
            after=_given(after),
        )
        return await self._call("session/load", params, SessionLoadResult)

    async def list_sessions(
        self,
        *,
        cwd: str | Path | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> SessionListResult:
        """List sessions, newest first; `cursor` is `next_cursor` of the page before."""
        params = SessionListParams(
            cwd=UNSET if cwd is None else str(cwd), cursor=_given(cursor), limit=_given(limit)
        )
        return await self._call("session/list", params, SessionListResult)

    async def close_session(self, session_id: str) -> None:
        """Let go of a session; it stays stored."""
        await self._call("session/close", SessionCloseParams(session_id=session_id), Empty)

    async def delete_session(self, session_id: str) -> None:
        """Delete a session for good."""
        await self._call("session/delete", SessionDeleteParams(session_id=session_id), Empty)

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
            expected_revision=_given(expected_revision),
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

        A turn that fails is a result too (`stop_reason == "error"`).
        """
        params = SessionPromptParams(
            session_id=session_id,
            prompt=_blocks(prompt),
            context=UNSET if context is None else dict(context),
            steer=steer or UNSET,
            expected_revision=_given(expected_revision),
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
        """Read what was logged under an id; `offset` and `limit` are bytes of UTF-8."""
        params = ContextRecallParams(
            session_id=session_id,
            part_id=part_id,
            offset=_given(offset),
            limit=_given(limit),
            pattern=_given(pattern),
        )
        return await self._call("context/recall", params, ContextRecallResult)

    async def preview(
        self, session_id: str, prompt: str | Sequence[Mapping[str, Any]] | None = None
    ) -> ContextPreviewResult:
        """Show the provider's request as it would be sent, with this prompt or as it stands."""
        params = ContextPreviewParams(
            session_id=session_id, prompt=UNSET if prompt is None else _blocks(prompt)
        )
        return await self._call("context/preview", params, ContextPreviewResult)

    async def status(self) -> DaemonStatusResult:
        """Ask how the daemon is."""
        return await self._call("daemon/status", DaemonStatusParams(), DaemonStatusResult)

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
        """Make room now; a dry run only answers the plan, with `summary` its summary too (paid)."""
        params = ContextCompactParams(
            session_id=session_id,
            strategy=_given(strategy),
            instructions=_given(instructions),
            dry_run=dry_run or UNSET,
            summary=summary or UNSET,
            expected_revision=_given(expected_revision),
        )
        return await self._call("context/compact", params, ContextCompactResult)

    async def undo_compaction(
        self, session_id: str, compaction_id: str | None = None
    ) -> ContextUndoCompactionResult:
        """Take a compaction back, or the newest that stands: what it left out is shown again."""
        params = ContextUndoCompactionParams(
            session_id=session_id, compaction_id=_given(compaction_id)
        )
        return await self._call("context/undo_compaction", params, ContextUndoCompactionResult)

    # --- going back --------------------------------------------------------------------------

    async def checkpoint_list(self, session_id: str) -> CheckpointListResult:
        """List the states that a session can go back to, oldest first."""
        params = CheckpointListParams(session_id=session_id)
        return await self._call("checkpoint/list", params, CheckpointListResult)

    async def checkpoint_diff(
        self, session_id: str, from_checkpoint: str, to: str | None = None, path: str | None = None
    ) -> CheckpointDiffResult:
        """Show what changed from one checkpoint to another, or until now; of one path or of all."""
        params = CheckpointDiffParams(
            session_id=session_id, from_checkpoint=from_checkpoint, to=_given(to), path=_given(path)
        )
        return await self._call("checkpoint/diff", params, CheckpointDiffResult)

    async def checkpoint_restore(  # noqa: PLR0913 - each is a choice of its own
        self,
        session_id: str,
        *,
        checkpoint_id: str | None = None,
        before_message_id: str | None = None,
        scope: RestoreScope = "both",
        on_conflict: OnConflict | None = None,
        markers: bool = False,
        paths: Sequence[str] = (),
        dry_run: bool = False,
        expected_revision: int | None = None,
    ) -> CheckpointRestoreResult:
        """Go back to a checkpoint, or to before a message; a dry run only answers the plan.

        Without `paths` every file is meant. Conflicts are refused unless `on_conflict` says more;
        with `markers`, a merge writes what clashes with both sides between markers.
        """
        params = CheckpointRestoreParams(
            session_id=session_id,
            scope=scope,
            checkpoint_id=_given(checkpoint_id),
            before_message_id=_given(before_message_id),
            on_conflict=_given(on_conflict),
            markers=markers or UNSET,
            paths=list(paths) or UNSET,
            dry_run=dry_run or UNSET,
            expected_revision=_given(expected_revision),
        )
        return await self._call("checkpoint/restore", params, CheckpointRestoreResult)

    async def checkpoint_redo(
        self,
        session_id: str,
        checkpoint_id: str | None = None,
        *,
        on_conflict: OnConflict | None = None,
        markers: bool = False,
        dry_run: bool = False,
        expected_revision: int | None = None,
    ) -> CheckpointRestoreResult:
        """Take back a restore, by its `undo_checkpoint_id`, or the newest that stands."""
        params = CheckpointRedoParams(
            session_id=session_id,
            checkpoint_id=_given(checkpoint_id),
            on_conflict=_given(on_conflict),
            markers=markers or UNSET,
            dry_run=dry_run or UNSET,
            expected_revision=_given(expected_revision),
        )
        return await self._call("checkpoint/redo", params, CheckpointRestoreResult)

    # --- unsaved buffers ---------------------------------------------------------------------

    async def open_document(
        self, path: str | Path, text: str, *, language: str = "plaintext", version: int = 1
    ) -> None:
        """Show the daemon a buffer: its tools see this text instead of the file's."""
        document = {
            "uri": _uri(path),
            "languageId": language,
            "version": version,
            "text": text,
        }
        await self.notify("textDocument/didOpen", {"textDocument": document})

    async def change_document(self, path: str | Path, text: str, version: int) -> None:
        """Give a buffer's whole new text; `version` rises with each change."""
        document = {"uri": _uri(path), "version": version}
        change = {"textDocument": document, "contentChanges": [{"text": text}]}
        await self.notify("textDocument/didChange", change)

    async def close_document(self, path: str | Path) -> None:
        """Say that a buffer is closed: the file counts again."""
        await self.notify("textDocument/didClose", {"textDocument": {"uri": _uri(path)}})

    async def _call(self, method: str, params: msgspec.Struct, result: type[T]) -> T:
        answer = await self._connection.request(method, params)
        try:
            return msgspec.json.decode(answer, type=result)
        except msgspec.ValidationError as error:
            text = f"{method} was answered in a form that this client does not know: {error}"
            raise SidecarError(INTERNAL_ERROR, "unknown_form", text, {}) from error


def _given(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _blocks(prompt: str | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(prompt, str):
        return [{"type": "text", "text": prompt}]
    return [dict(block) for block in prompt]


def _object(params: Any) -> Any:  # noqa: ANN401 - any JSON
    return {} if params is None else params


def _uri(path: str | Path) -> str:
    return Path(path).absolute().as_uri()
