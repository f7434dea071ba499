"""Tells the model once what happened before a prompt.

A new session hears of inherited work, in a pinned part; a reopened one of changes in the workspace.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.drift import drift, to_check
from sidecar.core.ledger.ledger import File, Ledger
from sidecar.core.parts import MessageId, Part, PartId, TextPart
from sidecar.core.prompt.frames import in_context, within_frame
from sidecar.core.summaries import handoff_draft as telling
from sidecar.session.compaction import milestones
from sidecar.session.compaction.session_handoff import inherited
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import branch_in, ledger_start, messages_after, newest_branch
from sidecar.session.turn.clock import Clock
from sidecar.store.format.log_records import ComparedRecord
from sidecar.store.format.view_records import PinRecord
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.present_state import hash_files, read_branch

MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class _Told:
    """A text to tell; `compared` maps drifted files to their states."""

    text: str
    pinned: bool = False
    compared: Mapping[str, str] | None = None


class WorkNews:
    """Tells news once, and again if a restore left that behind.

    The data `folder` has the milestone with the last known branch.
    """

    def __init__(self, log: SessionLog, buffers: Buffers, clock: Clock, folder: Path) -> None:
        self._log = log
        self._buffers = buffers
        self._clock = clock
        self._folder = folder
        self._told: tuple[int, frozenset[MessageId]] | None = None
        self._before: tuple[int, frozenset[MessageId]] | None = None

    async def tell(self, context: str) -> tuple[Part, ...]:
        """Returns parts of the next logged message; logs the telling.

        `context` holds facts of the moment. After the first note nothing is awaited: notes and
        message are one unit.
        """
        found, log = await self._look(context), self._log
        self._before, self._told = self._told, (log.readings, log.left)
        if found is None:
            return ()
        part = TextPart(self._clock.part_id(), found.text, "context")
        if found.compared is not None:
            log.writer.note(ComparedRecord(files=dict(found.compared)))
        if found.pinned:
            log.writer.note(PinRecord(part_id=part.id, pinned=True))
        return (part,)

    def take_back(self) -> None:
        """Tells news again: the message was not logged."""
        self._told = self._before

    async def foresee(self, context: str) -> tuple[Part, ...]:
        """Does as `tell`, without logging."""
        found = await self._look(context)
        return () if found is None else (TextPart(PartId("preview told"), found.text, "context"),)

    async def _look(self, context: str) -> _Told | None:
        log = self._log
        if self._told == (log.readings, log.left):
            return None
        before = inherited(log.records)
        if before is not None and not any(m.role == "user" for m in log):
            root, made = Path(log.row.cwd), before.checkpoint
            drifted = await milestones.drifted(root, self._buffers, made)
            text = telling.bootstrap(made, before.title, before.goal, before.said, drifted)
            return _Told(_block(text), pinned=True)
        # Of a session without a message nothing can have changed.
        return await self._compare(context) if log.messages else None

    async def _compare(self, context: str) -> _Told | None:
        files = _ledger(self._log).changed
        root = Path(self._log.row.cwd)

        def look() -> Mapping[str, str | None]:
            return hash_files(to_check(files), root, self._buffers)

        found = await asyncio.to_thread(look) if files else {}
        now = {file.path: _state(file, found) for file in files if file.path in found}
        known = self._log.last_told(ComparedRecord)
        told = {} if known is None else known.files
        new = [file for file in files if told.get(file.path) != now.get(file.path)]
        lines = drift(new, "", found, "", MOST_LINES)
        branch = await self._branch(context)
        if not (lines or branch):
            return None
        return _Told(_block(telling.changes_since((*branch, *lines))), compared=now)

    async def _branch(self, context: str) -> tuple[str, ...]:
        """Tells of a Git branch that is not the last use's."""
        before, now = newest_branch(self._log), branch_in(context)
        if not (before and now):
            row = self._log.row
            saved = await asyncio.to_thread(milestones.read, self._folder, row.id)
            before = "" if saved is None else saved.branch
            now = await asyncio.to_thread(read_branch, Path(row.cwd)) if before else ""
        return drift((), before, {}, now)


def _ledger(log: SessionLog) -> Ledger:
    folding, last = ledger_start(log)
    for message in messages_after(log, last) or ():
        folding.hear(message)
    return folding.ledger()


def _state(file: File, found: Mapping[str, str | None]) -> str:
    """Identifies a file's drift, so it is told once."""
    return f"{file.state} {file.hash} {found[file.path]}"


def _block(text: str) -> str:
    return in_context(within_frame(text))
