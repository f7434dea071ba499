"""A turn: a typed message, then steps until the model stops.

Each step is a model call and its tool calls. Every turn ends with a whole log: no open message, no
unfinished call, everything durable.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from sidecar.core.conversation.turns import is_settled, settle
from sidecar.core.errors import ModelFailed, SidecarError, StorageFailed
from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    OpaquePart,
    Part,
    ToolFailure,
    ToolPart,
)
from sidecar.core.prompt.render import is_own
from sidecar.session.log.events import SessionChanged, ToolChanged
from sidecar.session.turn.doom_loop import ask_to_go_on, repeated
from sidecar.session.turn.step import StepEnd, is_empty, run_step, withdraw
from sidecar.session.turn.tool_calls import CallsEnd, run_calls
from sidecar.session.turn.turn_context import TurnContext
from sidecar.store.format.log_records import CutRecord, SteeredRecord

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
    """A turn's end: ACP's stop reason, `blocked`, or `error` with details."""

    stop_reason: str
    error: JsonObject | None = None


class Steering:
    """User messages added while a turn runs, for its next step."""

    def __init__(self) -> None:
        self._waiting: list[Message] = []

    def add(self, message: Message) -> None:
        """Queue a message."""
        self._waiting.append(message)

    def take(self) -> tuple[Message, ...]:
        """Return and forget the queued messages."""
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def __bool__(self) -> bool:
        return bool(self._waiting)


async def run_turn(
    turn: TurnContext, steering: Steering, absorb: Callable[[Message], None]
) -> TurnEnd:
    """Run steps until the model or the user stops, or an error.

    `absorb` logs and shows a steering message. Cancelling the task makes the log whole, and ends
    the turn as cancelled.
    """
    try:
        end = await _while_saving(turn, _steps(turn, steering, absorb))
    except asyncio.CancelledError:
        end = TurnEnd("cancelled")
    except ModelFailed as error:
        end = TurnEnd("error", _told(error, retryable=error.retryable, status=error.status))
    except SidecarError as error:
        end = failed_by(error)
    return await _close(turn, end)


async def end_failed(turn: TurnContext, error: Exception) -> TurnEnd:
    """End a turn after an unexpected error, with a whole log."""
    return await _close(turn, failed_by(error))


async def _close(turn: TurnContext, end: TurnEnd) -> TurnEnd:
    try:
        await make_whole(turn, "cancelled" if end.stop_reason == "cancelled" else "interrupted")
    except StorageFailed as error:
        end = unstored(end, error)
    await turn.tracking.step_ended()
    return end


def failed_by(error: Exception) -> TurnEnd:
    """End of a turn after a failure outside the model."""
    match error:
        case StorageFailed():
            return unstored(TurnEnd("end_turn"), error)
        case SidecarError():
            return TurnEnd("error", _told(error, retryable=False, status=None))
        case _:
            bug = SidecarError("Something went wrong inside the daemon: its log says what.")
            return TurnEnd("error", _told(bug, retryable=False, status=None))


def unstored(end: TurnEnd, error: StorageFailed) -> TurnEnd:
    """The end of a turn that could not be stored; an earlier error takes precedence."""
    if end.error is not None:
        return end
    text = (
        "This turn has ended, because it could not be stored from here on; what its tools have "
        f"changed stands. {error.message}"
    )
    told: JsonObject = {"kind": error.kind, "message": text, "retryable": False}
    return TurnEnd("cancelled" if end.stop_reason == "cancelled" else "error", told)


async def make_whole(turn: TurnContext, failure: ToolFailure) -> None:
    """Close everything open in the log, commit, and tell watchers."""
    now = turn.clock.now()
    changed: list[MessageId] = []
    for message in turn.log.messages:
        if is_settled(message):
            continue
        settled = settle(message, now, failure)
        turn.log.writer.put(settled)
        changed.append(message.id)
    try:
        if changed:
            await turn.log.writer.commit(CutRecord(message_ids=tuple(changed), failure=failure))
    finally:
        # Stored or not: they do not go on.
        for message_id in changed:
            message = turn.log.message(message_id)
            for part in message.parts:
                if isinstance(part, ToolPart):
                    show_end(turn, message, part)


def show_end(turn: TurnContext, message: Message, part: ToolPart) -> None:
    """Tell watchers how an interrupted call ended."""
    origin = turn.channel.origin(turn.turn_id, message.id, part.id)
    error = getattr(part.state, "failure", None)
    if error is None:
        return
    text = getattr(part.state, "message", "")
    turn.channel.publish(
        ToolChanged(origin, part.call_id, "failed", output=text, metadata={"failure": error})
    )


async def _steps(
    turn: TurnContext, steering: Steering, absorb: Callable[[Message], None]
) -> TurnEnd:
    calls: list[ToolPart] = []
    pauses = 0
    for number in range(turn.max_steps):
        for message in steering.take():
            absorb(message)
            await turn.log.writer.commit(SteeredRecord(message_id=message.id))
        if await turn.make_room(opens_turn=not number) and number and not turn.goes_on:
            turn.notice("The context was compacted. Say how to go on.")
            return TurnEnd("end_turn")
        step = await run_step(turn)
        _announce(turn, "step")
        error = step.error
        too_long = error is not None and error.kind == "context_overflow" and is_empty(step)
        if error is not None and too_long and await turn.make_room(overflowed=True):
            await withdraw(turn, step, error)
            step = await run_step(turn)
            _announce(turn, "step")
        if step.error is not None:
            error = step.error
            return TurnEnd("error", _told(error, retryable=error.retryable, status=error.status))
        ended = await _act(turn, step, calls)
        if ended is not None and not (ended.stop_reason == "end_turn" and steering):
            return ended
        pauses = pauses + 1 if ended is None and step.stop == "pause_turn" else 0
        if pauses == MOST_PAUSES:
            turn.notice(
                f"The provider paused its answer {MOST_PAUSES} times in a row without coming to an "
                "end, and each time is paid for: the turn was ended. Say how to go on."
            )
            break
    return TurnEnd("max_turn_requests")


async def _act(turn: TurnContext, step: StepEnd, calls: list[ToolPart]) -> TurnEnd | None:
    """Run a step's calls; return the turn's end, or `None` to go on."""
    asked = [part for part in step.message.parts if isinstance(part, ToolPart)]
    if step.stop in ("max_tokens", "model_context_window_exceeded", "refusal"):
        # The last call may be cut off in the middle, so none of them is run.
        return TurnEnd(STOP_REASONS[step.stop])
    if not asked:
        # `pause_turn` asks to be called again with the answer so far, because a tool of the
        # provider's own is at work. Without one, the next request would be refused.
        works = any(isinstance(p, OpaquePart) and is_own(p) for p in step.message.parts)
        paused = step.stop == "pause_turn" and works
        return None if paused else TurnEnd(_stop_reason(step.stop))
    end = await run_calls(turn, step.message, step.problems)
    await turn.tracking.step_ended()
    _announce(turn, "tools")
    match end:
        case CallsEnd.refused:
            return TurnEnd("blocked")
        case CallsEnd.dismissed:
            return TurnEnd("cancelled")
        case CallsEnd.done:
            pass
    done = {part.id: part for part in turn.log.message(step.message.id).parts}
    calls.extend(_tool(done[part.id]) for part in asked)
    if not turn.permissions.loops_allowed and repeated(calls, turn.cwd):
        calls_seen = calls[-1]
        if not await ask_to_go_on(turn, step.message, calls_seen):
            return TurnEnd("blocked")
        calls.clear()
    return None


def _tool(part: Part) -> ToolPart:
    assert isinstance(part, ToolPart)
    return part


def _stop_reason(stop: str) -> str:
    return STOP_REASONS.get(stop, "end_turn")


def _announce(turn: TurnContext, cause: str) -> None:
    turn.channel.publish(SessionChanged(turn.session_id, turn.log.row.revision, cause))


def _told(error: SidecarError, *, retryable: bool, status: int | None) -> JsonObject:
    return {
        "kind": error.kind,
        "message": error.message,
        "retryable": retryable,
        **({} if status is None else {"status": status}),
    }


async def _while_saving(turn: TurnContext, steps: Coroutine[None, None, TurnEnd]) -> TurnEnd:
    failed: SidecarError | None = None
    end = TurnEnd("error")
    async with asyncio.TaskGroup() as group:
        saver = group.create_task(_save_regularly(turn))
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


async def _save_regularly(turn: TurnContext) -> None:
    while True:
        await asyncio.sleep(SAVE_EVERY)
        turn.log.writer.save()
