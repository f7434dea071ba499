"""The neutral form: one message a line, whatever agent wrote it.

`{"role", "origin", "parts": [{"type": "text"|"reasoning"|"tool_call"|"tool_result"|"image", …}],
"usage": {"prompt", "uncached", "cache_read", "cache_write", "cache_write_1h", "output"},
"model", "ts", "stop"}`.
"""

from collections.abc import Iterable, Iterator, Sequence

from sidecar.core.parts import (
    FilePart,
    Json,
    JsonObject,
    Media,
    Part,
    ReasoningPart,
    Usage,
)
from sidecar.replay.transcript import (
    Compacted,
    Damaged,
    Entry,
    Writer,
    count,
    millis,
    objects,
    text_of,
)

FORMAT = "neutral"
TYPED = ("human", "")
COMPACTIONS = ("compact_summary", "compaction", "summary")


def recognises(first: Sequence[JsonObject]) -> bool:
    """Whether the lines have a role, an origin and parts."""
    return any("role" in line and "origin" in line and "parts" in line for line in first)


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[Entry]:
    """Give the session's messages."""
    writer = Writer()
    for number, line in lines:
        at = millis(line.get("ts"))
        origin = line.get("origin")
        match line.get("role"):
            case "user" if origin in COMPACTIONS:
                yield from writer.flush()
                yield Compacted()
            case "user":
                typed = origin in TYPED
                yield from writer.user(_user_parts(writer, line, typed=typed), at, typed=typed)
            case "assistant":
                usage, stop, model = _usage(line), text_of(line.get("stop")), line.get("model")
                parts = _assistant_parts(writer, line, at)
                yield from writer.assistant(parts, at, usage, stop, text_of(model))
            case "tool":
                for part in objects(line.get("parts")):
                    metadata = _metadata(part)
                    call_id = text_of(part.get("id"))
                    if not writer.result(call_id, text_of(part.get("output")), at, metadata):
                        yield Damaged(number, f"a result for {call_id!r}, which no open call has")
            case role:
                yield Damaged(number, f"no such role: {role!r}")
    yield from writer.flush()


def _user_parts(writer: Writer, line: JsonObject, *, typed: bool) -> list[Part]:
    parts: list[Part] = []
    for part in objects(line.get("parts")):
        position = len(parts)
        if part.get("type") == "text":
            by = "typed" if typed else "context"
            parts.append(writer.text(position, text_of(part.get("text")), by=by))
        elif part.get("type") == "image":
            media = Media(text_of(part.get("media_type")) or "image/png", "")
            parts.append(FilePart(writer.part_id(position), "image", media=media))
    return parts


def _assistant_parts(writer: Writer, line: JsonObject, at: int) -> list[Part]:
    parts: list[Part] = []
    for part in objects(line.get("parts")):
        position = len(parts)
        match part.get("type"):
            case "text":
                parts.append(writer.text(position, text_of(part.get("text")), by="model"))
            case "reasoning":
                hidden: JsonObject = {"opaqueChars": count(part.get("opaque_chars"))}
                thought = text_of(part.get("text"))
                parts.append(ReasoningPart(writer.part_id(position), thought, hidden))
            case "tool_call":
                given: Json = part.get("input")
                name, call_id = text_of(part.get("name")), text_of(part.get("id"))
                parts.append(writer.call(position, call_id, name, given, at))
            case _:
                pass
    return parts


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
    prompt, read = count(usage.get("prompt")), count(usage.get("cache_read"))
    write, long = count(usage.get("cache_write")), count(usage.get("cache_write_1h"))
    uncached = count(usage.get("uncached"))
    if uncached + read + write != prompt:
        uncached = max(0, prompt - read - write)
    output = count(usage.get("output"))
    return Usage(uncached, read, max(0, write - long), long, output, requests=1)
