"""A step's tool calls: permission, run, cut, log. Parallel calls run together."""

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from sidecar.core.errors import BadRequest, SidecarError, StorageFailed, innermost
from sidecar.core.files import authorship
from sidecar.core.parts import (
    JsonObject,
    Message,
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
from sidecar.core.text.truncate import MAX_BYTES, cut, cut_to_tokens
from sidecar.session.changes.permissions import Answer
from sidecar.session.log.events import PlanChanged, ToolChanged, ToolOutputChunk
from sidecar.session.turn.turn_context import TurnContext
from sidecar.store.format.log_records import ToolRecord
from sidecar.tools.builtin_tools import kept_end
from sidecar.tools.client_tool import call_client_tool
from sidecar.tools.files.edit import foreseen
from sidecar.tools.runner import access, run_builtin
from sidecar.tools.todo import shown_items
from sidecar.tools.tool_contract import Access, PermissionOption, ToolAnswer, ToolContext

UNANSWERED = 180
"""Seconds until a notice, once, that a client's tool has not answered."""


class CallsEnd(Enum):
    """Outcome of a step's calls: all ended, one was refused, or a question was dismissed."""

    done = "done"
    refused = "refused"
    dismissed = "dismissed"


@dataclass(frozen=True, slots=True)
class _Call:
    turn: TurnContext
    message: Message
    part: ToolPart

    def show(self, status: str, **fields: object) -> None:
        origin = self.turn.channel.origin(self.turn.turn_id, self.message.id, self.part.id)
        self.turn.channel.publish(ToolChanged(origin, self.part.call_id, status, **fields))  # type: ignore[arg-type]

    def put(self, state: ToolState) -> None:
        self.turn.log.writer.put_part(self.message.id, replace(self.part, state=state))


async def run_calls(turn: TurnContext, message: Message, problems: dict[PartId, str]) -> CallsEnd:
    """Run all calls of a message together, and log an end for each.

    Results keep the calls' order. Cancelling leaves unfinished calls for the turn to close.
    """
    turn.tracking.step_begins(message.id)
    parts = [part for part in message.parts if isinstance(part, ToolPart)]
    ends: list[asyncio.Task[CallsEnd]] = []
    try:
        async with asyncio.TaskGroup() as group:
            for part in parts:
                call = _Call(turn, message, part)
                ends.append(group.create_task(_run_call(call, problems.get(part.id, ""))))
    except ExceptionGroup as failed:
        raise innermost(failed) from None
    results = {task.result() for task in ends}
    for end in (CallsEnd.dismissed, CallsEnd.refused):
        if end in results:
            return end
    return CallsEnd.done


async def _run_call(call: _Call, problem: str) -> CallsEnd:
    turn, part = call.turn, call.part
    started = turn.clock.now()
    spec = turn.tools.get(part.name)
    if problem:
        text = f"The input of this call cannot be used: {problem}. Send the call again."
        return await _fail(call, text, "error", started)
    if spec is None:
        known = ", ".join(sorted(turn.tools)) or "none"
        text = f"There is no tool named {part.name}. The tools are: {known}."
        return await _fail(call, text, "error", started)
    call.put(ToolRunning(started))
    wanted = await asyncio.to_thread(access, spec, part.input, _context(call, ()))
    call.show(
        "pending",
        title=wanted.title,
        kind=spec.kind,
        has_input=True,
        raw_input=part.input,
        paths=wanted.paths,
    )
    try:
        answer = await _allowed(call, spec, wanted)
    except SidecarError as error:
        text = f"The user could not be asked for permission: {error.message}."
        return await _fail(call, text, "denied", started, wanted)
    match answer:
        case Answer.refused:
            text = "The user refused permission for this call."
            await _fail(call, text, "denied", started, wanted)
            return CallsEnd.refused
        case Answer.dismissed:
            await _fail(call, "The user dismissed the question.", "cancelled", started, wanted)
            return CallsEnd.dismissed
        case str():
            return await _fail(call, answer, "denied", started, wanted)
        case Answer.allowed:
            pass
    call.show("in_progress")
    return await _perform(call, spec, wanted)


async def _allowed(call: _Call, spec: ToolSpec, wanted: Access) -> Answer | str:
    """Decide whether a call may run: by the workspace's trust, then rules, then the user."""
    turn, part = call.turn, call.part
    trusted = turn.trust.granted
    if not trusted and spec.origin == "builtin" and spec.kind in ("edit", "execute"):
        trusted = await turn.trust.settle(part, turn.ask)

    async def ask(question: JsonObject, options: tuple[PermissionOption, ...]) -> str | None:
        context = _context(call, wanted.outside)
        given = part.input if isinstance(part.input, dict) and spec.origin == "builtin" else {}
        change = await foreseen(spec.name, given, context)
        return await turn.ask({**question, "content": change} if change else question, options)

    return await turn.permissions.settle(spec, wanted, part, ask, trusted=trusted)


async def _perform(call: _Call, spec: ToolSpec, wanted: Access) -> CallsEnd:
    turn, part = call.turn, call.part
    started = turn.clock.now()
    try:
        context = _context(call, wanted.outside)
        if spec.origin == "builtin":
            answer = await run_builtin(spec.name, part.input, context, wanted)
        else:
            async with (
                nullcontext() if spec.read_only else turn.tracking.running(_said(spec, part))
            ):
                if spec.origin == "mcp" and turn.call_mcp is not None:
                    answer = await turn.call_mcp(spec.name, part.input)
                else:
                    answer = await _from_client(turn, part, context)
    except SidecarError as error:
        return await _fail(call, error.message, "error", started, wanted)
    output = _output(call, spec, answer)
    title = answer.title or wanted.title
    finished = turn.clock.now()
    if answer.is_error:
        state: ToolState = ToolError(
            output.text, "error", started, finished, title, answer.metadata, _whole(output)
        )
    else:
        state = ToolCompleted(output, started, finished, title, answer.metadata)
    call.put(state)
    await _keep(call, ToolRecord(part_id=part.id))
    status = "failed" if answer.is_error else "completed"
    call.show(status, title=title, output=output.text, metadata=answer.metadata)
    if status == "completed" and part.name == "todo" and spec.origin == "builtin":
        _show_plan(call)
    turn.meter_changed()
    return CallsEnd.done


def _said(spec: ToolSpec, part: ToolPart) -> authorship.Intent:
    """Files named in a foreign tool's input, as its declared writes.

    An edit tool whose input names no file answers for all changes meanwhile.
    """
    given = part.input if isinstance(part.input, dict) else {}
    many = (v for value in given.values() for v in (value if isinstance(value, list) else [value]))
    names = tuple(name.removeprefix("file://") for name in many if isinstance(name, str))
    says = any(word in key.lower() for key in given for word in ("path", "file", "uri"))
    return authorship.Intent(names=names, edits=spec.kind == "edit" and not says)


def _output(call: _Call, spec: ToolSpec, answer: ToolAnswer) -> Output:
    """Cut the answer, and store the complete text of a cut one."""
    limit = MAX_BYTES if spec.output_limit is None else spec.output_limit
    keep, name = kept_end(spec), call.part.id
    piece = cut(answer.text, max_bytes=limit, keep=keep, part_id=name)
    if answer.most_tokens is not None:
        count = call.turn.view.tokens
        piece = cut_to_tokens(answer.text, answer.most_tokens, count, keep=keep, part_id=name)
    whole = None
    if piece.cut:
        whole = call.turn.log.writer.put_blob(answer.text.encode("utf-8", "surrogatepass"))
    return Output(piece.text, whole, piece.total_bytes, piece.total_lines, answer.media)


def _whole(output: Output) -> Output | None:
    """Reference to a long error's complete text; `None` for a short error."""
    return None if output.whole is None else replace(output, text="")


async def _fail(
    call: _Call, text: str, failure: ToolFailure, started: int, wanted: Access | None = None
) -> CallsEnd:
    turn = call.turn
    title = "" if wanted is None else wanted.title
    call.put(ToolError(text, failure, started, turn.clock.now(), title))
    await _keep(call, ToolRecord(part_id=call.part.id, failure=failure))
    call.show(
        "failed",
        output=text,
        has_input=True,
        raw_input=call.part.input,
        metadata={"failure": failure},
    )
    return CallsEnd.done


async def _keep(call: _Call, record: ToolRecord) -> None:
    """Commit a call's end; on failure, show the call as failed, so that nobody waits."""
    try:
        await call.turn.log.writer.commit(record)
    except StorageFailed as error:
        text = f"What came of this call could not be stored. {error.message}"
        call.show("failed", output=text, metadata={"failure": "interrupted"})
        raise


def _context(call: _Call, granted: tuple[str, ...]) -> ToolContext:
    turn = call.turn

    def progress(text: str) -> None:
        origin = turn.channel.origin(turn.turn_id, call.message.id, call.part.id)
        turn.channel.publish(ToolOutputChunk(origin, call.part.call_id, text))

    async def recall(part_id: str, offset: int, limit: int | None, pattern: str | None) -> str:
        try:
            found = await turn.recall(part_id, offset, limit, pattern)
        except BadRequest as error:
            return error.message
        more = found.next_offset
        note = "" if more is None else f"\n[{found.total_bytes} bytes; go on with offset {more}]"
        return found.content + note

    return ToolContext(
        session_id=turn.session_id,
        call_id=call.part.call_id,
        cwd=Path(turn.cwd),
        buffers=turn.buffers,
        client=turn.client(),
        trusted=turn.trust.granted,
        progress=progress,
        recall=recall,
        environment=turn.environment,
        granted=granted,
        delegate=turn.delegate,
        changes=turn.tracking,
    )


async def _from_client(turn: TurnContext, part: ToolPart, context: ToolContext) -> ToolAnswer:
    """Call a client's tool without a time limit, with a notice after `UNANSWERED` seconds."""

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


def _show_plan(call: _Call) -> None:
    turn = call.turn
    origin = turn.channel.origin(turn.turn_id, call.message.id, call.part.id)
    turn.channel.publish(PlanChanged(origin, shown_items(call.part.input)))
