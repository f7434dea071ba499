"""Keeps and promotes learned facts.

No session reads its own promoted facts, so its prefix stays the same.
"""

import asyncio
import logging
from functools import partial
from pathlib import Path

from sidecar.core.conversation.fact import KINDS
from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.ledger.learned_markdown import is_worth_keeping, render
from sidecar.core.parts import SessionId
from sidecar.session.changes.permissions import keeps_in
from sidecar.session.changes.session_trust import Trust
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import resolved
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.session_log import SessionLog
from sidecar.store.content.fact_rows import FactRows, StoredFact
from sidecar.store.format.log_records import NoticeLevel
from sidecar.workspace.learned_files import FOLDER, promote, read_learned

ROOM = 2_000
"""Most tokens of learned facts in a prompt."""
MOST_FOUND = 200
"""Facts returned at once."""
LIMIT = 30.0
"""Seconds for the store to note a write."""

logger = logging.getLogger("sidecar.session")


class Lessons:
    """Keeps a session's facts for later ones of its workspace."""

    def __init__(
        self, environment: Environment, log: SessionLog, channel: Channel, trust: Trust
    ) -> None:
        self._environment = environment
        self._log = log
        self._channel = channel
        self._trust = trust

    async def promote(self) -> None:
        """Writes facts worth keeping to the workspace.

        After a failure they wait in the store; nothing is raised.
        """
        if not (self._environment.settings.config.learned and self._trust.granted):
            return
        try:
            added = await self._promote()
        except (SidecarError, OSError) as error:
            logger.warning("facts were not promoted: %s", error)
            text = f"What was learned could not be kept for later sessions: {error}"
            self._tell("warning", text)
            return
        if added:
            facts_were = "1 fact was" if added == 1 else f"{added} facts were"
            self._tell("info", f"{facts_were} added to {FOLDER}, for later sessions to know.")

    async def _promote(self) -> int:
        row, rows = self._log.row, self._environment.store.facts
        worth = [
            candidate.fact
            for candidate in await rows.candidates(row.id)
            if is_worth_keeping(candidate.fact, candidate.sessions)
        ]
        if not worth:
            return 0
        trusted, loop = self._trust.granted, asyncio.get_running_loop()
        workspaces = self._environment.workspaces

        def writes(real: Path, text: str) -> None:
            # What the daemon writes itself is nobody's change.
            asyncio.run_coroutine_threadsafe(workspaces.own(real, text), loop).result(LIMIT)

        done = await asyncio.to_thread(promote, Path(row.cwd), trusted, row.id, worth, writes)
        await rows.promoted(row.cwd, done, self._environment.clock.now())
        return len(done)

    def _tell(self, level: NoticeLevel, text: str) -> None:
        if self._channel.watchers:
            give_notice(self._log, self._channel, level, text)


async def learned(environment: Environment, cwd: str, model: str, without: str) -> str:
    """Renders a trusted workspace's facts, without those of session `without`."""
    models, reject = environment.models, environment.settings.config.permissions.reject

    def read() -> str:
        files = read_learned(Path(cwd), True, keeps_in(cwd, environment.root, reject))
        return render(files, partial(models.tokens, model), ROOM, without) if files else ""

    return await asyncio.to_thread(read)


async def find(
    rows: FactRows,
    session_id: str | None,
    cwd: str | None,
    kind: str | None,
    query: str | None,
) -> tuple[StoredFact, ...]:
    """Returns up to 200 facts, newest first.

    Raises BadRequest for an unknown kind or an invalid `cwd`, UnknownSession.
    """
    if kind is not None and kind not in KINDS:
        raise BadRequest(
            f"there are no facts of the kind {kind!r}; there are {', '.join(KINDS)}", "params.kind"
        )
    folder = None if cwd is None else await asyncio.to_thread(resolved, cwd)
    return await rows.find(
        session_id=None if session_id is None else SessionId(session_id),
        cwd=folder,
        kind=kind,
        query=query,
        limit=MOST_FOUND,
    )
