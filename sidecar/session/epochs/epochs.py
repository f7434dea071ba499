"""Epochs: stretches of requests with the same static bytes.

A new one begins only by a record that says why. Each change is told to clients exactly once.
"""

from dataclasses import replace

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Millis, StepFinishPart
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import RENDERER
from sidecar.session.epochs.known_instructions import renewed
from sidecar.session.epochs.static_prompt import epoch_record, in_order, static_of
from sidecar.session.log.channel import give_notice
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.gauge import read_size
from sidecar.session.state import State
from sidecar.store.format.view_records import EpochRecord, ModelChangedRecord


def begin(log: SessionLog, static: Static, compaction_id: str, cause: str) -> Millis:
    """Gather the record of a new epoch, for the next commit to write; gives when it began."""
    log.writer.note(epoch_record(static, compaction_id, cause))
    return log.records[-1].at


def stored_static(log: SessionLog) -> tuple[Static, int]:
    """Give the static bytes of the epoch that the log is in, and when it began.

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
    """Give since when tools and system text are as now; older thinking is bound to others."""
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
    """Take in the tools of MCP servers that were late for the session, if nothing was sent yet.

    Waits for those that still start. Their tools are behind the others' from the first request on.
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


async def follow_model(state: State) -> EpochChanged | None:
    """Begin a new epoch if the session's model is no longer the one its prefix was built for.

    Another model has a cache of its own and cannot read this one's thinking, which is left out.
    The new prefix holds the instructions as they are now.
    Gives the event to tell clients, or `None` when nothing had been sent yet or nothing changed.
    """
    static, model = state.view.static, state.model_id()
    if static.model == model:
        return None
    before = read_size(state).total
    sent = any(isinstance(p, StepFinishPart) for m in state.log for p in m.parts)
    changed = renewed(state, Static(model, static.tools, static.system, RENDERER))
    compaction_id = state.clock.new_id("cmp")
    since = begin(state.log, changed, compaction_id, "model")
    state.view.rewrite(changed, state.info().token_factor, since)
    after = read_size(state).total
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
