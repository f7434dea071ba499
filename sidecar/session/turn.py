"""A turn: a typed message, then steps until the model stops.

Each step is a model call and the tool calls it asked for. Whatever happens, the turn ends with
a whole log: no open message, no call without an end, everything durable.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from sidecar.core.errors import ModelFailed, SidecarError
from sidecar.core.parts import JsonObject, Message, MessageId, Part, ToolFailure, ToolPart
from sidecar.core.turns import is_settled, settle
from sidecar.session.calls import CallsEnd, run_calls
from sidecar.session.context import TurnContext
from sidecar.session.doom import ask_to_go_on, repeated
from sidecar.session.events import SessionChanged, ToolChanged
from sidecar.session.step import StepEnd, is_empty, run_step, withdraw

SAVE_EVERY = 0.2
"""Seconds between writes of what streams: at least four a second, as people can lose a quarter."""

STOP_REASONS = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended: ACP's stop reason, or `blocked`, or `error` with what failed."""

    stop_reason: str
    error: JsonObject | None = None


class Steering:
    """Text that the user adds while a turn runs; it goes in before the next step."""

    def __init__(self) -> None:
        self._waiting: list[Message] = []

    def add(self, message: Message) -> None:
        """Queue a user message for the running turn."""
        self._waiting.append(message)

    def take(self) -> tuple[Message, ...]:
        """Give what waits, once."""
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def __bool__(self) -> bool:
        return bool(self._waiting)


async def run_turn(
    turn: TurnContext, steering: Steering, absorb: Callable[[Message], None]
) -> TurnEnd:
    """Run steps until the model stops, the user stops it, or it cannot go on.

    `absorb` logs and shows a steering message. Cancelling the task ends the turn as cancelled:
    the log is made whole first.
    """
    try:
        end = await _while_saving(turn, _steps(turn, steering, absorb))
    except asyncio.CancelledError:
        end = TurnEnd("cancelled")
    except ModelFailed as error:
        end = TurnEnd("error", _told(error, retryable=error.retryable, status=error.status))
    except SidecarError as error:
        end = TurnEnd("error", _told(error, retryable=False, status=None))
    await make_whole(turn, "cancelled" if end.stop_reason == "cancelled" else "interrupted")
    await turn.tracking.step_ended()
    return end


async def make_whole(turn: TurnContext, failure: ToolFailure) -> None:
    """Close what is still open in the log, show it, and make it durable."""
    now = turn.clock.now()
    changed: list[MessageId] = []
    for message in turn.log.messages:
        if is_settled(message):
            continue
        settled = settle(message, now, failure)
        turn.log.put(settled)
        changed.append(message.id)
    if changed:
        await turn.log.commit("cut", {"messageIds": list(changed), "failure": failure})
    for message_id in changed:
        message = turn.log.message(message_id)
        for part in message.parts:
            if isinstance(part, ToolPart):
                show_end(turn, message, part)


def show_end(turn: TurnContext, message: Message, part: ToolPart) -> None:
    """Tell watchers how a call that was cut short ended."""
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
    for number in range(turn.max_steps):
        for message in steering.take():
            absorb(message)
            await turn.log.commit("steered", {"messageId": message.id})
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
    return TurnEnd("max_turn_requests")


async def _act(turn: TurnContext, step: StepEnd, calls: list[ToolPart]) -> TurnEnd | None:
    """Run the calls of a step; gives how the turn ends, or `None` when it goes on."""
    asked = [part for part in step.message.parts if isinstance(part, ToolPart)]
    if step.stop in ("max_tokens", "model_context_window_exceeded", "refusal"):
        # The last call may be cut off in the middle, so none of them is run.
        return TurnEnd(STOP_REASONS[step.stop])
    if not asked:
        # `pause_turn` asks to be called again with the answer so far.
        return None if step.stop == "pause_turn" else TurnEnd(_stop_reason(step.stop))
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
    if not turn.permissions.loops_allowed and repeated(calls):
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
        turn.log.save()
