"""Imports `opencode export`, or its messages one per line.

`{"info": {…}, "messages": [{"info": {"role", "time", "tokens", …}, "parts": […]}]}`; a part's
`type`: text, reasoning, tool, file, step-start, step-finish.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import FilePart, Json, JsonObject, Millis, Part, ReasoningPart, Usage
from sidecar.replay.bill import BilledRequest, bill_each, billed
from sidecar.replay.transcript import (
    Compacted,
    DamagedLine,
    TranscriptEntry,
    TranscriptWriter,
    count,
    impossible,
    media_of,
    millis,
    objects,
    text_of,
)

FORMAT: Final = "opencode"

_UNSEEN: Final = ("agent", "compaction", "patch", "retry", "snapshot", "subtask")
"""Parts hidden from the model."""


def recognises(first: Sequence[JsonObject]) -> bool:
    return any(
        isinstance(info := line.get("info"), dict)
        and (
            isinstance(line.get("messages"), list)
            or (isinstance(line.get("parts"), list) and "sessionID" in info)
        )
        for line in first
    )


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[TranscriptEntry]:
    writer = TranscriptWriter()
    for number, line in lines:
        document = isinstance(line.get("messages"), list)
        messages = line["messages"] if document else [line]
        assert isinstance(messages, list)
        for position, message in enumerate(messages, 1):
            where = f"message {position}: " if document else ""
            try:
                for entry in _message(writer, message):
                    yield DamagedLine(number, where + entry) if isinstance(entry, str) else entry
            except (ValueError, OverflowError) as error:
                yield impossible(number, error, where)
    yield from writer.flush()


def bill(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[BilledRequest]:
    messages = (
        (number, message)
        for number, line in lines
        for message in objects(line.get("messages")) or [line]
    )
    return bill_each(messages, _of_message)


def _of_message(message: JsonObject) -> Iterator[BilledRequest]:
    info, parts = message.get("info"), message.get("parts")
    if isinstance(info, dict) and info.get("role") == "assistant":
        yield from _billed(info, objects(parts))


def _billed(info: JsonObject, parts: Sequence[JsonObject]) -> Iterator[BilledRequest]:
    name, model, at = text_of(info.get("id")), text_of(info.get("modelID")), _time(info, "created")
    steps = [part for part in parts if part.get("type") == "step-finish"]
    for number, told in enumerate(steps or [info]):
        if usage := _usage(told.get("tokens")):
            step = f"{name} {number}" if name else ""
            yield billed(step, at, model, usage, told.get("cost"))


def _message(writer: TranscriptWriter, message: Json) -> Iterator[TranscriptEntry | str]:
    match message:
        case {"info": dict(info), "parts": list(parts)} if info.get("role") == "user":
            yield from _user(writer, info, objects(parts))
        case {"info": dict(info), "parts": parts} if info.get("role") == "assistant" and info.get(
            "summary"
        ):
            if not info.get("error"):
                yield from writer.flush()
                yield Compacted(_time(info, "created"), text_of(parts))
        case {"info": dict(info), "parts": list(parts)} if info.get("role") == "assistant":
            yield from _assistant(writer, info, objects(parts))
        case _:
            yield "it is no message with a role and parts"


def _user(
    writer: TranscriptWriter, info: JsonObject, given: Sequence[JsonObject]
) -> Iterator[TranscriptEntry | str]:
    parts: list[Part] = []
    typed = False
    for part in given:
        match part:
            case {"type": "text", "ignored": True}:
                pass
            case {"type": "text", "text": str(text)}:
                by = "context" if part.get("synthetic") is True else "typed"
                typed = typed or by == "typed"
                parts.append(writer.text(len(parts), text, by=by))
            case {"type": "file", "url": str(url)}:
                typed = True
                name = text_of(part.get("filename"))
                media = media_of(part)
                uri = name if media else url
                parts.append(FilePart(writer.part_id(len(parts)), uri, name, media))
            case {"type": kind} if kind in _UNSEEN:
                pass
            case _:
                yield f"a part cannot be read: {part.get('type')}"
    yield from writer.user(parts, _time(info, "created"), typed=typed)


@dataclass(slots=True)
class _Step:
    parts: list[Part] = field(default_factory=list)
    results: list[tuple[str, JsonObject]] = field(default_factory=list)


def _assistant(
    writer: TranscriptWriter, info: JsonObject, given: Sequence[JsonObject]
) -> Iterator[TranscriptEntry | str]:
    model, at = text_of(info.get("modelID")), _time(info, "created")
    finished = any(part.get("type") == "step-finish" for part in given)
    step = _Step()
    for part in given:
        match part:
            case {"type": "step-start"} if step.parts:
                yield from _end(writer, step, at, None, "", model)
                step = _Step()
            case {"type": "step-finish"}:
                usage = _usage(part.get("tokens"))
                yield from _end(writer, step, at, usage, text_of(part.get("reason")), model)
                step = _Step()
            case {"type": "step-start" | "file"}:
                pass
            case {"type": kind} if kind in _UNSEEN:
                pass
            case _:
                if not _take(writer, step, part, at):
                    yield f"a part cannot be read: {part.get('type')}"
    if step.parts or not finished:
        usage = None if finished else _usage(info.get("tokens"))
        if step.parts or usage:
            yield from _end(writer, step, at, usage, text_of(info.get("finish")), model)


def _take(writer: TranscriptWriter, step: _Step, part: JsonObject, at: Millis) -> bool:
    position = len(step.parts)
    match part:
        case {"type": "text", "text": str(text)}:
            step.parts.append(writer.text(position, text, by="model"))
        case {"type": "reasoning", "text": str(text)}:
            given = part.get("metadata")
            metadata: JsonObject = given if isinstance(given, dict) else {}
            step.parts.append(ReasoningPart(writer.part_id(position), text, metadata))
        case {"type": "tool", "callID": str(call_id), "tool": str(name), "state": dict(state)}:
            step.parts.append(writer.call(position, call_id, name, state.get("input"), at))
            step.results.append((call_id, state))
        case _:
            return False
    return True


def _end(
    writer: TranscriptWriter, step: _Step, at: Millis, usage: Usage | None, stop: str, model: str
) -> Iterator[TranscriptEntry]:
    yield from writer.assistant(step.parts, at, usage, stop, model)
    for call_id, state in step.results:
        status, ended = state.get("status"), _time(state, "end")
        if status == "completed":
            media = [m for file in objects(state.get("attachments")) if (m := media_of(file))]
            given = state.get("metadata")
            code = given.get("exit") if isinstance(given, dict) else None
            metadata: JsonObject = {"exitCode": code} if isinstance(code, int) else {}
            writer.result(call_id, text_of(state.get("output")), ended, metadata, media)
        elif status == "error":
            writer.result(call_id, text_of(state.get("error")), ended, {"isError": True})


def _usage(tokens: Json) -> Usage | None:
    # opencode's `input` excludes cached tokens, `output` excludes reasoning.
    if not isinstance(tokens, dict):
        return None
    cache = tokens.get("cache")
    kept = cache if isinstance(cache, dict) else {}
    thinking = count(tokens.get("reasoning"))
    usage = Usage(
        input=count(tokens.get("input")),
        cache_read=count(kept.get("read")),
        cache_write_5m=count(kept.get("write")),
        output=count(tokens.get("output")) + thinking,
        thinking=thinking,
        requests=1,
    )
    return usage if usage.prompt else None


def _time(given: JsonObject, key: str) -> Millis:
    times = given.get("time")
    return millis(times.get(key)) if isinstance(times, dict) else 0
