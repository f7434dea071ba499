"""Requests outside the conversation."""

import asyncio
from dataclasses import asdict, replace
from decimal import Decimal

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Millis, PartId, TextPart, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import AskedRecord, UsageShape

LIMIT = 180.0
"""Seconds for an answer, all attempts together."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's text; `cost`: USD, `None` if unknown."""

    text: str
    cost: str | None
    started: Millis
    stop: str = ""


class SideRequests:
    """Asks models beside a session's conversation, at its cost."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        cached: CacheWatch,
        models: ModelAccess,
        clock: Clock,
    ) -> None:
        self._log = log
        self._view = view
        self._cached = cached
        self._models = models
        self._clock = clock

    async def ask(
        self, request: ModelRequest, *, logged: bool = True, foreseen: Usage | None = None
    ) -> Reply:
        """Ignores calls and thinking.

        The session bears the cost, recorded if `logged`. Reads of its own model's cache refresh the
        prefix. Raises ModelFailed.
        """
        models = self._models
        started, draft = self._clock.now(), Draft()
        own = request.model == self._view.static.model
        try:
            async with (
                asyncio.timeout(LIMIT),
                models.wait_if_cold(self._view, request) as begun,
            ):
                number = 0
                async for event in models.find(request.model).stream(request):
                    if isinstance(event, AttemptFailed):
                        draft, started = Draft(), self._clock.now()
                        continue
                    begun()
                    number += 1
                    draft = fold(draft, event, PartId(f"beside {number}"))
        except TimeoutError:
            text = f"no answer within {LIMIT:.0f} seconds"
            raise ModelFailed(text, kind="network", retryable=True) from None
        usage = replace(draft.usage, requests=1)
        cost = models.cost(request.model, usage)
        # How long an answer is says nothing of how its prompt was counted.
        same = None if foreseen is None else replace(foreseen, output=usage.output)
        if usage.prompt:
            self._log.entry.spend(cost)
            if logged:
                self._log.writer.note(
                    AskedRecord(
                        purpose=request.purpose,
                        model=request.model,
                        usage=UsageShape(**asdict(usage)),
                        cost=cost,
                        started=started,
                        foreseen=None if same is None else models.cost(request.model, same),
                    )
                )
            # A provider's own summariser need not have read the conversation's cache.
            if own and (usage.cache_read or not request.compaction):
                rules = models.info(request.model).cache
                factor = self._view.calibration.factor
                self._cached.sent(request, started, rules, factor, usage)
                if usage.cache_read:
                    self._view.renew(started)
        text = "\n\n".join(part.text for part in draft.parts if isinstance(part, TextPart))
        return Reply(text.strip(), cost, started, draft.stop)


def compaction_share(log: SessionLog, model: str) -> Decimal:
    """Divides the last cost by what was foreseen."""
    for record in reversed(log.records):
        match record:
            case AskedRecord(purpose="compaction", cost=str(cost), foreseen=str(foreseen)):
                if record.model == model and Decimal(foreseen) > 0:
                    return round(Decimal(cost) / Decimal(foreseen), 4)
            case _:
                pass
    return Decimal(1)
