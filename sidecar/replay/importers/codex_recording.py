"""Imports Codex rollouts: a JSON line per item and event."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Media, Millis, Part, ReasoningPart, Usage
from sidecar.core.text.json_text import read_all
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

FORMAT: Final = "codex"

_ATTACHED: Final = re.compile(
    r"# AGENTS\.md instructions|<(environment_context|skill|subagent_notification|turn_aborted"
    r"|user_instructions|user_shell_command)>"
)
"""Beginnings of user messages written by the agent."""
_UNSEEN: Final = ("compaction", "compaction_summary", "context_compaction", "ghost_snapshot")
"""Items without text; a compaction has its own line."""


def recognises(first: Sequence[JsonObject]) -> bool:
    return any(
        line.get("type") in ("session_meta", "response_item", "turn_context")
        and isinstance(line.get("payload"), dict)
        for line in first
    )


def entries(lines: Iterable[tuple[int, JsonObject]]) -> Iterator[TranscriptEntry]:
    """Ends a response at a token count or at its first result."""
    reader = _Reader()
    yield from read_each(lines, reader.line)
    yield from reader.close()
    yield from reader.writer.flush()


@dataclass(frozen=True, slots=True)
class _Later:
    """A tool result or an agent's note, kept until the answer ends."""

    line: int
    texts: list[str]
    at: Millis
    call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    media: tuple[Media, ...] = ()


@dataclass(slots=True)
class _Reader:
    writer: TranscriptWriter = field(default_factory=TranscriptWriter)
    _parts: list[Part] = field(default_factory=list)
    _usage: Usage | None = None
    _total: Json = None
    _ended: bool = False
    _model: str = ""
    _at: Millis = 0
    _waiting: list[_Later] = field(default_factory=list)
    _instructed: bool = False

    def line(self, number: int, line: JsonObject) -> Iterator[TranscriptEntry]:
        kind, payload, at = line.get("type"), line.get("payload"), millis(line.get("timestamp"))
        if not isinstance(payload, dict):
            yield DamagedLine(number, "it has no payload")
        elif kind == "session_meta" and not self._instructed:
            self._instructed = True
            yield from self._note(number, [text_of(payload.get("base_instructions"))], at)
        elif kind == "turn_context":
            self._model = text_of(payload.get("model")) or self._model
        elif kind == "event_msg" and payload.get("type") == "token_count":
            self._count(payload.get("info"))
        elif kind == "compacted":
            yield from self.close()
            yield from self.writer.flush()
            yield Compacted(at, text_of(payload.get("message")))
        elif kind == "response_item" and payload.get("type") not in _UNSEEN:
            yield from self._item(number, payload, at)

    def close(self) -> Iterator[TranscriptEntry]:
        parts, waiting, self._parts, self._waiting = self._parts, self._waiting, [], []
        if parts:
            yield from self.writer.assistant(parts, self._at, self._usage, "", self._model)
        self._usage, self._ended = None, False
        for item in waiting:
            if item.call_id is None:
                blocks: list[JsonObject] = [{"text": text} for text in item.texts]
                parts = self.writer.said(blocks, by="context")
                yield from self.writer.user(parts, item.at, typed=False)
            elif not self.writer.result(
                item.call_id, item.texts[0], item.at, item.metadata, item.media
            ):
                yield DamagedLine(item.line, NO_OPEN_CALL)

    def _item(self, number: int, item: JsonObject, at: Millis) -> Iterator[TranscriptEntry]:
        kind, content = item.get("type"), item.get("content")
        if kind == "message" and item.get("role") != "assistant":
            texts = [text_of(block) or f"[{block.get('type')}]" for block in objects(content)]
            if item.get("role") != "user" or _ATTACHED.match("".join(texts)):
                yield from self._note(number, texts, at)
            elif texts:
                yield from self.close()
                said = self.writer.said(objects(content), by="typed")
                yield from self.writer.user(said, at, typed=True)
        elif isinstance(kind, str) and kind.endswith("_output"):
            self._ended = True
            self._waiting.append(_result(number, item, at))
        else:
            if self._ended:
                yield from self.close()
            if part := self._part(number, item, at):
                self._at = self._at if self._parts else at
                self._parts.append(part)
            else:
                yield DamagedLine(number, f"an item cannot be read: {kind}")

    def _part(self, number: int, item: JsonObject, at: Millis) -> Part | None:
        position = len(self._parts)
        call_id = text_of(item.get("call_id")) or text_of(item.get("id")) or f"line {number}"
        match item:
            case {"type": "message"} if text := text_of(item.get("content")):
                return self.writer.text(position, text, by="model")
            case {"type": "reasoning"}:
                text = text_of(item.get("summary")) or text_of(item.get("content"))
                kept: JsonObject = {k: item[k] for k in ("encrypted_content",) if k in item}
                return ReasoningPart(self.writer.part_id(position), text, kept)
            case {"type": "function_call", "name": str(name)}:
                return self.writer.call(position, call_id, name, _arguments(item), at)
            case {"type": "custom_tool_call", "name": str(name)}:
                return self.writer.call(position, call_id, name, {"input": item.get("input")}, at)
            case {"type": "local_shell_call" | "tool_search_call" | "web_search_call" as kind}:
                if "call_id" not in item:  # the provider ran it itself
                    self._waiting.append(_Later(number, [""], at, call_id))
                name = kind.removesuffix("_call")
                return self.writer.call(position, call_id, name, item.get("action"), at)
            case _:
                return None

    def _note(self, line: int, texts: list[str], at: Millis) -> Iterator[TranscriptEntry]:
        if any(texts):
            self._waiting.append(_Later(line, texts, at))
        if not self._parts:
            yield from self.close()

    def _count(self, info: Json) -> None:
        # The same total twice is a repetition.
        given = info if isinstance(info, dict) else {}
        last, total = given.get("last_token_usage"), given.get("total_token_usage")
        repeated, self._total = total is not None and total == self._total, total or self._total
        if self._parts and isinstance(last, dict) and not repeated:
            self._usage, self._ended = _usage(last), True


def _usage(given: JsonObject) -> Usage:
    prompt, cached = count(given.get("input_tokens")), count(given.get("cached_input_tokens"))
    return Usage(
        input=max(0, prompt - cached),
        cache_read=min(prompt, cached),
        output=count(given.get("output_tokens")),
        thinking=count(given.get("reasoning_output_tokens")),
        requests=1,
    )


def _result(line: int, item: JsonObject, at: Millis) -> _Later:
    output, metadata = item.get("output"), JsonObject()
    if isinstance(output, dict):
        metadata = {"isError": True} if output.get("success") is False else {}
        output = output.get("content")
    call_id, media = str(item.get("call_id")), media_in(output)
    return _Later(line, [text_of(output)], at, call_id, metadata, media)


def _arguments(item: JsonObject) -> Json:
    given = item.get("arguments")
    try:
        parsed: Json = read_all(given) if isinstance(given, str) else given
    except ValueError:
        return given
    return parsed
