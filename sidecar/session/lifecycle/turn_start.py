"""A turn's first message."""

import asyncio
from itertools import count

from sidecar.core.conversation.turns import first_line
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import StorageFailed
from sidecar.core.parts import JsonObject, Message, MessageId, PartId, TextPart, TurnId
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.lifecycle.work_news import WorkNews
from sidecar.session.log.content_blocks import parts_of
from sidecar.session.log.restore_records import with_news
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.prompt_line import Waiting, user_message
from sidecar.session.view.model_view import PREVIEW
from sidecar.session.view.view_history import Views
from sidecar.store.format.log_records import ComparedRecord, ToldRecord, TurnStartedRecord
from sidecar.store.format.view_records import PinRecord
from sidecar.workspace.volatile_facts import without_kept
from sidecar.workspace.workspaces import Workspaces

_NOTED = (ComparedRecord, ToldRecord, PinRecord)
"""Notes on the parts told by a turn's first message."""


@dataclass(frozen=True, slots=True)
class TurnStart:
    """Logs a first message, or predicts it for a preview."""

    log: SessionLog
    views: Views
    clock: Clock
    workspaces: Workspaces
    trust: Trust
    permissions: Permissions
    instructions: KnownInstructions
    news: WorkNews

    async def begin(self, turn_id: TurnId, waiting: Waiting) -> Message:
        """Logs durably, or nothing; a session's first message also sets the title.

        After StorageFailed the log is as before, so the prompt can be sent again.
        """
        log, before = self.log, self.log.row
        told = waiting.request.context
        asked = await asyncio.to_thread(self._without_kept, told) if told else told
        shown = await self.workspaces.facts(before.cwd, self.trust.granted, asked)
        parts = (*waiting.parts, *await self.news.tell(shown))
        if context := with_news(self.instructions.tell(shown), log.records):
            parts = (*parts, TextPart(self.clock.part_id(), context, "context"))
        message = user_message(self.clock, turn_id, parts)
        log.writer.put(message)
        log.entry.change(turns=before.turns + 1, title=before.title or first_line([message]))
        try:
            await log.writer.commit(TurnStartedRecord(turn_id=turn_id, message_id=message.id))
        except StorageFailed:
            # Let the log first gather the unwritten records again.
            await asyncio.sleep(0)
            log.writer.take_back(message.id, _NOTED)
            log.entry.change(turns=before.turns, title=before.title)
            self.news.take_back()
            self.views.forget()
            raise
        return message

    def _without_kept(self, told: JsonObject) -> JsonObject:
        keeps = self.permissions.keeps()
        return told if keeps is None else without_kept(told, keeps)

    async def foresee(self, blocks: tuple[JsonObject, ...]) -> Message:
        numbers = count()
        parts = parts_of(blocks, lambda: PartId(f"preview {next(numbers)}"), "typed")
        await self.instructions.look()
        shown = await self.workspaces.facts(self.log.row.cwd, self.trust.granted, {})
        parts = (*parts, *await self.news.foresee(shown))
        if context := with_news(self.instructions.with_changes(shown), self.log.records):
            parts = (*parts, TextPart(PartId("preview"), context, "context"))
        return Message(MessageId("preview"), PREVIEW, "user", parts, self.clock.now())
