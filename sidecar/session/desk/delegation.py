"""Runs a subtask in a child session with a clean context, reporting to its parent.

Permissions are at most the parent's; costs count in both.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal

from sidecar.config.settings import DelegateLimits
from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import tool_parts, turn_usage
from sidecar.core.errors import SidecarError, innermost
from sidecar.core.parts import JsonObject, Message, SessionId, Usage
from sidecar.core.prompt.pricing import money
from sidecar.session.interface import PromptRequest, PromptResult
from sidecar.session.lifecycle.session import Session
from sidecar.session.lifecycle.subtask import (
    LAST_STEP,
    Bound,
    ThroughParent,
    blocks_of,
    found_child,
    found_so_far,
    last_words,
    refused,
    steps_in_words,
)
from sidecar.session.log.events import Event, SessionChanged, ToolChanged
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.asked import asked_since
from sidecar.session.state import State
from sidecar.store.format.log_records import AskedRecord, DelegatedRecord, UsageShape
from sidecar.tools.tool_contract import Progress, Subtask, SubtaskEnd

Begin = Callable[[SessionLog, State], Awaitable[Session]]
Close = Callable[[SessionId], Awaitable[None]]


async def delegate(
    parent: Session,
    state: State,
    begin: Begin,
    close: Close,
    subtask: Subtask,
    call_id: str,
    progress: Progress,
) -> SubtaskEnd:
    """Runs a subtask for the session of `state`; errors are those of `found_child`.

    A cancel ends the child's turn first, so its log is whole and its cost known.
    """
    log = await found_child(state, subtask)
    child = await begin(log, state)
    about: JsonObject = {"sessionId": child.id, "callId": call_id}
    # The model's words, quoted in questions: no sign that seems to end the quotation.
    name = one_line(re.sub(r"[^\w\s.,/-]", " ", subtask.task), 60)

    client = ThroughParent(parent.audience.everyone, parent.id, name, about)
    limits = state.config.delegate
    child.delegating.bind(Bound(client, limits.steps, parent.id), state.tracking)
    following = _Following(parent, state.log, child, log, limits, progress)
    child.audience.follow(following.see)
    try:
        await state.log.writer.commit(DelegatedRecord(session_id=child.id, call_id=call_id))
        result = await _turn(child, PromptRequest(blocks_of(subtask)))
        return following.end(result)
    finally:
        child.audience.detach(following.see)
        child.delegating.release()
        child.permissions.stand_alone()
        following.charge()
        if not child.prompts.busy and not child.audience.watchers():
            with suppress(SidecarError):
                await close(child.id)


async def _turn(child: Session, request: PromptRequest) -> PromptResult | SidecarError:
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(child.prompt(request))
            try:
                await asyncio.wait({running})
            except asyncio.CancelledError:
                child.prompts.cancel()
                await asyncio.wait({running})
                raise
    except ExceptionGroup as failed:
        error = innermost(failed)
        if isinstance(error, SidecarError):
            return error
        raise error from None
    return running.result()


class _Following:
    """Shows progress, charges the parent's log, stops at limits."""

    def __init__(
        self,
        parent: Session,
        charged: SessionLog,
        child: Session,
        log: SessionLog,
        limits: DelegateLimits,
        progress: Progress,
    ) -> None:
        self._parent = parent
        self._parents = charged
        self._child = child
        self._log = log
        self._limits = limits
        self._progress = progress
        self._charged, self._cost = Usage(), Decimal(0)
        self._newest, self._newest_cost = Usage(), Decimal(0)
        self._last_for = self._used_up = ""

    def see(self, event: Event) -> None:
        match event:
            case ToolChanged(status="pending", has_input=True, title=str(title)):
                self._progress(f"{one_line(title)}\n")
            case ToolChanged(status="failed", output=str(output)):
                self._progress(f"  failed: {one_line(output)}\n")
            case SessionChanged(cause="step"):
                self.charge()
                self._stop_if_over()
            case SessionChanged(cause="tools"):
                self._ask_for_report()
            case _:
                pass

    def charge(self) -> None:
        used, total = self._used(), self._log.row.cost
        more = Usage(
            *(
                now - before
                for now, before in zip(_counts(used), _counts(self._charged), strict=True)
            )
        )
        if more == Usage():
            return
        self._charged, self._newest = used, more
        cost = None
        if total is not None:
            self._newest_cost, self._cost = Decimal(total) - self._cost, Decimal(total)
            cost = money(self._newest_cost)
        self._parents.entry.spend(cost)
        record = AskedRecord(
            purpose="subtask",
            model=str(self._log.row.settings["model"]),
            usage=UsageShape(**asdict(more)),
            cost=cost,
            session_id=self._child.id,
        )
        written = self._parents.writer.commit(record)
        # Nobody awaits the write, so a failure is retrieved here; the next commit reports it too.
        written.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._parent.rewritten(None, "subtask")

    def end(self, result: PromptResult | SidecarError) -> SubtaskEnd:
        messages = self._messages()
        failed = self._why(result, messages)
        report = found_so_far(messages) if failed else last_words(messages)
        steps, cost = turn_usage(messages).requests, self._log.row.cost
        return SubtaskEnd(self._child.id, report, steps, cost, failed)

    def _why(self, result: PromptResult | SidecarError, messages: tuple[Message, ...]) -> str:
        if isinstance(result, SidecarError):
            return result.message
        match result.stop_reason:
            case "end_turn" if last_words(messages):
                return ""
            case "end_turn":
                return "it ended without a report"
            case "max_turn_requests":
                return self._used_up or self._out_of(steps_in_words(self._limits.steps))
            case "cancelled":
                return self._used_up or "it was stopped by the user"
            case "blocked":
                return f"the user or a rule of theirs did not allow {refused(messages)}"
            case "max_tokens":
                return "its answer was longer than one may be"
            case "refusal":
                return "the model refused to do it"
            case _:
                return str((result.error or {}).get("message") or result.stop_reason)

    def _ask_for_report(self) -> None:
        nearly = self._nearly_used_up()
        if nearly and not self._last_for:
            self._last_for = nearly
            self._child.prompts.remind(LAST_STEP)

    def _stop_if_over(self) -> None:
        if self._last_for and tool_parts(self._messages()[-1]):
            self._used_up = self._out_of(self._last_for)
            self._child.prompts.cancel()

    def _nearly_used_up(self) -> str:
        limits, steps = self._limits, turn_usage(self._messages()).requests
        if steps + 1 >= limits.steps:
            return steps_in_words(limits.steps)
        tokens, newest = _tokens(self._charged), _tokens(self._newest)
        if limits.tokens is not None and tokens + 2 * newest > limits.tokens:
            return f"{limits.tokens:,} tokens"
        if limits.cost is not None and self._cost + 2 * self._newest_cost > limits.cost:
            return f"{limits.cost} USD"
        return ""

    def _out_of(self, what: str) -> str:
        were = "was" if what.startswith("1 ") else "were"
        return f"its {what} {were} used up before it was done"

    def _messages(self) -> tuple[Message, ...]:
        messages = self._log.messages
        first = messages[0].turn_id if messages else None
        return tuple(m for m in messages if m.turn_id == first)

    def _used(self) -> Usage:
        messages = self._messages()
        asked = asked_since(self._log.records, messages[0].turn_id) if messages else ()
        return sum((usage for usage, _ in asked), turn_usage(messages))


def _counts(usage: Usage) -> tuple[int, ...]:
    return tuple(asdict(usage).values())


def _tokens(usage: Usage) -> int:
    return usage.prompt + usage.output
