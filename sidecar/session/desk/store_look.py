"""Reads sessions without lease or writes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from sidecar.config.reload import CurrentSettings
from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import SessionId
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.render import result_of
from sidecar.core.prompt.tokens import Count
from sidecar.observe.report.course import Course
from sidecar.session.desk.log_course import read_course
from sidecar.session.log.session_log import SessionLog
from sidecar.session.read_state import ReadState, read_log
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.kept_counts import KeptCounts
from sidecar.store.format.log_records import ImportedRecord, ToolRecord
from sidecar.store.format.values import Stored
from sidecar.store.journal import Store
from sidecar.workspace.variables import shed_import_paths


@dataclass(frozen=True, slots=True)
class ReadAccess:
    """Services for reading a session."""

    store: Store
    models: ModelAccess
    configured: CurrentSettings
    clock: Clock


async def look(
    access: ReadAccess, session_id: SessionId, clean: Callable[[str], str], *, sized: bool = True
) -> Course:
    """Reads a course, as `read_course`, in one consistent state.

    Raises UnknownSession, StorageFailed.
    """
    stored, kept = await _load(access, session_id)
    return await asyncio.to_thread(
        lambda: read_course(_read(access, stored, kept), clean, stored.problems, sized=sized)
    )


async def sent_now(access: ReadAccess, session_id: SessionId) -> Prompt:
    """Raises as `look`."""
    stored, kept = await _load(access, session_id)

    def read() -> Prompt:
        reading = _read(access, stored, kept)
        return reading.view.prompt(reading.log.messages)

    return await asyncio.to_thread(read)


async def _load(access: ReadAccess, session_id: SessionId) -> tuple[Stored, KeptCounts]:
    logs = access.store.logs
    stored = await logs.load(session_id)
    return stored, KeptCounts(await logs.counts(session_id, access.models.vocabulary))


def _read(access: ReadAccess, stored: Stored, kept: KeptCounts) -> ReadState:
    shed_import_paths(Path(stored.session.cwd))
    log = SessionLog(access.store, stored, access.clock.now)
    models = replace(access.models, count=_counting(log, access.models.count, kept))
    return read_log(models, access.configured, access.clock, log)


def _counting(log: SessionLog, count: Count, kept: KeptCounts) -> Count:
    """Counts each text once, for the view and the walk.

    Results' records tell what the daemon counted, but for what came from elsewhere; so do the
    counts that it kept.
    """
    came = log.last_record(ImportedRecord)
    since = 0 if came is None else came.revision
    told = {
        record.part_id: record.tokens
        for record in log.records
        if isinstance(record, ToolRecord) and record.revision > since and record.tokens is not None
    }
    parts = (part for message in log.messages for part in tool_parts(message))
    known = {result_of(part).text: told[part.id] for part in parts if part.id in told}

    def once(text: str) -> int:
        found = kept.of(text)
        return count(text) if found is None else found

    counted = cache(once)

    def tokens(text: str) -> int:
        found = known.get(text)
        return counted(text) if found is None else found

    return tokens
