"""Streams and logs a model call.

A step is one assistant message. A broken attempt's stays in the log, discarded; the retry begins
another.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.sendable import is_id
from sidecar.core.conversation.stream import (
    AttemptFailed,
    BlockDelta,
    BlockStarted,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.conversation.turns import settle
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import (
    Message,
    Part,
    PartId,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
    TurnId,
)
from sidecar.core.prompt.prompt import ModelRequest, Purpose
from sidecar.session.log.events import Retrying, TextChunk, ToolChanged, ToolInputChunk
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.turn.turn_log import TurnLog
from sidecar.session.view.cache_state import CacheWatch, with_cache
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.rendering import THREAD_PARTS
from sidecar.store.format.log_records import DiscardedRecord, StepFailedRecord, StepRecord

EVENTS_PER_BREATH = 64
"""Events between pauses: a model that never waits (offline, or fast and local) must not keep the
loop busy."""


@dataclass(frozen=True, slots=True)
class StepEnd:
    """A step's answer; `problems` are calls with unusable input, and why."""

    message: Message
    stop: str
    problems: dict[PartId, str]
    error: ModelFailed | None = None


def is_empty(step: StepEnd) -> bool:
    return all(isinstance(part, StepStartPart) for part in step.message.parts)


@dataclass(frozen=True, slots=True)
class Steps:
    """Runs steps; `max_tokens` bounds each answer, `purpose` labels requests.

    `gate` is held while an answer streams; `follow_cache` chooses a request's caching.
    """

    turn_id: TurnId
    turn: TurnLog
    view: ModelView
    cached: CacheWatch
    follow_cache: Callable[[], None]
    models: ModelAccess
    max_tokens: int
    effort: str
    purpose: Purpose
    gate: asyncio.Lock

    async def run(self) -> StepEnd:
        """Logs the answer durably.

        Cancelling leaves the turn an open message to settle.
        """
        async with self.gate:
            self.follow_cache()
            await self.view.rendering.refresh(self.turn.log)
            return await self._stream()

    async def withdraw(self, step: StepEnd, error: ModelFailed) -> None:
        log = self.turn.log
        log.writer.put(replace(step.message, status="discarded"))
        await log.writer.commit(DiscardedRecord(message_id=step.message.id, why=error.message))
        self.turn.channel.publish(
            Retrying(log.row.id, 1, 2, 0, error.message, error.kind, error.status, ())
        )

    async def _stream(self) -> StepEnd:
        prompt = self.view.prompt(self.turn.log)
        request = ModelRequest(
            self.view.static.model, prompt, self.max_tokens, self.effort, self.purpose
        )
        async with self.models.wait_if_cold(self.view, request) as begun:
            attempt = _Attempt(self, request)
            try:
                seen = 0
                async for event in self.models.find(request.model).stream(request):
                    if isinstance(event, AttemptFailed):
                        await attempt.discard(event)
                        attempt = _Attempt(self, request)
                        continue
                    if not seen:
                        begun()
                    attempt.take(event)
                    seen += 1
                    if seen % EVENTS_PER_BREATH == 0:
                        await asyncio.sleep(0)
                return await attempt.finish()
            except ModelFailed as error:
                return await attempt.fail(error)


class _Attempt:
    def __init__(self, steps: Steps, request: ModelRequest) -> None:
        self._steps = steps
        self._turn = turn = steps.turn
        self._request = request
        self._started = turn.clock.now()
        self._draft = Draft()
        self._calls: set[str] = set()
        self._sdk = ""
        self._start = StepStartPart(turn.clock.part_id(), request.model)
        self._message = Message(
            turn.clock.message_id(),
            steps.turn_id,
            "assistant",
            (self._start,),
            self._started,
            "open",
            request.model,
        )
        turn.log.writer.put(self._message)

    def take(self, event: StreamEvent) -> None:
        turn, log = self._turn, self._turn.log
        opens = isinstance(event, BlockStarted)
        part_id = turn.clock.part_id() if opens else self._start.id
        match event:
            case BlockStarted(kind="tool", call_id=name):
                # The provider's id is kept if valid and new, as results refer to it.
                new = name not in self._calls and not log.has_call(name)
                name = name if new and is_id(name) else turn.clock.new_id("call")
                self._calls.add(name)
                event = replace(event, call_id=name)
            case ResponseStarted(sdk=sdk):
                self._sdk = sdk
            case _:
                pass
        self._draft = fold(self._draft, event, part_id)
        if isinstance(event, BlockStarted | BlockDelta):
            self._message = replace(self._message, parts=(self._start, *self._draft.parts))
            log.writer.stream(self._message)
            self._show(event)
            turn.meter_changed()

    async def finish(self) -> StepEnd:
        turn, request, usage = self._turn, self._request, replace(self._draft.usage, requests=1)
        cost = self._steps.models.cost(request.model, usage)
        finish = StepFinishPart(
            turn.clock.part_id(), self._draft.stop, usage, cost, started=self._started
        )
        parts = (self._start, *self._draft.parts, finish)
        message = replace(self._message, parts=parts, status="complete")
        turn.log.writer.put(message)
        turn.log.entry.spend(cost)
        if len(parts) > THREAD_PARTS:
            await self._steps.view.rendering.refresh(turn.log)
        record = StepRecord(message_id=message.id, sdk=self._sdk)
        if usage.prompt:
            rules = self._steps.models.info(request.model).cache
            factor = self._steps.view.calibration.factor
            foreseen, miss = self._steps.cached.sent(request, self._started, rules, factor, usage)
            record = with_cache(record, foreseen, miss, usage)
        self._steps.view.observe(message, turn.log)
        await turn.log.writer.commit(record)
        turn.meter_changed()
        calls = (part for part in parts if isinstance(part, ToolPart))
        unfinished = {part.id: "it broke off" for part in calls if part.input is None}
        return StepEnd(message, self._draft.stop, {**unfinished, **self._draft.problems})

    async def discard(self, event: AttemptFailed) -> None:
        turn = self._turn
        void = tuple(part.id for part in self._draft.parts)
        turn.log.writer.put(replace(self._message, status="discarded"))
        await turn.log.writer.commit(
            DiscardedRecord(message_id=self._message.id, why=event.message, failure=event.kind)
        )
        turn.channel.publish(
            Retrying(
                turn.log.row.id,
                event.attempt,
                event.max_attempts,
                event.delay_ms,
                event.message,
                event.kind,
                event.status,
                void,
            )
        )

    async def fail(self, error: ModelFailed) -> StepEnd:
        turn = self._turn
        message = settle(self._message, turn.clock.now(), "interrupted", "failed")
        turn.log.writer.put(message)
        await turn.log.writer.commit(StepFailedRecord(message_id=message.id, failure=error.kind))
        return StepEnd(message, "error", {}, error)

    def _show(self, event: BlockStarted | BlockDelta) -> None:
        turn = self._turn
        part: Part | None = self._draft.part_at(event.index)
        text = event.text if isinstance(event, BlockDelta) else ""
        if part is None or (not text and not isinstance(event, BlockStarted)):
            return
        match part:
            case TextPart() | ReasoningPart() if text:
                origin = turn.channel.origin(self._message, part.id)
                speaker = "agent" if isinstance(part, TextPart) else "thought"
                turn.channel.publish(TextChunk(origin, speaker, text))
            case ToolPart() if text:
                origin = turn.channel.origin(self._message, part.id)
                turn.channel.publish(ToolInputChunk(origin, part.call_id, text))
            case ToolPart():
                tools = self._steps.view.static.tools
                kind = next((tool.kind for tool in tools if tool.name == part.name), "other")
                turn.channel.publish(
                    ToolChanged(
                        turn.channel.origin(self._message, part.id),
                        part.call_id,
                        "pending",
                        first=True,
                        title=part.name,
                        kind=kind,
                    )
                )
            case _:
                pass
