"""Decodes the Messages API's stream into provider-neutral events."""

from collections.abc import Iterator
from sys import intern
from typing import Any

from sidecar.core.conversation.stream import (
    BlockDelta,
    BlockFinished,
    BlockKind,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.text.json_text import is_deep, plain
from sidecar.model.bodies.answer_json import (
    LONGEST_STOP,
    PER_BLOCK,
    count,
    input_of,
    json_object,
    kept,
    size_of,
)
from sidecar.model.stalls import AnswerLimits, AnswerSize

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "tool_use": "tool",
}
_SAID = ("text", "thinking", "partial_json", "content")


class ResponseDecoder:
    """Decodes one response; `finished` only after `message_stop`.

    With `limits`, `take` raises `Endless`. `sdk`: the library's name and version.
    """

    def __init__(
        self, limits: AnswerLimits | None = None, sdk: str = "", *, compacting: bool = False
    ) -> None:
        self._size = AnswerSize(limits)
        self._sdk = sdk
        self._compacting = compacting
        self._usage = self._compacted = Usage()
        self._stop = ""
        self._raw: dict[int, str] = {}
        self._given: dict[int, Json] = {}
        self.finished = False

    def take(self, event: dict[str, Any]) -> Iterator[StreamEvent]:
        """Pings and unknown kinds give nothing."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._usage = usage_of(json_object(message.get("usage")), Usage())
                yield ResponseStarted(str(message.get("model") or ""), self._usage, self._sdk)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                yield from self._start(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                yield from self._delta(index, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                yield self._end(index)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop = intern(str(delta.get("stop_reason") or self._stop)[:LONGEST_STOP])
                told = json_object(event.get("usage"))
                self._usage = usage_of(told, self._usage)
                self._compacted = compacted_of(told)
            case {"type": "message_stop"}:
                self.finished = bool(self._stop)
                if self.finished:
                    yield ResponseFinished(self._stop, self._usage + self._compacted)
            case _:
                pass

    def _start(self, index: int, block: JsonObject) -> Iterator[StreamEvent]:
        self._size.add(PER_BLOCK + size_of(block))
        kind = _KINDS.get(str(block.get("type")), "opaque")
        match kind:
            case "tool":
                self._raw[index] = ""
                self._given[index] = block.get("input")
                # Of a long session's names there are few: they are kept once.
                name = intern(str(block.get("name") or ""))
                yield BlockStarted(index, "tool", str(block.get("id") or ""), name)
            case "reasoning":
                match block:
                    case {"type": "redacted_thinking", "data": str(data)} if data:
                        yield BlockStarted(index, "reasoning", block={"data": data})
                    case _:
                        yield BlockStarted(index, "reasoning")
                match block:
                    case {"signature": str(signature)} if signature:
                        yield BlockMetadata(index, {"signature": signature})
                if block.get("thinking"):
                    yield BlockDelta(index, str(block["thinking"]))
            case "text":
                yield BlockStarted(index, "text")
                if block.get("text"):
                    yield BlockDelta(index, str(block["text"]))
            case "opaque":
                if self._compacting and block.get("type") == "compaction":
                    yield BlockStarted(index, "text")
                    yield BlockDelta(index, str(block.get("content") or ""))
                    return
                known = kept(block)
                # Only Sidecar sets cache breakpoints.
                known.pop("cache_control", None)
                yield BlockStarted(index, "opaque", block=known)

    def _delta(self, index: int, delta: JsonObject) -> Iterator[StreamEvent]:
        # A signature replaces the last, and counts nothing: the thinking may be hidden.
        self._size.add(sum(size_of(delta.get(key, "")) for key in _SAID))
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                yield BlockDelta(index, text)
            case {"type": "thinking_delta", "thinking": str(text)}:
                yield BlockDelta(index, text)
            case {"type": "compaction_delta", "content": str(text)} if self._compacting:
                # One that was asked for comes whole, with its start or, as others do, behind.
                yield BlockDelta(index, text)
            case {"type": "signature_delta", "signature": str(signature)}:
                yield BlockMetadata(index, {"signature": signature})
            case {"type": "input_json_delta", "partial_json": str(text)} if index in self._raw:
                self._raw[index] += text
                yield BlockDelta(index, text)
            case _:
                pass

    def _end(self, index: int) -> BlockFinished:
        if index not in self._raw:
            return BlockFinished(index)
        raw = self._raw[index]
        if not raw.strip():
            # Some servers send the whole input with the block's start.
            whole = self._given[index] or {}
            return BlockFinished(index, {} if is_deep(whole) else plain(whole))
        return BlockFinished(index, *input_of(raw))


def compacted_of(told: JsonObject) -> Usage:
    # The totals leave these out.
    entries = told.get("iterations")
    found = [json_object(one) for one in entries] if isinstance(entries, list) else []
    own = (usage_of(one, Usage()) for one in found if one.get("type") == "compaction")
    return sum(own, Usage())


def usage_of(told: JsonObject, before: Usage) -> Usage:
    """Keeps missing or invalid counts as in `before`."""
    written = json_object(told.get("cache_creation"))
    known = before.cache_write_5m + before.cache_write_1h
    total = count(told.get("cache_creation_input_tokens"), known)
    write_1h = count(written.get("ephemeral_1h_input_tokens"), before.cache_write_1h)
    details = json_object(told.get("output_tokens_details"))
    return Usage(
        input=count(told.get("input_tokens"), before.input),
        cache_read=count(told.get("cache_read_input_tokens"), before.cache_read),
        cache_write_5m=max(0, total - write_1h),
        cache_write_1h=write_1h,
        output=count(told.get("output_tokens"), before.output),
        thinking=count(details.get("thinking_tokens"), before.thinking),
        requests=before.requests,
    )
