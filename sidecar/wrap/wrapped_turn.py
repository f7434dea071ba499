"""Writes a wrapped agent's turn to our log, as it passes."""

import asyncio
from collections.abc import Sequence
from dataclasses import field, replace
from decimal import Decimal
from pathlib import Path
from time import monotonic

from sidecar.core.conversation.sendable import is_id
from sidecar.core.conversation.turns import first_line, settle
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolFailure,
    ToolPart,
    ToolRunning,
    TurnId,
    Usage,
)
from sidecar.core.prompt.pricing import money
from sidecar.core.text.truncate import cut
from sidecar.session.history.turn_outcome import record_end
from sidecar.session.log.content_blocks import parts_of
from sidecar.session.state import State
from sidecar.session.turn.prompt_line import user_message
from sidecar.session.turn.turn import TurnEnd
from sidecar.store.format.log_records import (
    ImportedRecord,
    StepRecord,
    ToolRecord,
    TurnStartedRecord,
)
from sidecar.wrap import call_parts as calls
from sidecar.wrap.acp_fold import CallSeen, PlanSeen, SpeechSeen

FORMAT = "acp"
SAVE_EVERY = 0.25
"""Seconds between writes of a text that grows."""
LOOK_EVERY, PAUSES = 0.5, 20
"""Seconds between looks at what others write in a turn; such pauses are so many times a look."""

_BROKEN = ("cancelled", "interrupted", "error")
"""Stop reasons of turns that did not come to their end."""


@dataclass(slots=True)
class _OpenCall:
    part: ToolPart
    shown: JsonObject


@dataclass(slots=True)
class WrappedTurn:
    """A turn from its prompt on; `follows` files unless its history is only read.

    `answer` is the message that grows, `pieces` what its text `growing` got since it was written.
    `pause`: seconds until files are looked at again while nothing passes.
    """

    state: State
    model: str
    turn_id: TurnId
    follows: bool = True
    answer: MessageId | None = None
    last: MessageId | None = None
    steps: int = 0
    open_calls: dict[str, _OpenCall] = field(default_factory=dict)
    ended_calls: set[str] = field(default_factory=set)
    terminals: dict[str, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    growing: PartId = PartId("")
    saved: float = 0.0
    due: bool = False
    pause: float = LOOK_EVERY

    # --- its beginning -----------------------------------------------------------------------

    async def begin(self, blocks: Sequence[JsonObject], words: str = "") -> None:
        """Logs a prompt durably, and what the files are before it. Raises StorageFailed."""
        state, log = self.state, self.state.log
        parts = (*self._typed(blocks), *([self._context(words)] if words else []))
        message = user_message(state.clock, self.turn_id, parts)
        log.writer.put(message)
        title = log.row.title or first_line([message])
        log.entry.change(turns=log.row.turns + 1, title=title)
        started = TurnStartedRecord(turn_id=self.turn_id, message_id=message.id)
        if self.follows:
            kept = log.writer.commit(started)
            state.tracking.turn_begins(message.id)
            state.tracking.step = message.id
            await state.tracking.step_opens()
        else:
            log.writer.note(started)
            # At once: all up to here counts as heard, for nobody here saw who typed it.
            kept = log.writer.commit(ImportedRecord(format=FORMAT, source=self.model or None))
        await kept

    def _typed(self, blocks: Sequence[JsonObject]) -> tuple[Part, ...]:
        """One by one: a kind that we do not know hides no other."""
        found: list[Part] = []
        for block in blocks:
            try:
                found += parts_of((block,), self.state.clock.part_id, "typed")
            except BadRequest:
                text = block.get("text") or f"[{block.get('type')}]"
                found.append(TextPart(self.state.clock.part_id(), str(text), "typed"))
        return tuple(found) or (TextPart(self.state.clock.part_id(), "", "typed"),)

    def _context(self, words: str) -> TextPart:
        return TextPart(self.state.clock.part_id(), words, "context")

    # --- what comes --------------------------------------------------------------------------

    def speech(self, seen: SpeechSeen) -> None:
        if not seen.text or seen.speaker == "user":
            return
        kind = TextPart if seen.speaker == "agent" else ReasoningPart
        if not isinstance(self._answer().parts[-1], kind):
            self._write_pieces()
            name, answer = self.state.clock.part_id(), self._answer()
            made = TextPart(name, "", "model") if kind is TextPart else ReasoningPart(name, "")
            self.state.log.writer.stream(replace(answer, parts=(*answer.parts, made)))
            self.growing = name
        self.pieces.append(seen.text)
        if monotonic() - self.saved > SAVE_EVERY:
            self._write_pieces()
            self.state.log.writer.save()
            self.saved = monotonic()

    async def call(self, seen: CallSeen) -> None:
        """Takes a call's beginning, change or end; its end closes a step's files."""
        if seen.call_id in self.ended_calls:
            return
        known = self.open_calls.get(seen.call_id)
        shown = calls.merged({} if known is None else known.shown, seen.shown)
        part = self._opened(seen.call_id) if known is None else known.part
        part = replace(part, name=calls.name_of(shown), input=calls.input_of(shown))
        self.open_calls[seen.call_id] = _OpenCall(part, shown)
        if not calls.has_ended(shown):
            self._put(part)
            return
        del self.open_calls[seen.call_id]
        self.ended_calls.add(seen.call_id)
        await self._claim(shown)
        await self._end_call(part, shown)
        if not self.open_calls:
            await self._end_answer("tool_use")
            self.due = True

    async def plan(self, seen: PlanSeen) -> None:
        """A plan is a call of `todo`; a newer one in the same answer takes its place."""
        clock = self.state.clock
        items: list[JsonObject] = [
            {"content": str(one.get("content")), "status": str(one.get("status") or "pending")}
            for one in seen.entries
        ]
        before = [p for p in self._answer().parts if isinstance(p, ToolPart) and p.name == "todo"]
        now, text = clock.now(), "\n".join(f"{one['status']}: {one['content']}" for one in items)
        name, call_id = clock.part_id(), clock.new_id("call")
        if before:
            name, call_id = before[-1].id, before[-1].call_id
        self._put(
            ToolPart(
                name,
                call_id,
                "todo",
                {"items": [*items]},
                ToolCompleted(Output(text), now, now, metadata={"items": [*items]}),
            )
        )

    async def wrote(self, path: str) -> None:
        """The editor has written a file for the agent."""
        if self.follows:
            await self.state.tracking.edited(Path(path))

    async def look(self) -> None:
        """Looks at what the ended calls changed, and else at what others have left alone.

        Call it once nothing waits to be taken: the agent may be ahead. Beside a running call
        nothing is looked at, as nobody can tell whose it is.
        """
        if not self.follows or self.open_calls:
            return
        tracking = self.state.tracking
        begun = monotonic()
        if self.due:
            self.due = await tracking.step_ended(goes_on=True)
        else:
            await tracking.edited()
        self.pause = max(LOOK_EVERY, (monotonic() - begun) * PAUSES)

    # --- its end -----------------------------------------------------------------------------

    async def end(
        self, stop: str, usage: Usage | None, cost: Decimal | None, error: str = ""
    ) -> None:
        state, log = self.state, self.state.log
        for one in self.open_calls.values():
            await self._claim(one.shown)
            if stop not in _BROKEN:
                # Some agents tell of no end.
                await self._end_call(one.part, {**one.shown, "status": "completed"})
        if self.follows:
            await state.tracking.step_ended()
        await self._end_answer(stop)
        spent = None if cost is None else money(cost)
        if usage is not None and self.last is not None:
            begun = log.by_id[self.last].created
            name, used = state.clock.part_id(), replace(usage, requests=self.steps)
            log.writer.put_part(self.last, StepFinishPart(name, stop, used, spent, begun))
        log.entry.spend(spent)
        told: JsonObject = {"kind": "agent", "message": error, "retryable": False}
        end = TurnEnd(stop, told if error else None)
        self.open_calls.clear()
        await record_end(log, state.views, self.turn_id, end)
        if self.follows:
            state.tracking.turn_ended()

    # --- pieces ------------------------------------------------------------------------------

    def _answer(self) -> Message:
        log = self.state.log
        if self.answer is None:
            clock = self.state.clock
            start, name = StepStartPart(clock.part_id(), self.model), clock.message_id()
            self.answer, now = name, clock.now()
            log.writer.put(
                Message(name, self.turn_id, "assistant", (start,), now, "open", self.model)
            )
            self.state.tracking.step = name
            self.steps += 1
        return log.by_id[self.answer]

    def _write_pieces(self) -> None:
        if not self.pieces:
            return
        answer, log = self._answer(), self.state.log
        at = log.position(answer, self.growing)
        last = answer.parts[at]
        assert isinstance(last, TextPart | ReasoningPart)
        grown = replace(last, text=last.text + "".join(self.pieces))
        self.pieces = []
        parts = (*answer.parts[:at], grown, *answer.parts[at + 1 :])
        log.writer.stream(replace(answer, parts=parts))

    def _put(self, part: ToolPart) -> None:
        self._write_pieces()
        self.state.log.writer.put_part(self._answer().id, part)

    def _opened(self, call_id: str) -> ToolPart:
        clock, log = self.state.clock, self.state.log
        name = call_id if is_id(call_id) and not log.has_call(call_id) else clock.new_id("call")
        return ToolPart(clock.part_id(), name, "", None, ToolRunning(clock.now()))

    async def _claim(self, shown: JsonObject) -> None:
        """Says what a call changed, before its step's files are looked at."""
        if not self.follows:
            return
        tracking, cwd = self.state.tracking, self.state.log.row.cwd
        if paths := calls.written_paths(shown):
            await tracking.edited(*(Path(cwd, path) for path in paths))
        intent = calls.intent_of(shown, cwd)
        if intent is not None:
            tracking.note(lambda interval: interval.calls.append(intent))

    async def _end_call(self, part: ToolPart, shown: JsonObject) -> None:
        log, now = self.state.log, self.state.clock.now()
        assert isinstance(part.state, ToolRunning)
        started, title = part.state.started, str(shown.get("title") or "")
        # A diff of large texts takes tenths of a second, which others need not wait for.
        text = await asyncio.to_thread(calls.output_of, shown, {**self.terminals})
        piece, whole = cut(text, keep="both", part_id=part.id), None
        if piece.cut:
            whole = log.writer.put_blob(text.encode("utf-8", "surrogatepass"))
        output = Output(piece.text, whole, piece.total_bytes, piece.total_lines)
        failed = shown.get("status") != "completed"
        if failed:
            kept = None if whole is None else replace(output, held="")
            state: ToolCompleted | ToolError = ToolError(
                piece.text or "it failed", "error", started, now, title, {}, kept
            )
        else:
            code = calls.exit_code_of(shown)
            about: JsonObject = {} if code is None else {"exitCode": code}
            state = ToolCompleted(output, started, now, title, about)
        self._put(replace(part, state=state))
        await log.writer.commit(ToolRecord(part_id=part.id, failure="error" if failed else None))

    async def _end_answer(self, stop: str) -> None:
        self._write_pieces()
        if self.answer is None:
            return
        state, answer = self.state, self._answer()
        self.answer, self.last = None, answer.id
        now = state.clock.now()
        if stop in _BROKEN:
            failure: ToolFailure = "cancelled" if stop == "cancelled" else "interrupted"
            answer = settle(answer, now, failure, "failed" if stop == "error" else "cut")
        else:
            answer = settle(replace(answer, status="complete"), now, "interrupted")
        state.log.writer.put(answer)
        await state.log.writer.commit(StepRecord(message_id=answer.id))
