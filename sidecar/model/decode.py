"""The Messages API's raw stream as provider-neutral events. Pure: one decoder for each response."""

import json
from collections.abc import Iterator
from typing import Any

from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.stream import (
    BlockDelta,
    BlockFinished,
    BlockKind,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "thinking": "reasoning",
    "redacted_thinking": "reasoning",
    "tool_use": "tool",
}


class Decoder:
    """Turns events, as plain JSON, into ours. `finished` only after `message_stop`."""

    def __init__(self) -> None:
        self._usage = Usage()
        self._stop = ""
        self._raw: dict[int, str] = {}
        self._given: dict[int, Json] = {}
        self.finished = False

    def take(self, event: dict[str, Any]) -> Iterator[StreamEvent]:
        """Give what one event means; pings and unknown kinds mean nothing."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self._usage = usage_of(message.get("usage") or {}, Usage())
                yield ResponseStarted(
                    str(message.get("model") or ""), self._usage, str(message.get("id") or "")
                )
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                yield from self._start(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                yield from self._delta(index, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                yield self._end(index)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop = str(delta.get("stop_reason") or self._stop)
                self._usage = usage_of(event.get("usage") or {}, self._usage)
            case {"type": "message_stop"}:
                self.finished = bool(self._stop)
                if self.finished:
                    yield ResponseFinished(self._stop, self._usage)
            case _:
                pass

    def _start(self, index: int, block: JsonObject) -> Iterator[StreamEvent]:
        kind = _KINDS.get(str(block.get("type")), "opaque")
        match kind:
            case "tool":
                self._raw[index] = ""
                self._given[index] = block.get("input")
                yield BlockStarted(
                    index, "tool", str(block.get("id") or ""), str(block.get("name") or "")
                )
            case "reasoning":
                hidden: JsonObject = {"data": block["data"]} if "data" in block else {}
                yield BlockStarted(index, "reasoning", block=hidden)
                if block.get("signature"):
                    yield BlockMetadata(index, {"signature": block["signature"]})
                if block.get("thinking"):
                    yield BlockDelta(index, str(block["thinking"]))
            case "text":
                yield BlockStarted(index, "text")
                if block.get("text"):
                    yield BlockDelta(index, str(block["text"]))
            case "opaque":
                yield BlockStarted(index, "opaque", block=block)

    def _delta(self, index: int, delta: JsonObject) -> Iterator[StreamEvent]:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                yield BlockDelta(index, text)
            case {"type": "thinking_delta", "thinking": str(text)}:
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
            # Some servers give the whole input with the start of the block.
            return BlockFinished(index, self._given[index] or {})
        try:
            return BlockFinished(index, json.loads(raw))
        except (ValueError, RecursionError) as error:
            return BlockFinished(index, None, str(error))


def usage_of(told: JsonObject, before: Usage) -> Usage:
    """Read a usage object; what it leaves out stays as it was before."""

    def number(name: str, otherwise: int) -> int:
        value = told.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else otherwise

    written = told.get("cache_creation")
    split = written if isinstance(written, dict) else {}
    known = before.cache_write_5m + before.cache_write_1h
    total = number("cache_creation_input_tokens", known)
    hour = split.get("ephemeral_1h_input_tokens")
    write_1h = hour if isinstance(hour, int) else before.cache_write_1h
    details = told.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
    return Usage(
        input=number("input_tokens", before.input),
        cache_read=number("cache_read_input_tokens", before.cache_read),
        cache_write_5m=max(0, total - write_1h),
        cache_write_1h=write_1h,
        output=number("output_tokens", before.output),
        thinking=thinking if isinstance(thinking, int) else before.thinking,
        requests=before.requests,
    )
