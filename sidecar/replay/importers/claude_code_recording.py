"""Imports Claude Code's recordings: a JSON line per block."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Media, Millis, Part, ReasoningPart, Usage
from sidecar.replay.bill import BilledRequest, bill_each, billed
from sidecar.replay.transcript import (
    NO_MODEL,
    NO_OPEN_CALL,
    Compacted,
    DamagedLine,
    TranscriptEntry,
    TranscriptWriter,
    count,
    is_machine_made,
    media_in,
    millis,
    objects,
    read_each,
    text_of,
)

FORMAT: Final = "claude-code"

_ATTACHED: Final = ("<command-", "<local-command-", "<bash-", "<system-reminder>")
"""Beginnings of unmarked user lines by the agent."""
_TEXTS: Final = ("content", "prompt", "snippet", "text", "addedLines", "addedBlocks")
"""Keys of an attachment's text, by its kind."""


def recognises(first: Sequence[JsonObject]) -> bool:
    return any(
        line.get("type") in ("user", "assistant", "system", "attachment", "progress")
        and "sessionId" in line
        and "uuid" in line
        for line in first
    )


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[TranscriptEntry]:
    reader = _Reader()
    yield from read_each(lines, reader.line)
    yield from reader.boundary()
    yield from reader.close()
    yield from reader.writer.flush()


def bill(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[BilledRequest]:
    """Subagents' requests stand in their own lines or files, or in lines of progress."""
    return bill_each(lines, _billed)


def _billed(line: JsonObject) -> Iterator[BilledRequest]:
    aside = line.get("isSidechain") is True
    match line:
        case {"type": "progress", "data": {"message": dict(inner)}}:
            line, aside = inner, True
        case _:
            pass
    match line:
        case {"type": "assistant", "message": {"usage": dict(used), **message}}:
            model, at = text_of(message.get("model")), millis(line.get("timestamp"))
        case _:
            return
    if model != NO_MODEL:
        name, cost = text_of(message.get("id")), line.get("costUSD")
        yield billed(name, at, model, _usage(used), cost, aside=aside)


@dataclass(frozen=True, slots=True)
class _Later:
    """A tool result or an agent's note, kept until the answer ends."""

    line: int
    text: str
    at: Millis
    call_id: str | None = None
    is_error: bool = False
    media: tuple[Media, ...] = ()


@dataclass(slots=True)
class _Reader:
    writer: TranscriptWriter = field(default_factory=TranscriptWriter)
    _id: str = ""
    _parts: list[Part] = field(default_factory=list)
    _usage: Usage | None = None
    _stop: str = ""
    _model: str = ""
    _at: Millis = 0
    _waiting: list[_Later] = field(default_factory=list)
    _compacted: bool = False
    _boundary: Millis | None = None

    def line(self, number: int, line: JsonObject) -> Iterator[TranscriptEntry]:
        if line.get("isSidechain") is True:
            return
        kind, at = line.get("type"), millis(line.get("timestamp"))
        if self._boundary is not None and line.get("isCompactSummary") is not True:
            yield from self.boundary()
        if kind == "system" and line.get("subtype") == "compact_boundary":
            self._boundary = at
        elif kind == "attachment":
            said = _queued(line.get("attachment"))
            if said and not is_machine_made(text_of(said)):
                yield from self._typed(said, at)
            else:
                yield from self._note(number, _attached(line.get("attachment")), at)
        elif kind in ("user", "assistant"):
            message = line.get("message")
            if not isinstance(message, dict):
                yield DamagedLine(number, "it has no message")
            elif kind == "assistant":
                yield from self._assistant(number, message, at)
            else:
                yield from self._user(number, line, message.get("content"), at)

    def boundary(self) -> Iterator[TranscriptEntry]:
        at, self._boundary = self._boundary, None
        if at is not None:
            yield from self._compact(at)

    def close(self) -> Iterator[TranscriptEntry]:
        parts, waiting, self._parts, self._waiting = self._parts, self._waiting, [], []
        if parts or (self._usage and self._usage.prompt):
            self._compacted = False
            yield from self.writer.assistant(parts, self._at, self._usage, self._stop, self._model)
        self._id, self._usage, self._stop = "", None, ""
        for item in waiting:
            metadata: JsonObject = {"isError": True} if item.is_error else {}
            if item.call_id is None:
                text = self.writer.text(0, item.text, by="context")
                yield from self.writer.user([text], item.at, typed=False)
            elif not self.writer.result(item.call_id, item.text, item.at, metadata, item.media):
                yield DamagedLine(item.line, NO_OPEN_CALL)

    def _assistant(self, number: int, message: JsonObject, at: Millis) -> Iterator[TranscriptEntry]:
        model, given = str(message.get("model") or ""), message.get("usage")
        if model == NO_MODEL:
            yield from self._note(number, text_of(message.get("content")), at)
            return
        usage = _usage(given) if isinstance(given, dict) else None
        name = str(message.get("id") or f"line {number}")
        if name != self._id:
            yield from self.close()
            self._id, self._at = name, at
        self._usage, self._model = usage or self._usage, model
        self._stop = str(message.get("stop_reason") or self._stop)
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in objects(content):
            if part := self._part(len(self._parts), block):
                self._parts.append(part)
            else:
                yield DamagedLine(number, f"a block cannot be read: {block.get('type')}")

    def _user(
        self, number: int, line: JsonObject, content: Json, at: Millis
    ) -> Iterator[TranscriptEntry]:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        said: list[JsonObject] = []
        for block in objects(content):
            if block.get("type") == "tool_result":
                call_id, text = str(block.get("tool_use_id")), text_of(block.get("content"))
                failed, media = block.get("is_error") is True, media_in(block.get("content"))
                self._waiting.append(_Later(number, text, at, call_id, failed, media))
            elif block.get("type") in ("text", "image", "document"):
                said.append(block)
            else:
                yield DamagedLine(number, f"a block cannot be read: {block.get('type')}")
        texts = [text_of(block) for block in said]
        if line.get("isCompactSummary") is True:
            at, self._boundary = at if self._boundary is None else self._boundary, None
            yield from self._compact(at, "\n".join(texts))
        elif line.get("isMeta") is True or "".join(texts[:1]).startswith(_ATTACHED):
            yield from self._note(number, "\n".join(texts), at)
        elif any(texts) or media_in(said):
            yield from self._typed(said, at)

    def _typed(self, said: list[JsonObject], at: Millis) -> Iterator[TranscriptEntry]:
        yield from self.close()
        self._compacted = False
        yield from self.writer.user(self.writer.said(said, by="typed"), at, typed=True)

    def _note(self, line: int, text: str, at: Millis) -> Iterator[TranscriptEntry]:
        if text:
            self._waiting.append(_Later(line, text, at))
        if not self._id:
            yield from self.close()

    def _compact(self, at: Millis, summary: str = "") -> Iterator[TranscriptEntry]:
        # Once only: after a boundary comes the summary, never part of the talk.
        yield from self.close()
        if not self._compacted:
            yield from self.writer.flush()
            yield Compacted(at, summary)
        self._compacted = True

    def _part(self, position: int, block: JsonObject) -> Part | None:
        match block:
            case {"type": "text", "text": str(text)}:
                return self.writer.text(position, text, by="model")
            case {"type": "tool_use", "id": str(call_id), "name": str(name)}:
                return self.writer.call(position, call_id, name, block.get("input"), self._at)
            case {"type": "thinking" | "redacted_thinking"}:
                kept: JsonObject = {k: block[k] for k in ("signature", "data") if k in block}
                text = text_of(block.get("thinking"))
                return ReasoningPart(self.writer.part_id(position), text, kept)
            case _:
                return None


def _usage(given: JsonObject) -> Usage:
    split = given.get("cache_creation")
    hour = count(split.get("ephemeral_1h_input_tokens")) if isinstance(split, dict) else 0
    short = count(split.get("ephemeral_5m_input_tokens")) if isinstance(split, dict) else 0
    return Usage(
        input=count(given.get("input_tokens")),
        cache_read=count(given.get("cache_read_input_tokens")),
        cache_write_5m=max(short, count(given.get("cache_creation_input_tokens")) - hour),
        cache_write_1h=hour,
        output=count(given.get("output_tokens")),
        requests=1,
    )


def _queued(given: Json) -> list[JsonObject]:
    match given:
        case {"type": "queued_command", "prompt": str(text), **rest}:
            said: list[JsonObject] = [{"type": "text", "text": text}]
        case {"type": "queued_command", "prompt": list(blocks), **rest}:
            said = objects(blocks)
        case _:
            return []
    return said if rest.get("commandMode", "prompt") == "prompt" else []


def _attached(given: Json) -> str:
    if not isinstance(given, dict):
        return ""
    content = given.get("content")
    if isinstance(content, dict):
        given = {**given, "content": content.get("content")}
    text = next((text for key in _TEXTS if (text := text_of(given.get(key)))), "")
    queued = given.get("type") == "queued_command"
    return text if queued or not text else f"[{given.get('type')}] {text}"
