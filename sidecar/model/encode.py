"""Encodes prompts for the Messages API: equal prompts become equal bytes."""

import msgspec

from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)

NOTHING = "(no output)"
"""For no text: the API refuses empty blocks, local servers empty results."""


def encode(request: ModelRequest) -> JsonObject:
    """Without `stream`."""
    marks = {(b.message, b.block): b for b in request.prompt.breakpoints}
    body: JsonObject = {"model": request.model, "max_tokens": request.max_tokens}
    if request.prompt.system:
        body["system"] = [
            _marked(_sent(_block(block)), marks.get((None, index)))
            for index, block in enumerate(request.prompt.system)
        ]
    if request.prompt.tools:
        body["tools"] = [_sent(_tool(tool)) for tool in request.prompt.tools]
    messages: list[Json] = []
    for number, message in enumerate(request.prompt.messages):
        content = [_sent(_block(block)) for block in message.blocks]
        if message.role == "assistant" and number == len(request.prompt.messages) - 1:
            _without_blanks(content[-1])
        marked: list[Json] = [_marked(one, marks.get((number, i))) for i, one in enumerate(content)]
        messages.append({"role": message.role, "content": marked})
    body["messages"] = messages
    if request.effort:
        body["output_config"] = {"effort": request.effort}
    return body


def _tool(tool: ToolSpec) -> JsonObject:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def _without_blanks(last: JsonObject) -> None:
    """The API refuses a prefilled answer that ends in blanks."""
    if last["type"] == "text":
        last["text"] = str(last["text"]).rstrip()


def _marked(block: JsonObject, mark: Breakpoint | None) -> JsonObject:
    if mark is None:
        return block
    ttl: JsonObject = {"ttl": "1h"} if mark.ttl == "1h" else {}
    return {**block, "cache_control": {"type": "ephemeral", **ttl}}


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


def _sent(block: JsonObject) -> JsonObject:
    """Replace lone surrogates, refused by JSON over HTTP."""
    try:
        msgspec.json.encode(block)
    except UnicodeEncodeError:
        return {key: _replaced(inner) for key, inner in block.items()}
    return block


def _replaced(value: Json) -> Json:
    match value:
        case str():
            return _text(value)
        case list():
            return [_replaced(inner) for inner in value]
        case dict():
            return {_text(key): _replaced(inner) for key, inner in value.items()}
        case _:
            return value


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
