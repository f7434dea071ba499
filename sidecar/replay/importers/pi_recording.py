"""Imports pi's recordings: one JSON line per message and compaction."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from sidecar.core.parts import Json, JsonObject, Millis, Part, ReasoningPart, Usage
from sidecar.replay.bill import BilledRequest, bill_each, billed
from sidecar.replay.transcript import (
    NO_OPEN_CALL,
    Compacted,
    DamagedLine,
    TranscriptEntry,
    TranscriptWriter,
    count,
    media_in,
    millis,
    objects,
    read_each,
    text_of,
)

FORMAT: Final = "pi"


def recognises(first: Sequence[JsonObject]) -> bool:
    return any(
        (line.get("type") == "session" and "cwd" in line)
        or (line.get("type") == "message" and isinstance(line.get("message"), dict))
        for line in first
    )


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[TranscriptEntry]:
    writer = TranscriptWriter()
    yield from read_each(lines, partial(_line, writer))
    yield from writer.flush()


def bill(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[BilledRequest]:
    return bill_each(lines, _billed)


def _billed(line: JsonObject) -> Iterator[BilledRequest]:
    match line:
        case {"type": "message", "message": {"role": "assistant", "usage": dict(used), **told}}:
            given, at = used.get("cost"), millis(line.get("timestamp"))
            cost = given.get("total") if isinstance(given, dict) else None
            usage, model = _usage(used) or Usage(), text_of(told.get("model"))
            yield billed(text_of(line.get("id")), at, model, usage, cost)
        case _:
            pass


def _line(writer: TranscriptWriter, number: int, line: JsonObject) -> Iterator[TranscriptEntry]:
    at = millis(line.get("timestamp"))
    match line:
        case {"type": "message", "message": dict(message)}:
            yield from _message(writer, number, message, at)
        case {"type": "message"}:
            yield DamagedLine(number, "it has no message")
        case {"type": "compaction"}:
            yield from writer.flush()
            yield Compacted(at, text_of(line.get("summary")))
        case {"type": "branch_summary"}:
            yield from _note(writer, text_of(line.get("summary")), at)
        case {"type": "custom_message"}:
            yield from _note(writer, text_of(line.get("content")), at)
        case _:
            return


def _message(
    writer: TranscriptWriter, number: int, message: JsonObject, at: Millis
) -> Iterator[TranscriptEntry]:
    content = message.get("content")
    match message.get("role"):
        case "user":
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if parts := writer.said(objects(blocks), by="typed"):
                yield from writer.user(parts, at, typed=True)
            else:
                yield DamagedLine(number, "a user's message holds nothing to read")
        case "assistant":
            yield from _assistant(writer, number, message, at)
        case "toolResult":
            call_id, failed = str(message.get("toolCallId")), message.get("isError") is True
            metadata: JsonObject = {"isError": True} if failed else {}
            text, media = text_of(content), media_in(content)
            if not writer.result(call_id, text, at, metadata, media):
                yield DamagedLine(number, NO_OPEN_CALL)
        case "bashExecution":  # the user ran it, and the model sees what it gave
            command, output = text_of(message.get("command")), text_of(message.get("output"))
            yield from _note(writer, f"$ {command}\n{output}", at)
        case "custom" | "hookMessage" | "branchSummary":
            yield from _note(writer, text_of(content) or text_of(message.get("summary")), at)
        case role:
            yield DamagedLine(number, f"a message has an unknown role: {role}")


def _assistant(
    writer: TranscriptWriter, number: int, message: JsonObject, at: Millis
) -> Iterator[TranscriptEntry]:
    usage = _usage(message.get("usage"))
    stop, model = text_of(message.get("stopReason")), text_of(message.get("model"))
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    yield from writer.flush()  # so that the parts' ids are those of this message
    parts: list[Part] = []
    for block in objects(content):
        if part := _part(writer, len(parts), block, at):
            parts.append(part)
        else:
            yield DamagedLine(number, f"a block cannot be read: {block.get('type')}")
    if parts or (usage and usage.prompt):
        yield from writer.assistant(parts, at, usage, stop, model)


def _part(writer: TranscriptWriter, position: int, block: JsonObject, at: Millis) -> Part | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return writer.text(position, text, by="model")
        case {"type": "toolCall", "id": str(call_id), "name": str(name)}:
            return writer.call(position, call_id, name, block.get("arguments"), at)
        case {"type": "thinking"}:
            kept: JsonObject = {key: block[key] for key in ("thinkingSignature",) if block.get(key)}
            return ReasoningPart(writer.part_id(position), text_of(block.get("thinking")), kept)
        case _:
            return None


def _note(writer: TranscriptWriter, text: str, at: Millis) -> Iterator[TranscriptEntry]:
    if text:
        yield from writer.user([writer.text(0, text, by="context")], at, typed=False)


def _usage(given: Json) -> Usage | None:
    if not isinstance(given, dict):
        return None
    return Usage(
        input=count(given.get("input")),
        cache_read=count(given.get("cacheRead")),
        cache_write_5m=count(given.get("cacheWrite")),
        output=count(given.get("output")),
        requests=1,
    )
