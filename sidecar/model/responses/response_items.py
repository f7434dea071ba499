"""Encodes prompts for the Responses API: equal prompts become equal bytes."""

from collections.abc import Iterator
from typing import Any

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
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
from sidecar.core.text.json_text import to_json
from sidecar.model.bodies.body_json import NOTHING, sendable_json
from sidecar.model.bodies.piece_writer import PieceWriter
from sidecar.model.openai.function_schema import function_schema
from sidecar.model.openai.marks import Marks, by_message

_COMPACTED = ("id", "encrypted_content")
LEAST_TOKENS = 16
"""Tokens; the API refuses fewer."""


@dataclass(frozen=True, slots=True)
class ResponseOptions:
    """What a server takes beside the prompt.

    `summary`: how thinking is summarized, or empty; `phases`: assistant messages say whether they
    end a turn, without which newer models may stop early; `marked`: breakpoints may be set, so that
    system text and results are lists of parts.
    """

    summary: str = "auto"
    phases: bool = True
    marked: bool = False


def response_body(request: ModelRequest, options: ResponseOptions, cache_key: str) -> JsonObject:
    prompt, marks = request.prompt, by_message(request.prompt.breakpoints)
    items = _opening(prompt, options, marks.get(None))
    for number, one in enumerate(prompt.messages):
        items += _items(one, options, marks.get(number, {}))
    tools = [tool for one in prompt.tools for tool in _tool(one)]
    return _body(request, options, cache_key, items, tools)


class ResponseWriter:
    """Writes bodies as `response_body` encodes them."""

    def __init__(self, options: ResponseOptions) -> None:
        self.options = options
        self.pieces = PieceWriter()

    def write(self, request: ModelRequest, cache_key: str) -> bytes:
        """Raises ValueError for a number that JSON lacks."""
        prompt, options = request.prompt, self.options
        marks = by_message(prompt.breakpoints)
        marked = {
            id(prompt.messages[number]): [*_items(prompt.messages[number], options, found)]
            for number, found in marks.items()
            if number is not None and options.marked
        }
        items = self.pieces.array(
            prompt.messages,
            lambda one: [*_items(one, options, {})],
            before=_opening(prompt, options, marks.get(None)),
            instead=marked,
        )
        tools = self.pieces.array(prompt.tools, _tool)
        return self.pieces.whole(_body(request, options, cache_key, items, tools))


def _body(
    request: ModelRequest,
    options: ResponseOptions,
    cache_key: str,
    items: Any,  # noqa: ANN401 - a list, or one that is written
    tools: Any,  # noqa: ANN401 - likewise
) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model}
    said = _system(request.prompt)
    if said and not options.marked:
        body["instructions"] = said
    if request.prompt.tools:
        body |= {"tools": tools, "parallel_tool_calls": True}
    body["input"] = items
    body["max_output_tokens"] = max(LEAST_TOKENS, request.max_tokens)
    if request.effort:
        reasoning = {"effort": request.effort}
        if options.summary and request.effort != "none":
            reasoning["summary"] = options.summary
        body["reasoning"] = reasoning
    body |= {"store": False, "include": ["reasoning.encrypted_content"]}
    if cache_key:
        body["prompt_cache_key"] = cache_key
    return {**body, "stream": True}


def _opening(prompt: Prompt, options: ResponseOptions, marks: Marks | None) -> list[JsonObject]:
    """Gives the system text as a message, as instructions take no breakpoint."""
    said = _system(prompt)
    if not said or not options.marked:
        return []
    part = _marked(_text(said), marks is not None)
    return [{"type": "message", "role": "developer", "content": [part]}]


def _system(prompt: Prompt) -> str:
    said = (b.content.text for b in prompt.system if isinstance(b.content, TextBlock))
    return str(sendable_json({"text": "\n\n".join(said)})["text"])


def _tool(tool: ToolSpec) -> list[JsonObject]:
    return [
        sendable_json(
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": function_schema(tool.input_schema),
                "strict": False,
            }
        )
    ]


def _items(message: Rendered, options: ResponseOptions, marks: Marks) -> Iterator[JsonObject]:
    if message.role == "assistant":
        yield from map(sendable_json, _answered(message.blocks, options))
        return
    said: list[Json] = []
    for number, block in enumerate(message.blocks):
        mark = options.marked and number in marks
        match block.content:
            case ResultBlock():
                yield sendable_json(_result(block.content, options, mark=mark))
            case TextBlock(text=text):
                said.append(_marked(_text(text), mark))
            case MediaBlock(media=media):
                said.append(_marked(_media(media), mark))
            case _:
                pass
    if said:
        yield sendable_json({"type": "message", "role": "user", "content": said})


def _answered(blocks: tuple[Block, ...], options: ResponseOptions) -> Iterator[JsonObject]:
    texts = [n for n, block in enumerate(blocks) if isinstance(block.content, TextBlock)]
    called = any(isinstance(block.content, CallBlock) for block in blocks)
    final = None if called or not texts else texts[-1]
    for number, block in enumerate(blocks):
        match block.content:
            case TextBlock(text=text, metadata=metadata):
                said: JsonObject = {"type": "message", "role": "assistant", "content": text}
                phase = metadata.get("phase")
                if options.phases and not isinstance(phase, str):
                    phase = "final_answer" if number == final else "commentary"
                yield {**said, "phase": phase} if phase else said
            case ReasoningBlock(metadata={"encrypted_content": str()}):
                yield {"type": "reasoning", "summary": [], **block.content.metadata}
            case CallBlock(call_id=call_id, name=name, input=given):
                yield {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": name,
                    "arguments": to_json(given),
                }
            case OpaqueBlock(block={"type": "compaction", **rest}):
                # Its author is told, and not taken back.
                yield {"type": "compaction", **{k: v for k, v in rest.items() if k in _COMPACTED}}
            case OpaqueBlock(block=body):
                yield body
            case _:
                pass


def _result(result: ResultBlock, options: ResponseOptions, *, mark: bool) -> JsonObject:
    text = result.text if result.text.strip() else NOTHING
    output: Json = text
    if result.media or options.marked:
        *parts, last = _text(text), *(_media(media) for media in result.media)
        output = [*parts, _marked(last, mark)]
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _marked(part: JsonObject, mark: bool) -> JsonObject:
    explicit: JsonObject = {"mode": "explicit"}
    return {**part, "prompt_cache_breakpoint": explicit} if mark else part


def _media(media: Media) -> JsonObject:
    address = f"data:{media.media_type};base64,{media.data}"
    if media.media_type.startswith("image/"):
        return {"type": "input_image", "detail": "auto", "image_url": address}
    name = media.name or "document.pdf"
    return {"type": "input_file", "filename": name, "file_data": address}
