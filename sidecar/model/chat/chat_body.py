"""Encodes prompts for Chat Completions: equal prompts become equal bytes."""

from typing import Any

from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt, ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)
from sidecar.core.text.json_text import to_json
from sidecar.model.bodies.body_json import NOTHING, sendable_json
from sidecar.model.bodies.piece_writer import PieceWriter
from sidecar.model.chat.dialects import Dialect
from sidecar.model.openai.function_schema import function_schema
from sidecar.model.openai.marks import Marks, by_message

DETAILS = "details"
"""The key of OpenRouter's reasoning in thinking's metadata."""


def chat_body(request: ModelRequest, dialect: Dialect, cache_key: str) -> JsonObject:
    marks = _marks(request, dialect)
    messages = _system(request.prompt, marks.get(None, {}))
    for number, message in enumerate(request.prompt.messages):
        messages += _messages(message, dialect, marks.get(number, {}))
    tools = [tool for one in request.prompt.tools for tool in _tool(one)]
    return _body(request, dialect, cache_key, messages, tools)


class ChatWriter:
    """Writes bodies as `chat_body` encodes them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.pieces = PieceWriter()

    def write(self, request: ModelRequest, cache_key: str) -> bytes:
        """Raises ValueError for a number that JSON lacks."""
        prompt, dialect = request.prompt, self._dialect
        marks = _marks(request, dialect)
        marked = {
            id(prompt.messages[number]): _messages(prompt.messages[number], dialect, found)
            for number, found in marks.items()
            if number is not None
        }
        messages = self.pieces.array(
            prompt.messages,
            lambda one: _messages(one, dialect, {}),
            before=_system(prompt, marks.get(None, {})),
            instead=marked,
        )
        tools = self.pieces.array(prompt.tools, _tool)
        return self.pieces.whole(_body(request, dialect, cache_key, messages, tools))


def _marks(request: ModelRequest, dialect: Dialect) -> dict[int | None, Marks]:
    takes = dialect.marked and request.model.startswith(dialect.marked)
    return by_message(request.prompt.breakpoints if takes else ())


def _body(
    request: ModelRequest,
    dialect: Dialect,
    cache_key: str,
    messages: Any,  # noqa: ANN401 - a list, or one that is written
    tools: Any,  # noqa: ANN401 - likewise
) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.prompt.tools:
        body["tools"] = tools
        if dialect.parallel:
            body["parallel_tool_calls"] = True
    body[dialect.most] = request.max_tokens
    if request.effort:
        whole = dialect.effort == "reasoning"
        body[dialect.effort] = {"effort": request.effort} if whole else request.effort
    if dialect.keyed:
        body["store"] = False
        if cache_key:
            body["prompt_cache_key"] = cache_key
    body["stream"] = True
    if dialect.told_usage:
        body["stream_options"] = {"include_usage": True}
    return body


def _tool(tool: ToolSpec) -> list[JsonObject]:
    made: JsonObject = {
        "name": tool.name,
        "description": tool.description,
        "parameters": function_schema(tool.input_schema),
    }
    return [sendable_json({"type": "function", "function": made})]


def _system(prompt: Prompt, marks: Marks) -> list[JsonObject]:
    parts: list[JsonObject] = [
        _marked({"type": "text", "text": block.content.text}, marks.get(number))
        for number, block in enumerate(prompt.system)
        if isinstance(block.content, TextBlock)
    ]
    if not parts:
        return []
    content: Json = [*parts] if marks else "\n\n".join(str(part["text"]) for part in parts)
    return [sendable_json({"role": "system", "content": content})]


def _messages(message: Rendered, dialect: Dialect, marks: Marks) -> list[JsonObject]:
    if message.role == "assistant":
        made = _assistant(message.blocks, dialect, marks)
    else:
        made = _user(message.blocks, dialect, marks)
    return [sendable_json(one) for one in made]


def _user(blocks: tuple[Block, ...], dialect: Dialect, marks: Marks) -> list[JsonObject]:
    results: list[JsonObject] = []
    seen: list[JsonObject] = []
    said: list[JsonObject] = []
    for number, block in enumerate(blocks):
        mark = marks.get(number)
        match block.content:
            case ResultBlock() as result:
                results.append(_result(result, mark))
                if result.media:
                    # A result takes text only, so what it shows follows in the user's name.
                    seen.append(_text(f"What the call {result.call_id} shows:"))
                    seen += (_media(media, dialect) for media in result.media)
            case TextBlock(text=text):
                said.append(_marked(_text(text), mark))
            case MediaBlock(media=media):
                said.append(_marked(_media(media, dialect), mark))
            case _:
                pass
    parts = [*seen, *said]
    if not parts:
        return results
    plain = len(parts) == 1 and parts[0].keys() == {"type", "text"}
    content: Json = parts[0]["text"] if plain else [*parts]
    return [*results, {"role": "user", "content": content}]


def _result(result: ResultBlock, mark: Breakpoint | None) -> JsonObject:
    text = result.text if result.text.strip() else NOTHING
    content: Json = [_marked(_text(text), mark)] if mark else text
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _assistant(blocks: tuple[Block, ...], dialect: Dialect, marks: Marks) -> list[JsonObject]:
    texts: list[str] = []
    calls: list[Json] = []
    thoughts: list[ReasoningBlock] = []
    mark: Breakpoint | None = None
    for number, block in enumerate(blocks):
        match block.content:
            case TextBlock(text=text):
                texts.append(text)
                mark = marks.get(number, mark)
            case ReasoningBlock() as thought:
                thoughts.append(thought)
            case CallBlock(call_id=call_id, name=name, input=given):
                called: JsonObject = {"name": name, "arguments": to_json(given)}
                calls.append({"id": call_id, "type": "function", "function": called})
            case _:
                pass
    if not texts and not calls:
        return []
    said = "\n\n".join(texts)
    content: Json = said if texts else None
    if texts and mark:
        content = [_marked(_text(said), mark)]
    made: JsonObject = {"role": "assistant", "content": content}
    made |= _thinking(thoughts, dialect)
    return [{**made, "tool_calls": calls} if calls else made]


def _thinking(thoughts: list[ReasoningBlock], dialect: Dialect) -> JsonObject:
    field = dialect.returned
    own = [thought for thought in thoughts if thought.metadata.get("returned_as") == field]
    if field == "reasoning_details":
        details: list[Json] = []
        for thought in own:
            found = thought.metadata.get(DETAILS)
            details += found if isinstance(found, list) else ()
        return {field: details} if details else {}
    text = "".join(thought.text for thought in own)
    return {field: text} if field and (text or dialect.always) else {}


def _media(media: Media, dialect: Dialect) -> JsonObject:
    address = f"data:{media.media_type};base64,{media.data}"
    image = media.media_type.startswith("image/")
    if image and dialect.images:
        return {"type": "image_url", "image_url": {"url": address}}
    if not image and dialect.documents:
        name = media.name or "document.pdf"
        return {"type": "file", "file": {"filename": name, "file_data": address}}
    what = "image" if image else "document"
    return _text(f"[The {what} {media.name} is left out: the provider takes none.]")


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _marked(part: JsonObject, mark: Breakpoint | None) -> JsonObject:
    if mark is None or part["type"] != "text":
        return part
    ttl: JsonObject = {"ttl": "1h"} if mark.ttl == "1h" else {}
    return {**part, "cache_control": {"type": "ephemeral", **ttl}}
