"""Fresh windows: work continued in a new session, and a workspace compared with the ledger.

A new session's first prompt tells the state of the work, in a pinned part. A reopened session is
told of changes in the workspace. Both are logged parts, and so stay unchanged.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.ledger.drift import drift, to_check
from sidecar.core.ledger.ledger import File, Ledger
from sidecar.core.parts import JsonObject, Part, PartId, SessionId, TextPart
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import RENDERER
from sidecar.core.summaries import handoff_draft as telling
from sidecar.session.compaction import milestones
from sidecar.session.compaction.session_handoff import WorkStanding, inherited, inherited_record
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.static_prompt import with_instructions, with_learned
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import (
    branch_in,
    ledger_start,
    messages_after,
    newest_branch,
)
from sidecar.session.state import Environment, State
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.log_records import ComparedRecord, CreatedRecord, LinkedRecord
from sidecar.store.format.values import SessionRow, Stored
from sidecar.store.format.view_records import PinRecord
from sidecar.workspace.present_state import hash_files, read_branch

MOST_LINES = 5
SUFFIX = " (continued)"


async def go_on(environment: Environment, standing: WorkStanding, goal: str) -> SessionLog:
    """Make a durable session for another's work, with the same folder, model, tools and settings.

    Raises:
        BadRequest: the folder is gone.
        StorageFailed: nothing was made.
    """
    old = standing.row
    if not await asyncio.to_thread(Path(old.cwd).is_dir):
        raise BadRequest(
            f"the folder {old.cwd} of this session is gone: put it back, or open another with "
            "the draft that a handoff without continue gives",
            "params.sessionId",
        )
    now, clock = environment.clock.now(), environment.clock
    title = old.title if old.title.endswith(SUFFIX) or not old.title else old.title + SUFFIX
    settings: JsonObject = {**old.settings, PARENT: old.id}
    session_id = SessionId(clock.new_id("ses"))
    row = SessionRow(session_id, old.cwd, title, now, now, 0, 0, 0, "0", settings)
    log = SessionLog(environment.store, Stored(row, (), ()), clock.now)
    before, _ = epochs.stored_static(SessionLog(environment.store, standing.stored, clock.now))
    static = await _static(environment, row, before)
    epochs.begin(log, static, clock.new_id("cmp"), "new")
    log.writer.note(LinkedRecord(source=old.id))
    log.writer.note(inherited_record(standing, goal))
    await log.writer.commit(CreatedRecord())
    return log


async def _static(environment: Environment, row: SessionRow, before: Static) -> Static:
    """Former tools and system text, with present instructions and lessons."""
    model, trusted = str(row.settings["model"]), environment.trust(row.cwd).granted
    found, known = await known_instructions.read(environment, row.cwd, trusted, model)
    same = Static(model, before.tools, before.system, RENDERER)
    return with_learned(with_instructions(same, found), known)


@dataclass(frozen=True, slots=True)
class _Told:
    """Text told once with a prompt. `compared` maps drifted files to their states."""

    text: str
    pinned: bool = False
    compared: Mapping[str, str] | None = None


async def tell(state: State, context: str) -> tuple[Part, ...]:
    """Parts to tell once with the next logged message; the log notes the telling.

    `context` comes from `State.facts`. After the first note nothing is awaited, so that notes and
    message can be one unit of the log.
    """
    found = await _look(state, context)
    state.compared = True
    if found is None:
        return ()
    part = TextPart(state.clock.part_id(), found.text, "context")
    if found.compared is not None:
        state.log.writer.note(ComparedRecord(files=dict(found.compared)))
    if found.pinned:
        state.log.writer.note(PinRecord(part_id=part.id, pinned=True))
    return (part,)


async def foresee(state: State, context: str) -> tuple[Part, ...]:
    """Parts of `tell`, for a preview; nothing is noted."""
    found = await _look(state, context)
    return () if found is None else (TextPart(PartId("preview told"), found.text, "context"),)


async def _look(state: State, context: str) -> _Told | None:
    if state.compared:
        return None
    before = inherited(state.log.records)
    if before is not None and not any(m.role == "user" for m in state.log):
        drifted = await milestones.drifted(state, before.checkpoint)
        text = telling.bootstrap(before.checkpoint, before.title, before.goal, before.said, drifted)
        return _Told(_block(text), pinned=True)
    # Of a session without a message nothing can have changed.
    return await _compare(state, context) if state.log.messages else None


async def _compare(state: State, context: str) -> _Told | None:
    """Lines on changes since the agent's last work; `None` without any."""
    files = _ledger(state.log).changed
    root = Path(state.log.row.cwd)

    def look() -> Mapping[str, str | None]:
        return hash_files(to_check(files), root, state.buffers)

    found = await asyncio.to_thread(look) if files else {}
    now = {file.path: _state(file, found) for file in files if file.path in found}
    known = state.log.last_told(ComparedRecord)
    told = {} if known is None else known.files
    new = [file for file in files if told.get(file.path) != now.get(file.path)]
    lines = drift(new, "", found, "")
    branch = await _branch(state, context)
    if not (lines or branch):
        return None
    shown = [*branch, *lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    if more > 0:
        shown.append(f"… and {more} more files are not as they were.")
    return _Told(_block(telling.changes_since(shown)), compared=now)


def _ledger(log: SessionLog) -> Ledger:
    folding, last = ledger_start(log)
    for message in messages_after(log, last):
        folding.hear(message)
    return folding.ledger()


async def _branch(state: State, context: str) -> tuple[str, ...]:
    """A line if the Git branch is not the branch of the session's last use."""
    before, now = newest_branch(state.log), branch_in(context)
    if not (before and now):
        row, folder = state.log.row, state.store.folder
        saved = await asyncio.to_thread(milestones.read, folder, row.id)
        before = "" if saved is None else saved.branch
        now = await asyncio.to_thread(read_branch, Path(row.cwd)) if before else ""
    return drift((), before, {}, now)


def _state(file: File, found: Mapping[str, str | None]) -> str:
    """Key of a file's known and found state, so that a drift is told once."""
    return f"{file.state} {file.hash} {found[file.path]}"


def _block(text: str) -> str:
    inner = text.replace("</context", "<\\/context")
    return f"<context>\n{inner}\n</context>"
