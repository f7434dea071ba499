"""A turn: a typed message, then steps until the model stops.

Every turn ends with a whole log: no open message or call, everything durable.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Protocol

from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed, SidecarError, StorageFailed
from sidecar.core.parts import JsonObject, Message, OpaquePart
from sidecar.core.prompt.render import is_own
from sidecar.session.changes.tracker import Tracking
from sidecar.session.turn.doom_loop import LoopWatch
from sidecar.session.turn.step import StepEnd, Steps, is_empty
from sidecar.session.turn.tool_calls import CallsEnd, ToolCalls
from sidecar.session.turn.turn_log import TurnLog
from sidecar.store.format.log_records import SteeredRecord

SAVE_EVERY = 0.2
"""Seconds between writes of streamed text, since a crash may lose a quarter second at most."""

MOST_PAUSES = 8
"""Most answers in a row ending in `pause_turn`: each continuation pays for the whole prompt."""

STOP_REASONS = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn's end: ACP's stop reason, `blocked`, or `error`."""

    stop_reason: str
    error: JsonObject | None = None


def failed_by(error: Exception) -> TurnEnd:
    match error:
        case StorageFailed():
            return unstored(TurnEnd("end_turn"), error)
        case ModelFailed(retryable=retryable, status=int(status)):
            return TurnEnd("error", {**_told(error, retryable=retryable), "status": status})
        case ModelFailed(retryable=retryable):
            return TurnEnd("error", _told(error, retryable=retryable))
        case SidecarError():
            return TurnEnd("error", _told(error))
        case _:
            bug = SidecarError("Something went wrong inside the daemon: its log says what.")
            return TurnEnd("error", _told(bug))


def unstored(end: TurnEnd, error: StorageFailed) -> TurnEnd:
    """Ends a turn not stored; an earlier error takes precedence."""
    if end.error is not None:
        return end
    text = (
        "This turn has ended, because it could not be stored from here on; what its tools have "
        f"changed stands. {error.message}"
    )
    told: JsonObject = {"kind": error.kind, "message": text, "retryable": False}
    return TurnEnd("cancelled" if end.stop_reason == "cancelled" else "error", told)


def _told(error: SidecarError, *, retryable: bool = False) -> JsonObject:
    return {"kind": error.kind, "message": error.message, "retryable": retryable}


class MakeRoom(Protocol):
    """Lets the policy rewrite; returns whether an epoch began."""

    async def __call__(self, *, opens_turn: bool = False, overflowed: bool = False) -> bool:
        """`overflowed`: the provider refused the length."""
        ...


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn of at most `max_steps`; `goes_on`: it continues after a rewrite."""

    turn: TurnLog
    steps: Steps
    calls: ToolCalls
    loops: LoopWatch
    tracking: Tracking
    make_room: MakeRoom
    goes_on: bool
    max_steps: int

    async def run(self, steering: deque[Message], absorb: Callable[[Message], None]) -> TurnEnd:
        """Runs steps until the model or the user stops, or an error.

        `steering` holds the user's messages for the next step; `absorb` logs and shows one.
        Cancelling the task ends the turn as cancelled, with a whole log.
        """
        try:
            end = await self._while_saving(self._run_steps(steering, absorb))
        except asyncio.CancelledError:
            end = TurnEnd("cancelled")
        except SidecarError as error:
            end = failed_by(error)
        return await self._close(end)

    async def fail(self, error: Exception) -> TurnEnd:
        return await self._close(failed_by(error))

    async def _close(self, end: TurnEnd) -> TurnEnd:
        try:
            cancelled = end.stop_reason == "cancelled"
            await self.turn.make_whole("cancelled" if cancelled else "interrupted")
        except StorageFailed as error:
            end = unstored(end, error)
        await self.tracking.step_ended()
        return end

    async def _run_steps(
        self, steering: deque[Message], absorb: Callable[[Message], None]
    ) -> TurnEnd:
        pauses = 0
        for number in range(self.max_steps):
            while steering:
                message = steering.popleft()
                absorb(message)
                await self.turn.log.writer.commit(SteeredRecord(message_id=message.id))
            if await self.make_room(opens_turn=not number) and number and not self.goes_on:
                self.turn.notice("The context was compacted. Say how to go on.")
                return TurnEnd("end_turn")
            step = await self._step()
            if step.error is not None:
                return failed_by(step.error)
            ended = await self._act(step)
            if ended is not None and not (ended.stop_reason == "end_turn" and steering):
                return ended
            pauses = pauses + 1 if ended is None and step.stop == "pause_turn" else 0
            if pauses == MOST_PAUSES:
                self.turn.notice(
                    f"The provider paused its answer {MOST_PAUSES} times in a row without coming "
                    "to an end, and each time is paid for: the turn was ended. Say how to go on."
                )
                break
        return TurnEnd("max_turn_requests")

    async def _step(self) -> StepEnd:
        """Runs a step, again if the prompt was too long and room could be made."""
        step = await self.steps.run()
        self.turn.announce("step")
        error = step.error
        too_long = error is not None and error.kind == "context_overflow" and is_empty(step)
        if error is not None and too_long and await self.make_room(overflowed=True):
            await self.steps.withdraw(step, error)
            step = await self.steps.run()
            self.turn.announce("step")
        return step

    async def _act(self, step: StepEnd) -> TurnEnd | None:
        ended = STOP_REASONS.get(step.stop)
        if ended in ("max_tokens", "refusal"):
            # The last call may be cut off in the middle, so none of them is run.
            return TurnEnd(ended)
        if not tool_parts(step.message):
            # `pause_turn` asks to be called again with the answer so far, because a tool of the
            # provider's own is at work. Without one, the next request would be refused.
            works = any(isinstance(p, OpaquePart) and is_own(p) for p in step.message.parts)
            paused = step.stop == "pause_turn" and works
            return None if paused else TurnEnd(STOP_REASONS.get(step.stop, "end_turn"))
        end = await self.calls.run(step.message, step.problems)
        await self.tracking.step_ended()
        self.turn.announce("tools")
        match end:
            case CallsEnd.refused:
                return TurnEnd("blocked")
            case CallsEnd.dismissed:
                return TurnEnd("cancelled")
            case CallsEnd.done:
                answered = self.turn.log.by_id[step.message.id]
                return None if await self.loops.lets(answered) else TurnEnd("blocked")

    async def _while_saving(self, steps: Coroutine[None, None, TurnEnd]) -> TurnEnd:
        failed: SidecarError | None = None
        end = TurnEnd("error")
        async with asyncio.TaskGroup() as group:
            saver = group.create_task(self._save_regularly())
            try:
                end = await steps
            except SidecarError as error:
                failed = error
            finally:
                saver.cancel()
        # Raised out here, so that it does not arrive wrapped in an exception group.
        if failed is not None:
            raise failed
        return end

    async def _save_regularly(self) -> None:
        while True:
            await asyncio.sleep(SAVE_EVERY)
            self.turn.log.writer.save()
