"""A step's calls: permission, run, cut, log. Parallel ones run together."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from enum import Enum
from typing import Protocol

from sidecar.core.conversation.turns import REFUSED, tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError, StorageFailed, innermost
from sidecar.core.files import authorship
from sidecar.core.parts import (
    Json,
    Message,
    Millis,
    Output,
    PartId,
    ToolCompleted,
    ToolError,
    ToolFailure,
    ToolPart,
    ToolRunning,
    ToolState,
)
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.prompt.render import result_of
from sidecar.core.prompt.tokens import Count
from sidecar.core.text.truncate import MAX_BYTES, cut, cut_to_tokens
from sidecar.session.changes.permissions import QuestionOutcome
from sidecar.session.log.events import PlanChanged, ToolChanged, ToolOutputChunk
from sidecar.session.turn.consent import Consent
from sidecar.session.turn.turn_log import TurnLog
from sidecar.session.turn.workplace import Workplace
from sidecar.session.view.kept_text import held
from sidecar.store.format.log_records import ToolRecord
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import DELEGATE, kept_end
from sidecar.tools.client_tool import call_client_tool
from sidecar.tools.files.edit import foreseen
from sidecar.tools.runner import run_builtin
from sidecar.tools.todo import shown_items
from sidecar.tools.tool_contract import Access, ToolAnswer, ToolContext

UNASKED = "This call did not run: nobody answered whether it may."
AT_ONCE = 32
"""Calls under way; of a thousand that are ready at once the loop would do nothing else."""
UNANSWERED = 180
"""Seconds until a notice, once, that a client's tool has not answered."""


class McpTools(Protocol):
    """The tools of a session's MCP servers."""

    async def as_now(self, spec: ToolSpec) -> ToolSpec:
        """Returns a stricter tool, if the server says so now."""
        ...

    async def call(self, spec: ToolSpec, given: Json) -> ToolAnswer:
        """Refuses a tool that became stricter. Errors are answers."""
        ...


class CallsEnd(Enum):
    """All calls ended, one was refused, or a question was dismissed."""

    done = "done"
    refused = "refused"
    dismissed = "dismissed"


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Runs a turn's calls; `tokens` estimates, `count` without correction."""

    turn: TurnLog
    consent: Consent
    place: Workplace
    tools: Mapping[str, ToolSpec]
    mcp: McpTools
    tokens: Count
    count: Count

    async def run(self, message: Message, problems: dict[PartId, str]) -> CallsEnd:
        """Runs calls together, `AT_ONCE` at a time, and logs each end.

        Results keep the order. Cancelling leaves unfinished calls for the turn to close.
        """
        self.place.tracking.step = message.id
        room = asyncio.Semaphore(AT_ONCE)

        async def run(call: _Call) -> CallsEnd:
            async with room:
                return await call.run(problems.get(call.part.id, ""))

        ends: list[asyncio.Task[CallsEnd]] = []
        try:
            async with asyncio.TaskGroup() as group:
                ends += [
                    group.create_task(run(_Call(self, message, part)))
                    for part in tool_parts(message)
                ]
        except ExceptionGroup as failed:
            raise innermost(failed) from None
        results = {task.result() for task in ends}
        for end in (CallsEnd.dismissed, CallsEnd.refused):
            if end in results:
                return end
        return CallsEnd.done


@dataclass(frozen=True, slots=True)
class _Call:
    calls: ToolCalls
    message: Message
    part: ToolPart

    async def run(self, problem: str) -> CallsEnd:
        part, known = self.part, self.calls.tools
        started = self.calls.turn.clock.now()
        spec = known.get(part.name)
        if problem:
            text = f"The input of this call cannot be used: {problem}. Send the call again."
            return await self._fail(text, "error", started)
        if spec is None:
            names = ", ".join(sorted(known)) or "none"
            text = f"There is no tool named {part.name}. The tools are: {names}."
            return await self._fail(text, "error", started)
        if spec.origin == "mcp":
            spec = await self.calls.mcp.as_now(spec)
        self._put(ToolRunning(started))
        wanted = await asyncio.to_thread(access, spec, part.input, self._context(()))
        self._show(
            "pending",
            title=wanted.title,
            kind=spec.kind,
            has_input=True,
            raw_input=part.input,
            paths=wanted.paths,
        )
        shown: list[list[Json]] = []

        async def change() -> list[Json]:
            shown.append(await self._change(spec, wanted))
            return shown[-1]

        try:
            answer = await self.calls.consent.settle(spec, wanted, part, change)
        except asyncio.CancelledError:
            self._unasked(started, wanted)
            raise
        except SidecarError as error:
            text = f"The user could not be asked for permission: {error.message}."
            return await self._fail(text, "denied", started, wanted)
        match answer:
            case QuestionOutcome.refused:
                await self._fail(REFUSED, "denied", started, wanted)
                return CallsEnd.refused
            case QuestionOutcome.dismissed:
                await self._fail("The user dismissed the question.", "cancelled", started, wanted)
                return CallsEnd.dismissed
            case str():
                return await self._fail(answer, "denied", started, wanted)
            case QuestionOutcome.allowed:
                pass
        self._show("in_progress")
        return await self._perform(spec, wanted, shown[-1] if shown else None)

    async def _change(self, spec: ToolSpec, wanted: Access) -> list[Json]:
        part = self.part
        given = part.input if isinstance(part.input, dict) and spec.origin == "builtin" else {}
        context = replace(self._context(wanted.outside), decided=wanted.paths)
        return await foreseen(spec.name, given, context)

    async def _perform(self, spec: ToolSpec, wanted: Access, shown: list[Json] | None) -> CallsEnd:
        part, turn = self.part, self.calls.turn
        started = turn.clock.now()
        consent, subtask = self.calls.consent, (spec.origin, spec.name) == ("builtin", DELEGATE)
        try:
            with consent.counted("waiting" if subtask else "working"):
                answer = await self._answer(spec, wanted, shown)
        except SidecarError as error:
            return await self._fail(error.message, "error", started, wanted)
        output = self._output(spec, answer)
        title = answer.title or wanted.title
        finished = turn.clock.now()
        if answer.is_error:
            state: ToolState = ToolError(
                output.text, "error", started, finished, title, answer.metadata, _whole(output)
            )
        else:
            state = ToolCompleted(output, started, finished, title, answer.metadata)
        self._put(state)
        tokens = self.calls.count(result_of(replace(part, state=state)).text)
        await self._keep(ToolRecord(part_id=part.id, tokens=tokens))
        status = "failed" if answer.is_error else "completed"
        self._show(status, title=title, output=output.text, metadata=answer.metadata)
        if status == "completed" and part.name == "todo" and spec.origin == "builtin":
            origin = turn.channel.origin(self.message, part.id)
            turn.channel.publish(PlanChanged(origin, shown_items(part.input)))
        turn.meter_changed()
        return CallsEnd.done

    async def _answer(self, spec: ToolSpec, wanted: Access, shown: list[Json] | None) -> ToolAnswer:
        part, tracking = self.part, self.calls.place.tracking
        context = replace(self._context(wanted.outside), shown=shown)
        if spec.origin == "builtin":
            return await run_builtin(spec.name, part.input, context, wanted)
        async with nullcontext() if spec.read_only else tracking.running(_said(spec, part)):
            if spec.origin == "mcp":
                return await self.calls.mcp.call(spec, part.input)
            return await self._from_client(context)

    async def _from_client(self, context: ToolContext) -> ToolAnswer:
        """Calls without a time limit; a notice follows after `UNANSWERED` seconds."""
        part, turn = self.part, self.calls.turn

        async def tell() -> None:
            await turn.clock.sleep(UNANSWERED)
            turn.notice(
                f"The editor's tool {part.name} has not answered for {UNANSWERED // 60} minutes. "
                "The turn waits for it; cancel the turn to go on without its answer."
            )

        try:
            async with asyncio.TaskGroup() as group:
                telling = group.create_task(tell())
                answer = await call_client_tool(part.name, part.input, context)
                telling.cancel()
        except ExceptionGroup as failed:
            raise innermost(failed) from None
        return answer

    def _context(self, granted: tuple[str, ...]) -> ToolContext:
        part, channel = self.part, self.calls.turn.channel

        def progress(text: str) -> None:
            origin = channel.origin(self.message, part.id)
            channel.publish(ToolOutputChunk(origin, part.call_id, text))

        return self.calls.place.context(part.call_id, progress, granted)

    def _output(self, spec: ToolSpec, answer: ToolAnswer) -> Output:
        limit = MAX_BYTES if spec.output_limit is None else spec.output_limit
        keep, name = kept_end(spec), self.part.id
        piece = cut(answer.text, max_bytes=limit, keep=keep, part_id=name)
        if answer.most_tokens is not None:
            count = self.calls.tokens
            piece = cut_to_tokens(answer.text, answer.most_tokens, count, keep=keep, part_id=name)
        whole = None
        if piece.cut:
            text = answer.text.encode("utf-8", "surrogatepass")
            whole = self.calls.turn.log.writer.put_blob(text)
        return Output(held(piece.text), whole, piece.total_bytes, piece.total_lines, answer.media)

    async def _fail(
        self, text: str, failure: ToolFailure, started: Millis, wanted: Access | None = None
    ) -> CallsEnd:
        self._put_error(text, failure, started, wanted)
        await self._keep(ToolRecord(part_id=self.part.id, failure=failure))
        self._show_error(text, failure)
        return CallsEnd.done

    def _unasked(self, started: Millis, wanted: Access) -> None:
        """Logs that a call never ran: later it would look cut off half-way."""
        self._put_error(UNASKED, "cancelled", started, wanted)
        record = ToolRecord(part_id=self.part.id, failure="cancelled")
        # The turn's end reports a failure.
        written = self.calls.turn.log.writer.commit(record)
        written.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._show_error(UNASKED, "cancelled")

    def _put_error(
        self, text: str, failure: ToolFailure, started: Millis, wanted: Access | None
    ) -> None:
        title = "" if wanted is None else wanted.title
        self._put(ToolError(text, failure, started, self.calls.turn.clock.now(), title))

    def _show_error(self, text: str, failure: ToolFailure) -> None:
        self._show(
            "failed",
            output=text,
            has_input=True,
            raw_input=self.part.input,
            metadata={"failure": failure},
        )

    async def _keep(self, record: ToolRecord) -> None:
        """Commits a call's end, or shows a failed call, so nobody waits."""
        try:
            await self.calls.turn.log.writer.commit(record)
        except StorageFailed as error:
            text = f"What came of this call could not be stored. {error.message}"
            self._show("failed", output=text, metadata={"failure": "interrupted"})
            raise

    def _show(self, status: str, **fields: object) -> None:
        channel = self.calls.turn.channel
        origin = channel.origin(self.message, self.part.id)
        channel.publish(ToolChanged(origin, self.part.call_id, status, **fields))  # type: ignore[arg-type]

    def _put(self, state: ToolState) -> None:
        log = self.calls.turn.log
        log.writer.put_part(self.message.id, replace(self.part, state=state))


def _said(spec: ToolSpec, part: ToolPart) -> authorship.Intent:
    """Counts files in a foreign tool's input as its writes.

    An edit tool that names none answers for all changes.
    """
    given = part.input if isinstance(part.input, dict) else {}
    many = (v for value in given.values() for v in (value if isinstance(value, list) else [value]))
    names = tuple(name.removeprefix("file://") for name in many if isinstance(name, str))
    says = any(word in key.lower() for key in given for word in ("path", "file", "uri"))
    return authorship.Intent(names=names, edits=spec.kind == "edit" and not says)


def _whole(output: Output) -> Output | None:
    return None if output.whole is None else replace(output, held="")
