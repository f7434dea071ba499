"""Encodes prompts for the Messages API: equal prompts become equal bytes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from sidecar.core.conversation.growing import unchanged
from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)
from sidecar.model.bodies.body_json import NOTHING, json_bytes, sendable_json

EncodedPiece: TypeAlias = Block | ToolSpec
_Write: TypeAlias = Callable[[Sequence[EncodedPiece]], list[Any]]
_Speak: TypeAlias = Callable[[Sequence[Rendered]], list[Any]]
_Change: TypeAlias = Callable[[Block, Breakpoint | None, bool], Any]
"""Gives a block with a mark, or as the end of a prefilled answer."""


def encode(request: ModelRequest) -> JsonObject:
    def written(pieces: Sequence[EncodedPiece]) -> list[JsonObject]:
        return [_object(piece) for piece in pieces]

    def spoken(messages: Sequence[Rendered]) -> list[Any]:
        return [{"role": one.role, "content": written(one.blocks)} for one in messages]

    return _body(request, written, spoken, _changed)


class Encoder:
    """Writes bodies, and keeps the last one's messages, which the next mostly repeats.

    Of the rest, `_last` keeps only new or marked pieces. Sessions write with one encoder, some in a
    thread, so `_last` is replaced whole.
    """

    def __init__(self) -> None:
        self._last: dict[int, tuple[EncodedPiece, msgspec.Raw]] = {}
        self._spoken: tuple[Sequence[Rendered], list[msgspec.Raw]] = ((), [])

    def unwritten(self, request: ModelRequest) -> int:
        """Counts blocks of messages that the last body lacked."""
        messages = request.prompt.messages
        late = messages[unchanged(self._spoken[0], messages) :]
        return sum(id(block) not in self._last for message in late for block in message.blocks)

    def write(self, request: ModelRequest, *, stream: bool) -> bytes:
        """Writes `encode`'s body as the SDK does.

        Raises ValueError for a number that JSON lacks.
        """
        last, now = self._last, dict[int, tuple[EncodedPiece, msgspec.Raw]]()

        def written(pieces: Sequence[EncodedPiece]) -> list[msgspec.Raw]:
            # A block with a breakpoint is asked for twice.
            names = map(id, pieces)
            either = [last.get(name) or now.get(name) for name in names]
            known = [
                one or (piece, _raw(_object(piece)))
                for one, piece in zip(either, pieces, strict=True)
            ]
            now.update(zip(map(id, pieces), known, strict=True))
            return [raw for _, raw in known]

        def spoken(messages: Sequence[Rendered]) -> list[msgspec.Raw]:
            before, known = self._spoken
            same = unchanged(before, messages)
            made = [{"role": one.role, "content": written(one.blocks)} for one in messages[same:]]
            all_written = [*known[:same], *(msgspec.Raw(msgspec.json.encode(one)) for one in made)]
            self._spoken = messages, all_written
            return all_written.copy()

        body = _body(request, written, spoken, lambda *given: _raw(_changed(*given)))
        self._last = now
        return msgspec.json.encode({**body, "stream": True} if stream else body)


def _raw(piece: JsonObject) -> msgspec.Raw:
    return msgspec.Raw(json_bytes(piece))


def _body(request: ModelRequest, written: _Write, spoken: _Speak, changed: _Change) -> JsonObject:
    prompt = request.prompt
    marks: dict[int | None, list[Breakpoint]] = {}
    for mark in prompt.breakpoints:
        marks.setdefault(mark.message, []).append(mark)

    def content(blocks: Sequence[Block], number: int | None, *, ends: bool = False) -> list[Json]:
        found = written(blocks)
        last = len(blocks) - 1
        if ends:
            found[last] = changed(blocks[last], None, True)
        for mark in marks.get(number, ()):
            found[mark.block] = changed(blocks[mark.block], mark, ends and mark.block == last)
        return found

    body: JsonObject = {"model": request.model, "max_tokens": request.max_tokens}
    if prompt.system:
        body["system"] = content(prompt.system, None)
    if prompt.tools:
        body["tools"] = written(prompt.tools)
    messages = spoken(prompt.messages)
    last = len(messages) - 1
    for number in {*marks, last}:
        if number is None or number < 0:
            continue
        message = prompt.messages[number]
        prefilled = number == last and message.role == "assistant"
        if prefilled or number in marks:
            sent = content(message.blocks, number, ends=prefilled)
            messages[number] = {"role": message.role, "content": sent}
    body["messages"] = messages
    if request.effort:
        body["output_config"] = {"effort": request.effort}
    if request.compaction:
        asked: JsonObject = {"type": "summarize", "instructions": request.compaction}
        body["compaction"] = sendable_json(asked)
    return body


def _object(piece: EncodedPiece) -> JsonObject:
    if isinstance(piece, Block):
        return sendable_json(_block(piece))
    schema = piece.input_schema
    return sendable_json(
        {"name": piece.name, "description": piece.description, "input_schema": schema}
    )


def _changed(block: Block, mark: Breakpoint | None, ends: bool) -> JsonObject:
    sent = sendable_json(_block(block))
    if ends and sent["type"] == "text":
        # The API refuses blanks at the end of a prefilled answer.
        sent["text"] = str(sent["text"]).rstrip()
    if mark is None:
        return sent
    ttl: JsonObject = {"ttl": "1h"} if mark.ttl == "1h" else {}
    return {**sent, "cache_control": {"type": "ephemeral", **ttl}}


def _block(block: Block) -> JsonObject:
    match block.content:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case MediaBlock(media=media):
            return _media(media)
        case ReasoningBlock(text=text, metadata={"data": data}):
            return {"type": "redacted_thinking", "data": data}
        case ReasoningBlock(text=text, metadata=metadata):
            return {
                "type": "thinking",
                "thinking": text,
                "signature": metadata.get("signature", ""),
            }
        case CallBlock(call_id=call_id, name=name, input=given):
            return {"type": "tool_use", "id": call_id, "name": name, "input": given}
        case ResultBlock():
            return _result(block.content)
        case OpaqueBlock(block=body):
            return {key: value for key, value in body.items() if key != "cache_control"}


def _result(result: ResultBlock) -> JsonObject:
    text = result.text if result.text.strip() else NOTHING
    content: Json = text
    if result.media:
        content = [{"type": "text", "text": text}, *(_media(media) for media in result.media)]
    encoded: JsonObject = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": content,
    }
    return {**encoded, "is_error": True} if result.is_error else encoded


def _media(media: Media) -> JsonObject:
    source: JsonObject = {"type": "base64", "media_type": media.media_type, "data": media.data}
    return {
        "type": "image" if media.media_type.startswith("image/") else "document",
        "source": source,
    }
