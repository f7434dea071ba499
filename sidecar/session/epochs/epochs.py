"""Epochs: stretches of requests with the same static bytes.

A record with the cause begins each; clients hear of each once.
"""

from dataclasses import replace

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Millis, StepFinishPart
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import RENDERER
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.epochs.static_prompt import epoch_record, in_order, static_of
from sidecar.session.log.channel import give_notice
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.state import State
from sidecar.store.format.view_records import EpochRecord, ModelChangedRecord


def begin(log: SessionLog, static: Static, compaction_id: str, cause: str) -> Millis:
    """Queue a new epoch's record for the next commit; return its time."""
    log.writer.note(epoch_record(static, compaction_id, cause))
    return log.records[-1].at


def stored_static(log: SessionLog) -> tuple[Static, int]:
    """Static bytes and start of the log's present epoch.

    Raises:
        StorageFailed: the log has no readable epoch.
    """
    record = log.last_record(EpochRecord)
    if record is None:
        raise StorageFailed(
            "this session's log has lost its beginning; run `sidecar verify`", kind="corrupt"
        )
    return static_of(record), record.at


def bound_since(log: SessionLog) -> Millis:
    """Time from which tools and system text are as now; older thinking is bound to others."""
    since, newest = 0, None
    for record in reversed(log.records):
        if not isinstance(record, EpochRecord):
            continue
        static = (record.tools, record.system)
        if newest is not None and static != newest:
            break
        newest, since = static, record.at
    return since


async def follow_tools(state: State) -> None:
    """Add tools of MCP servers that started late, behind the others, if nothing was sent yet.

    Waits for servers still starting.
    """
    if any(message.role == "assistant" for message in state.log):
        return
    found = await state.environment.mcp.found(state.log.row.id)
    static = state.view.static
    known = {tool.name for tool in static.tools}
    if new := tuple(tool for tool in found.tools if tool.name not in known):
        changed = replace(static, tools=in_order((*static.tools, *new)))
        since = begin(state.log, changed, state.clock.new_id("cmp"), "new")
        state.view.restate(changed, since)
    for text in found.said:
        give_notice(state.log, state.channel, "warning", f"{text}.")


async def follow_model(state: State, instructions: KnownInstructions) -> EpochChanged | None:
    """Begin an epoch if the session's model differs from the prefix's.

    Another model has another cache and cannot read earlier thinking, which is left out. The new
    prefix has the current instructions. Returns the event for clients; `None` if nothing was sent
    before, or nothing changed.
    """
    static, model = state.view.static, state.settings.model_id
    if static.model == model:
        return None
    before = state.view.size(state.log).total
    sent = any(isinstance(p, StepFinishPart) for m in state.log for p in m.parts)
    changed = instructions.renewed(Static(model, static.tools, static.system, RENDERER))
    compaction_id = state.clock.new_id("cmp")
    since = begin(state.log, changed, compaction_id, "model")
    state.view.rewrite(changed, state.settings.info().token_factor, since)
    after = state.view.size(state.log).total
    changed_to = ModelChangedRecord(
        compaction_id=compaction_id,
        cause="model",
        tokens_before=before if sent else None,
        tokens_after=after if sent else None,
    )
    await state.log.writer.commit(changed_to)
    if not sent:
        return None
    seq = state.channel.next_seq()
    return EpochChanged(state.log.row.id, seq, compaction_id, "completed", "model", before, after)
