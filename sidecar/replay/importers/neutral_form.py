"""Imports the neutral form: one message per line, from any agent.

`{"role", "origin", "parts": [{"type": "text"|"reasoning"|"tool_call"|"tool_result"|"image", …}],
 "usage": {"prompt", "uncached", "cache_read", "cache_write", "cache_write_1h", "output", "cost"},
 "model", "ts", "stop"}`.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from sidecar.core.parts import (
    FilePart,
    JsonObject,
    Media,
    Millis,
    Part,
    ReasoningPart,
    ToolPart,
    Usage,
)
from sidecar.replay.bill import BilledRequest, bill_each, billed
from sidecar.replay.transcript import (
    NO_MODEL,
    Compacted,
    TranscriptEntry,
    TranscriptWriter,
    count,
    millis,
    objects,
    read_each,
    text_of,
)

FORMAT: Final = "neutral"
TYPED: Final = ("human", "")
_QUEUED: Final = re.compile(r"\[queued_command\] (.*)\n[\da-f-]{36}\nprompt\nhuman\n\S+", re.S)
"""Typed while the agent worked, then how, by whom and when."""
_MARK_ALONE: Final = re.compile(r"\[\w+\]\s*")
_QUEUE_MARK: Final = "[queued_command] "
"""Put by who recorded before words that came while the agent worked."""
COMPACTIONS: Final = ("compact_summary", "compaction", "summary")


def recognises(first: Sequence[JsonObject]) -> bool:
    return any("role" in line and "origin" in line and "parts" in line for line in first)


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[TranscriptEntry]:
    writer = TranscriptWriter()
    yield from read_each(lines, lambda _, line: _line(writer, line))
    yield from writer.flush()


def bill(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[BilledRequest]:
    return bill_each(lines, _billed)


def _billed(line: JsonObject) -> Iterator[BilledRequest]:
    used, model = line.get("usage"), text_of(line.get("model"))
    if line.get("role") != "assistant" or not isinstance(used, dict) or model == NO_MODEL:
        return
    usage = _usage(line)
    if usage is not None and usage.prompt:
        yield billed("", millis(line.get("ts")), model, usage, used.get("cost"))


def _line(writer: TranscriptWriter, line: JsonObject) -> Iterator[TranscriptEntry | str]:
    at, origin = millis(line.get("ts")), line.get("origin")
    match line.get("role"):
        case "user" if origin in COMPACTIONS:
            yield from writer.flush()
            yield Compacted(at, text_of(line.get("parts")))
        case "user":
            queued = _queued(line)
            typed = origin in TYPED or bool(queued)
            parts = yield from _user_parts(writer, queued or line, typed=typed)
            yield from writer.user(parts, at, typed=typed)
        case "assistant" if line.get("model") == NO_MODEL:
            parts = yield from _user_parts(writer, line, typed=False)
            yield from writer.user(parts, at, typed=False)
        case "assistant":
            usage, stop, model = _usage(line), text_of(line.get("stop")), line.get("model")
            parts = yield from _assistant_parts(writer, line, at)
            yield from writer.assistant(parts, at, usage, stop, text_of(model))
            for call in parts:
                if isinstance(call, ToolPart) and call.call_id == call.id:
                    writer.result(call.call_id, "", at, {})
        case "tool":
            yield from _results(writer, line, at)
        case role:
            yield f"no such role: {role!r:.80}"


def _user_parts(
    writer: TranscriptWriter, line: JsonObject, *, typed: bool
) -> Generator[str, None, list[Part]]:
    parts: list[Part] = []
    for part in objects(line.get("parts")):
        position = len(parts)
        match part:
            case {"type": "text", "text": str(text)} if typed or not _MARK_ALONE.fullmatch(text):
                by = "typed" if typed else "context"
                parts.append(writer.text(position, text.removeprefix(_QUEUE_MARK), by=by))
            case {"type": "text", "text": str()}:
                continue
            case {"type": "image"}:
                parts.append(FilePart(writer.part_id(position), "image", media=_image(part)))
            case _:
                yield f"a part cannot be read: {part.get('type')!r:.80}"
    return parts


def _queued(line: JsonObject) -> JsonObject:
    match line.get("parts"):
        case [{"type": "text", "text": str(text)}, *more] if line.get("origin") == "attachment":
            if found := _QUEUED.fullmatch(text):
                return {**line, "parts": [{"type": "text", "text": found[1]}, *more]}
    return {}


def _assistant_parts(
    writer: TranscriptWriter, line: JsonObject, at: Millis
) -> Generator[str, None, list[Part]]:
    parts: list[Part] = []
    for part in objects(line.get("parts")):
        position = len(parts)
        match part:
            case {"type": "text", "text": str(text)}:
                parts.append(writer.text(position, text, by="model"))
            case {"type": "reasoning"}:
                hidden = count(part.get("opaque_chars"))
                metadata: JsonObject = {"opaqueChars": hidden} if hidden else {}
                thought = text_of(part.get("text"))
                parts.append(ReasoningPart(writer.part_id(position), thought, metadata))
            case {"type": "tool_call", "id": str() | None as call_id, "name": str(name)}:
                # A call without an id was run by the provider, with no recorded result.
                named = call_id or writer.part_id(position)
                parts.append(writer.call(position, named, name, part.get("input"), at))
            case _:
                yield f"a part cannot be read: {part.get('type')!r:.80}"
    return parts


def _results(writer: TranscriptWriter, line: JsonObject, at: Millis) -> Iterator[str]:
    # An image belongs to the result before.
    parts = objects(line.get("parts"))
    for position, part in enumerate(parts):
        match part:
            case {"type": "image"}:
                continue
            case {"type": "tool_result", "id": str(call_id)}:
                after = takewhile(lambda p: p.get("type") == "image", parts[position + 1 :])
                images = [_image(image) for image in after]
                text, metadata = text_of(part.get("output")), _metadata(part)
                if not writer.result(call_id, text, at, metadata, images):
                    yield f"a result for {call_id!r:.80}, which no open call has"
            case _:
                yield f"a part cannot be read: {part.get('type')!r:.80}"


def _image(part: JsonObject) -> Media:
    # Image bytes were not recorded.
    return Media(text_of(part.get("media_type")) or "image/png", "")


def _metadata(part: JsonObject) -> JsonObject:
    metadata: JsonObject = {}
    if part.get("is_error") is True:
        metadata["isError"] = True
    if isinstance(part.get("exit_code"), int):
        metadata["exitCode"] = part["exit_code"]
    return metadata


def _usage(line: JsonObject) -> Usage | None:
    usage = line.get("usage")
    if not isinstance(usage, dict):
        return None
    read, uncached = count(usage.get("cache_read")), count(usage.get("uncached"))
    write, long = count(usage.get("cache_write")), count(usage.get("cache_write_1h"))
    prompt = count(usage.get("prompt"))
    if prompt and uncached + read + write != prompt:
        uncached = max(0, prompt - read - write)
    return Usage(
        uncached,
        read,
        max(0, write - long),
        long,
        count(usage.get("output")),
        count(usage.get("reasoning")),
        requests=1,
    )
