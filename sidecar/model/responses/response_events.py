"""Decodes the Responses API's stream into provider-neutral events."""

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

from sidecar.core.conversation.stream import (
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.model.bodies.answer_json import (
    LONGEST_STOP,
    PER_BLOCK,
    count,
    input_of,
    json_object,
    kept,
    size_of,
)
from sidecar.model.failures import ToldFailure
from sidecar.model.stalls import AnswerLimits, AnswerSize

_STOPS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
"""Neutral stop reasons of incomplete answers."""


@dataclass(slots=True)
class _Item:
    """An output item: its blocks by part, a call's JSON, the last part of thinking.

    `phase`: the provider's word on whether a message ends a turn.
    """

    kind: Literal["message", "reasoning", "call", "opaque"]
    blocks: dict[int, int] = field(default_factory=dict)
    raw: str = ""
    part: tuple[str, int] | None = None
    phase: Json = None


class ItemDecoder:
    """Decodes one answer; `finished` only after its last event.

    With `limits`, `take` raises `Endless`. `sdk`: the library's name and version.
    """

    def __init__(self, limits: AnswerLimits | None = None, sdk: str = "") -> None:
        self._size = AnswerSize(limits)
        self._sdk = sdk
        self._blocks = 0
        self._items: dict[int, _Item] = {}
        self._open: dict[int, _Item] = {}
        self._started = False
        self._called = False
        self._refused = False
        self.finished = False

    def take(self, event: Any) -> Iterator[StreamEvent]:  # noqa: ANN401 - any JSON
        """Unknown kinds give nothing. Raises ToldFailure."""
        self._size.add(0)
        match event:
            case {"type": str(kind), "response": dict(response)}:
                yield from self._response(kind, response)
            case {
                "type": "response.output_item.added",
                "output_index": int(at),
                "item": dict(item),
            }:
                yield from self._added(at, item)
            case {"type": "response.output_item.done", "output_index": int(at), "item": dict(item)}:
                yield from self._done(at, item)
            case {"type": str(kind), "output_index": int(at)}:
                yield from self._grown(kind, at, event)
            case {"type": "error"}:
                raise _told(event)
            case _:
                pass

    def end(self) -> Iterator[StreamEvent]:
        return iter(())

    # --- the answer as a whole ---------------------------------------------------------------

    def _response(self, kind: str, response: JsonObject) -> Iterator[StreamEvent]:
        if not self._started:
            self._started = True
            yield ResponseStarted(str(response.get("model") or ""), Usage(), self._sdk)
        match kind:
            case "response.failed":
                raise _told(json_object(response.get("error")))
            case "response.completed" | "response.incomplete":
                for at in [*self._open]:
                    yield from self._close(at)
                # Some servers stream texts alone, or nothing.
                items = response.get("output")
                for at, item in enumerate(items if isinstance(items, list) else ()):
                    if at not in self._items and isinstance(item, dict):
                        yield from self._done(at, item)
                self.finished = True
                usage = response_usage(json_object(response.get("usage")))
                yield ResponseFinished(self._stop(kind, response), usage)
            case _:
                pass

    def _stop(self, kind: str, response: JsonObject) -> str:
        if kind == "response.incomplete":
            why = json_object(response.get("incomplete_details")).get("reason")
            return _STOPS.get(str(why), str(why or "incomplete")[:LONGEST_STOP])
        if self._refused:
            return "refusal"
        return "tool_use" if self._called else "end_turn"

    # --- its items ---------------------------------------------------------------------------

    def _added(self, at: int, item: JsonObject) -> Iterator[StreamEvent]:
        self._size.add(PER_BLOCK, pieces=0)
        match item.get("type"):
            case "message":
                self._items[at] = _Item("message", phase=item.get("phase"))
            case "reasoning":
                self._items[at] = _Item("reasoning", {0: self._next()})
                yield BlockStarted(self._items[at].blocks[0], "reasoning")
            case "function_call":
                self._called = True
                made = self._items[at] = _Item("call", {0: self._next()})
                call_id, name = str(item.get("call_id") or ""), str(item.get("name") or "")
                self._size.add(size_of(name) + size_of(call_id), pieces=0)
                yield BlockStarted(made.blocks[0], "tool", call_id, name)
                yield from self._more(made, str(item.get("arguments") or ""))
            case _:
                self._items[at] = _Item("opaque")
        self._open[at] = self._items[at]

    def _done(self, at: int, item: JsonObject) -> Iterator[StreamEvent]:
        if at not in self._items:
            yield from self._added(at, {**item, "arguments": ""})
        if at not in self._open:
            return
        made = self._open[at]
        match made.kind:
            case "message":
                yield from self._unsaid(at, item)
            case "reasoning":
                yield from self._thought(made, item)
            case "call" if not made.raw:
                yield from self._more(made, str(item.get("arguments") or ""))
            case "opaque":
                self._size.add(size_of(item), pieces=0)
                made.blocks[0] = self._next()
                yield BlockStarted(made.blocks[0], "opaque", block=kept(item))
            case _:
                pass
        yield from self._close(at)

    def _unsaid(self, at: int, item: JsonObject) -> Iterator[StreamEvent]:
        """Gives a message's texts that were not streamed."""
        parts = item.get("content")
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            match part:
                case {"type": "output_text", "text": str(text)}:
                    yield from self._whole(at, number, text)
                case {"type": "refusal", "refusal": str(text)}:
                    self._refused = True
                    yield from self._whole(at, number, text)
                case _:
                    pass

    def _thought(self, made: _Item, item: JsonObject) -> Iterator[StreamEvent]:
        if made.part is None:
            for key in ("summary", "content"):
                parts = item.get(key)
                for number, part in enumerate(parts if isinstance(parts, list) else ()):
                    yield from self._thinking(made, (key, number), json_object(part).get("text"))
        # Without encrypted content, a server that stores nothing cannot take the thinking back.
        if isinstance(item.get("encrypted_content"), str) and item["encrypted_content"]:
            metadata = kept(item)
            for key in ("type", *(key for key in item if item[key] is None)):
                metadata.pop(key, None)
            yield BlockMetadata(made.blocks[0], metadata)

    def _close(self, at: int) -> Iterator[StreamEvent]:
        made = self._open.pop(at)
        for block in made.blocks.values():
            if made.kind == "call":
                yield BlockFinished(block, *input_of(made.raw if made.raw.strip() else "{}"))
            else:
                yield BlockFinished(block)

    # --- their growth ------------------------------------------------------------------------

    def _grown(self, kind: str, at: int, event: JsonObject) -> Iterator[StreamEvent]:
        made = self._open.get(at)
        match kind, made, event:
            case "response.output_text.delta", _Item("message"), {"delta": str(text)}:
                yield from self._said(at, _number(event, "content_index"), text)
            case "response.refusal.delta", _Item("message"), {"delta": str(text)}:
                self._refused = True
                yield from self._said(at, _number(event, "content_index"), text)
            case "response.reasoning_summary_text.delta", _Item("reasoning"), {"delta": text}:
                part = ("summary", _number(event, "summary_index"))
                yield from self._thinking(made, part, text)
            case "response.reasoning_text.delta", _Item("reasoning"), {"delta": text}:
                part = ("content", _number(event, "content_index"))
                yield from self._thinking(made, part, text)
            case "response.function_call_arguments.delta", _Item("call"), {"delta": str(text)}:
                yield from self._more(made, text)
            case _:
                pass

    def _said(self, at: int, number: int, text: str) -> Iterator[StreamEvent]:
        self._size.add(size_of(text), pieces=0)
        blocks = self._open[at].blocks
        if number not in blocks:
            blocks[number] = self._next()
            yield BlockStarted(blocks[number], "text")
            if isinstance(phase := self._open[at].phase, str):
                yield BlockMetadata(blocks[number], {"phase": phase})
        yield BlockDelta(blocks[number], text)

    def _whole(self, at: int, number: int, text: str) -> Iterator[StreamEvent]:
        if text and number not in self._open[at].blocks:
            yield from self._said(at, number, text)

    def _thinking(self, made: _Item, part: tuple[str, int], text: Json) -> Iterator[StreamEvent]:
        if not isinstance(text, str) or not text:
            return
        self._size.add(size_of(text), pieces=0)
        between = "\n\n" if made.part not in (None, part) else ""
        made.part = part
        yield BlockDelta(made.blocks[0], between + text)

    def _more(self, made: _Item, text: str) -> Iterator[StreamEvent]:
        if text:
            self._size.add(size_of(text), pieces=0)
            made.raw += text
            yield BlockDelta(made.blocks[0], text)

    def _next(self) -> int:
        self._blocks += 1
        return self._blocks - 1


def response_usage(told: JsonObject) -> Usage:
    """Counts cached and written tokens apart from the rest of the input."""
    details = json_object(told.get("input_tokens_details"))
    read = count(details.get("cached_tokens"), 0)
    written = count(details.get("cache_write_tokens"), 0)
    lives = json_object(details.get("cache_write_tokens_details"))
    long = min(written, count(lives.get("ttl_12h_tokens"), 0))
    thinking = json_object(told.get("output_tokens_details")).get("reasoning_tokens")
    return Usage(
        input=max(0, count(told.get("input_tokens"), 0) - read - written),
        cache_read=read,
        # Lifetimes of half an hour and of half a day: the shorter and the longer price.
        cache_write_5m=written - long,
        cache_write_1h=long,
        output=count(told.get("output_tokens"), 0),
        thinking=count(thinking, 0),
    )


def _number(event: JsonObject, key: str) -> int:
    value = event.get(key)
    return value if isinstance(value, int) else 0


def _told(error: JsonObject) -> ToldFailure:
    inner = json_object(error.get("error")) or error
    code = inner.get("code") or inner.get("type") or ""
    said = inner.get("message")
    return ToldFailure(str(said or "the provider gave no reason"), str(code))
