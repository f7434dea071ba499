"""A turn's first message logged with everything told beside, or nothing."""

import asyncio

from sidecar.core.conversation.turns import first_line
from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Message, TextPart, TurnId
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.lifecycle.work_news import WorkNews
from sidecar.session.log.restore_records import with_news
from sidecar.session.state import State
from sidecar.session.turn.prompt_line import Waiting, user_message
from sidecar.store.format.log_records import ComparedRecord, ToldRecord, TurnStartedRecord
from sidecar.store.format.view_records import PinRecord

_NOTED = (ComparedRecord, ToldRecord, PinRecord)
"""Notes on the parts told by a turn's first message."""


async def begin(
    state: State, news: WorkNews, instructions: KnownInstructions, turn_id: TurnId, waiting: Waiting
) -> Message:
    """Log a turn's first message durably; the session's first also sets the title.

    StorageFailed leaves the log as before, so that the prompt can be sent again.
    """
    log, before = state.log, state.log.row
    shown = await state.facts(waiting.request.context)
    parts = (*waiting.parts, *await news.tell(shown))
    context = with_news(instructions.tell(shown), log.records)
    if context:
        parts = (*parts, TextPart(state.clock.part_id(), context, "context"))
    message = user_message(state.clock, turn_id, parts)
    log.writer.put(message)
    log.entry.change(turns=before.turns + 1, title=before.title or first_line([message]))
    try:
        await log.writer.commit(TurnStartedRecord(turn_id=turn_id, message_id=message.id))
    except StorageFailed:
        # Let the log first gather the unwritten records again.
        await asyncio.sleep(0)
        log.writer.take_back(message.id, _NOTED)
        log.entry.change(turns=before.turns, title=before.title)
        news.take_back()
        state.views.forget()
        raise
    return message
