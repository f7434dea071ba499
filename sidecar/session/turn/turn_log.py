"""What a turn logs and tells."""

from collections.abc import Callable

from sidecar.core.conversation.turns import settle
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, ToolError, ToolFailure, ToolPart
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.events import SessionChanged, ToolChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.store.format.log_records import CutRecord


@dataclass(frozen=True, slots=True)
class TurnLog:
    """Logs and tells; `meter_changed` tells watchers how full the context is."""

    log: SessionLog
    channel: Channel
    clock: Clock
    meter_changed: Callable[[], None]

    def notice(self, text: str) -> None:
        give_notice(self.log, self.channel, "info", text)

    def announce(self, cause: str) -> None:
        row = self.log.row
        self.channel.publish(SessionChanged(row.id, row.revision, cause))

    async def make_whole(self, failure: ToolFailure) -> None:
        now = self.clock.now()
        changed: list[MessageId] = []
        for message in self.log.unsettled():
            self.log.writer.put(settle(message, now, failure))
            changed.append(message.id)
        try:
            if changed:
                await self.log.writer.commit(CutRecord(message_ids=tuple(changed), failure=failure))
        finally:
            # Stored or not: they do not go on.
            for message_id in changed:
                message = self.log.by_id[message_id]
                for part in message.parts:
                    if isinstance(part, ToolPart):
                        self._show_end(message, part)

    def _show_end(self, message: Message, part: ToolPart) -> None:
        match part.state:
            case ToolError(message=text, failure=failure):
                origin = self.channel.origin(message, part.id)
                self.channel.publish(
                    ToolChanged(
                        origin, part.call_id, "failed", output=text, metadata={"failure": failure}
                    )
                )
            case _:
                pass
