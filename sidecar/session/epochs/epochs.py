"""Epochs: stretches of requests with the same static bytes.

A record with the cause begins each; clients hear of it once.
"""

from dataclasses import replace

from sidecar.core.parts import Millis, StepFinishPart
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import RENDERER
from sidecar.session.environment import Environment
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.epochs.static_prompt import epoch_record, in_order
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.view_records import ModelChangedRecord


def begin(log: SessionLog, static: Static, compaction_id: str, cause: str) -> Millis:
    """Queues a record for the next commit; returns the record's time."""
    log.writer.note(epoch_record(static, compaction_id, cause))
    return log.records[-1].at


class Epochs:
    """Begins epochs as tools or the model change."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        view: ModelView,
        channel: Channel,
        settings: SessionSettings,
        instructions: KnownInstructions,
    ) -> None:
        self._environment = environment
        self._log = log
        self._view = view
        self._channel = channel
        self._settings = settings
        self._instructions = instructions

    async def follow_tools(self) -> None:
        """Adds late MCP tools behind the others, if nothing was sent yet."""
        log = self._log
        if any(message.role == "assistant" for message in log):
            return
        found = await self._environment.mcp.found(log.row.id)
        static = self._view.static
        known = {tool.name for tool in static.tools}
        if new := tuple(tool for tool in found.tools if tool.name not in known):
            changed = replace(static, tools=in_order((*static.tools, *new)))
            since = begin(log, changed, self._environment.clock.new_id("cmp"), "new")
            self._view.restate(changed, since)
        for text in found.said:
            give_notice(log, self._channel, "warning", f"{text}.")

    async def follow_model(self) -> EpochChanged | None:
        """Begins an epoch if the session's model differs from the prefix's.

        Another model has another cache and cannot read earlier thinking. Returns `None` without a
        difference or an earlier request.
        """
        log, view = self._log, self._view
        static, model = view.static, self._settings.model_id
        if static.model == model:
            return None
        before = view.size(log).total
        sent = any(isinstance(p, StepFinishPart) for m in log for p in m.parts)
        changed = self._instructions.renewed(Static(model, static.tools, static.system, RENDERER))
        compaction_id = self._environment.clock.new_id("cmp")
        since = begin(log, changed, compaction_id, "model")
        view.rewrite(changed, self._settings.info().token_factor, since)
        after = view.size(log).total
        changed_to = ModelChangedRecord(
            compaction_id=compaction_id,
            cause="model",
            tokens_before=before if sent else None,
            tokens_after=after if sent else None,
        )
        await log.writer.commit(changed_to)
        if not sent:
            return None
        seq = self._channel.next_seq()
        return EpochChanged(log.row.id, seq, compaction_id, "completed", "model", before, after)
