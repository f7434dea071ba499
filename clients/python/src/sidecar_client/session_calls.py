"""Calls of `session/…`: open, prompt, continue and move sessions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

from sidecar_client.calling import blocks, given, given_path
from sidecar_client.messages import (
    BundleFormat,
    Empty,
    SessionCancelParams,
    SessionCloseParams,
    SessionExportParams,
    SessionExportResult,
    SessionFindFilesParams,
    SessionFindFilesResult,
    SessionForkParams,
    SessionForkResult,
    SessionHandoffParams,
    SessionHandoffResult,
    SessionImportParams,
    SessionImportResult,
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
from sidecar_client.stored_session_calls import StoredSessionCalls
from sidecar_client.sync_calls import SyncCalls


class SessionCalls(StoredSessionCalls, SyncCalls):
    """The methods of sessions."""

    async def new(  # noqa: PLR0913 - every one but the folder is an optional keyword
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
        return await self._caller.call("session/new", params, SessionNewResult)

    async def load(
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
            cwd=given_path(cwd),
            replay=replay,
            after=given(after),
        )
        return await self._caller.call("session/load", params, SessionLoadResult)

    async def close(self, session_id: str) -> None:
        """Close a session, which stays stored."""
        await self._caller.call("session/close", SessionCloseParams(session_id=session_id), Empty)

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
        return await self._caller.call(
            "session/set_config_option", params, SessionSetConfigOptionResult
        )

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
        return await self._caller.call("session/prompt", params, SessionPromptResult)

    async def cancel(self, session_id: str) -> None:
        """Stop the running turn: its `prompt` returns with `stop_reason == "cancelled"`."""
        await self._caller.notify("session/cancel", SessionCancelParams(session_id=session_id))

    async def find_files(
        self, session_id: str, query: str, *, limit: int | None = None
    ) -> SessionFindFilesResult:
        """Find files of the session's folder by a few letters of their paths."""
        params = SessionFindFilesParams(session_id=session_id, query=query, limit=given(limit))
        return await self._caller.call("session/findFiles", params, SessionFindFilesResult)

    async def fork(self, session_id: str, at_message_id: str | None = None) -> SessionForkResult:
        """Fork a session at the end of a message, or at its current end."""
        params = SessionForkParams(session_id=session_id, at_message_id=given(at_message_id))
        return await self._caller.call("session/fork", params, SessionForkResult)

    async def handoff(
        self, session_id: str, goal: str, *, go_on: bool = False
    ) -> SessionHandoffResult:
        """Draft the first prompt of a next session; `go_on` opens the session."""
        params = SessionHandoffParams(session_id=session_id, goal=goal, go_on=go_on or UNSET)
        return await self._caller.call("session/handoff", params, SessionHandoffResult)

    async def export(
        self,
        session_id: str,
        path: str | Path | None = None,
        *,
        overwrite: bool = False,
        snapshots: bool = False,
    ) -> SessionExportResult:
        """Export a session to a file, or to a new file in a folder or the data folder.

        With `snapshots`, what its checkpoints need of files goes along.
        """
        params = SessionExportParams(
            session_id=session_id,
            path=given_path(path),
            overwrite=overwrite,
            snapshots=snapshots or UNSET,
        )
        return await self._caller.call("session/export", params, SessionExportResult)

    async def import_(
        self,
        path: str | Path | None = None,
        *,
        content: str | None = None,
        format: BundleFormat | None = None,  # noqa: A002 - the field's name for it
        cwd: str | Path | None = None,
        snapshots: bool = False,
    ) -> SessionImportResult:
        """Import a bundle or another agent's recording as a session, for `load`.

        With `snapshots`, what a bundle says of files is believed.
        """
        params = SessionImportParams(
            format=given(format),
            content=given(content),
            path=given_path(path),
            cwd=given_path(cwd),
            snapshots=snapshots or UNSET,
        )
        return await self._caller.call("session/import", params, SessionImportResult)
