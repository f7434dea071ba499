"""Continues work in a new session, told in the first prompt."""

import asyncio
from pathlib import Path

from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import RENDERER
from sidecar.session.compaction.session_handoff import WorkStanding, inherited_record
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.static_prompt import stored_static, with_instructions, with_learned
from sidecar.session.log.session_log import SessionLog
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.log_records import CreatedRecord, LinkedRecord
from sidecar.store.format.values import SessionRow

SUFFIX = " (continued)"


async def go_on(environment: Environment, standing: WorkStanding, goal: str) -> SessionLog:
    """Makes a durable session of equal folder, model, tools and settings.

    Raises BadRequest for a missing folder, or StorageFailed; nothing was made then.
    """
    old = standing.row
    if not await asyncio.to_thread(Path(old.cwd).is_dir):
        raise BadRequest(
            f"the folder {old.cwd} of this session is gone: put it back, or open another with "
            "the draft that a handoff without continue gives",
            "params.sessionId",
        )
    title = old.title if old.title.endswith(SUFFIX) or not old.title else old.title + SUFFIX
    settings: JsonObject = {**old.settings, PARENT: old.id}
    log, clock = environment.new_log(old.cwd, title, settings), environment.clock
    before, _ = stored_static(SessionLog(environment.store, standing.stored, clock.now))
    static = await _static(environment, log.row, before)
    epochs.begin(log, static, clock.new_id("cmp"), "new")
    log.writer.note(LinkedRecord(source=old.id))
    log.writer.note(inherited_record(standing, goal))
    await log.writer.commit(CreatedRecord())
    return log


async def _static(environment: Environment, row: SessionRow, before: Static) -> Static:
    model, trusted = str(row.settings["model"]), environment.trust(row.cwd).granted
    found, known = await known_instructions.read(environment, row.cwd, trusted, model)
    same = Static(model, before.tools, before.system, RENDERER)
    return with_learned(with_instructions(same, found), known)
