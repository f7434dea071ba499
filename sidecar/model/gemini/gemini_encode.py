"""Encodes prompts for the Gemini API: equal prompts become equal bytes."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import ModelRequest
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
from sidecar.model.bodies.body_json import NOTHING, replaced_bytes

UNSIGNED = "skip_thought_signature_validator"
"""What the API wants for a signature on calls that it has not made itself."""
OPAQUE = "gemini_part"
"""Type of an opaque block, which holds the API's own part."""
_MEDIA = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})
_LEVELS = {"low": "LOW", "medium": "MEDIUM"}
"""By effort; no level above `HIGH` is known to all models."""
_BUDGETS = {"low": 1_024, "medium": 8_192}
_LEAST_BUDGET, _LARGEST_BUDGET = 512, 24_576
"""Tokens of thinking that all models of 2.5 allow."""
_NAMED = re.compile(r"gemini-(?:(\d+)(?:\.(\d+))?)?")
_NEWEST = (99, 0)


@dataclass(frozen=True, slots=True)
class _Traits:
    """What a model takes: thinking's settings; levels, signed calls and media within results."""

    thinks: bool
    levels: bool

    @classmethod
    def of(cls, model: str) -> "_Traits":
        found = _NAMED.match(model.rpartition("/")[2])
        if found is None:
            return cls(thinks=False, levels=False)
        version = (int(found[1]), int(found[2] or 0)) if found[1] else _NEWEST
        return cls(version >= (2, 5), version >= (3, 0))


@dataclass(frozen=True, slots=True)
class _Written:
    """A message as JSON, whose calls' names stand in the message before."""

    message: Rendered
    before: Rendered | None
    raw: msgspec.Raw


class GeminiEncoder:
    """Writes bodies, and keeps the last one's messages, which the next mostly repeats.

    Some sessions write in a thread, so `_last` is replaced whole.
    """

    def __init__(self) -> None:
        self._last: tuple[str, dict[int, _Written]] = "", {}

    def unwritten(self, request: ModelRequest) -> int:
        """Counts blocks of messages that the last body lacked."""
        last = self._known(request)
        return sum(len(one.blocks) for one in request.prompt.messages if id(one) not in last)

    def write(self, request: ModelRequest) -> bytes:
        """Writes a body; its model stands in the address.

        Raises ValueError for a number that JSON lacks.
        """
        traits = _Traits.of(request.model)
        last = self._known(request)
        now: dict[int, _Written] = {}
        contents: list[msgspec.Raw] = []
        before: Rendered | None = None
        for message in request.prompt.messages:
            written = last.get(id(message))
            if written is None or written.before is not before:
                raw = _raw(_content(message, _names(before), traits))
                written = _Written(message, before, raw)
            now[id(message)] = written
            contents.append(written.raw)
            before = message
        self._last = request.model, now
        head = {key: _raw(value) for key, value in _head(request, traits).items()}
        return msgspec.json.encode({**head, "contents": contents})

    def _known(self, request: ModelRequest) -> dict[int, _Written]:
        model, last = self._last
        return last if model == request.model else {}


def sent_name(name: str) -> str:
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def _raw(value: Json) -> msgspec.Raw:
    return msgspec.Raw(replaced_bytes(value))


def _head(request: ModelRequest, traits: _Traits) -> JsonObject:
    prompt, head = request.prompt, JsonObject()
    if prompt.system:
        parts: list[Json] = [p for block in prompt.system for p in _parts(block, {}, traits)]
        head["systemInstruction"] = {"parts": parts}
    if prompt.tools:
        declared: list[Json] = [
            {
                "name": sent_name(tool.name),
                "description": tool.description,
                "parametersJsonSchema": tool.input_schema,
            }
            for tool in prompt.tools
        ]
        head["tools"] = [{"functionDeclarations": declared}]
        head["toolConfig"] = {"functionCallingConfig": {"mode": "AUTO"}}
    generation: JsonObject = {"maxOutputTokens": request.max_tokens}
    if traits.thinks:
        generation["thinkingConfig"] = _thinking(request, traits)
    head["generationConfig"] = generation
    return head


def _thinking(request: ModelRequest, traits: _Traits) -> JsonObject:
    shown: JsonObject = {"includeThoughts": True}
    if not request.effort:
        return shown
    if traits.levels:
        return {**shown, "thinkingLevel": _LEVELS.get(request.effort, "HIGH")}
    # Thoughts count as part of the answer, of which something must be left.
    budget = min(_BUDGETS.get(request.effort, _LARGEST_BUDGET), request.max_tokens // 2)
    return {**shown, "thinkingBudget": max(budget, _LEAST_BUDGET)}


def _names(before: Rendered | None) -> Mapping[str, str]:
    contents = () if before is None else (block.content for block in before.blocks)
    return {one.call_id: one.name for one in contents if isinstance(one, CallBlock)}


def _content(message: Rendered, names: Mapping[str, str], traits: _Traits) -> JsonObject:
    parts = [part for block in message.blocks for part in _parts(block, names, traits)]
    calls = [part for part in parts if "functionCall" in part]
    if traits.levels:
        # The first call of an answer must be signed; another model's, or one before which the view
        # leaves out the first, is not.
        for first in calls[:1]:
            first.setdefault("thoughtSignature", UNSIGNED)
    else:
        # Older models take media beside results, not within.
        results = [b.content for b in message.blocks if isinstance(b.content, ResultBlock)]
        media = [_media(one) for result in results for one in result.media]
        parts[len(results) : len(results)] = media
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [*parts] or [{"text": NOTHING}]}


def _parts(block: Block, names: Mapping[str, str], traits: _Traits) -> Iterator[JsonObject]:
    match block.content:
        case TextBlock(text=text, metadata=metadata):
            yield from _texts(text, metadata.get("signatures"))
        case MediaBlock(media=media):
            yield _media(media)
        case ReasoningBlock(text=text, metadata={"signature": str(signature)}):
            yield {"text": text, "thought": True, "thoughtSignature": signature}
        case ReasoningBlock():
            pass
        case CallBlock(call_id=call_id, name=name, input=given, metadata=metadata):
            call: JsonObject = {"id": call_id, "name": sent_name(name), "args": given}
            match metadata:
                case {"signature": str(signature)}:
                    yield {"functionCall": call, "thoughtSignature": signature}
                case _:
                    yield {"functionCall": call}
        case ResultBlock() as result:
            yield _result(result, names.get(result.call_id, "tool"), nested=traits.levels)
        case OpaqueBlock(block={"type": kind, "part": dict(part)}) if kind == OPAQUE:
            yield part
        case OpaqueBlock():
            pass


def _texts(text: str, signatures: Json) -> Iterator[JsonObject]:
    """Gives the pieces unjoined, as each has its own signature."""
    at = 0
    for one in signatures if isinstance(signatures, list) else ():
        match one:
            case [int(start), int(end), str(signature)] if at <= start <= end <= len(text):
                if start > at:
                    yield {"text": text[at:start]}
                yield {"text": text[start:end], "thoughtSignature": signature}
                at = end
            case _:
                pass
    if at < len(text):
        yield {"text": text[at:]}


def _result(result: ResultBlock, name: str, *, nested: bool) -> JsonObject:
    text = result.text if result.text.strip() else NOTHING
    parts: list[Json] = []
    for media in result.media if nested else ():
        if media.media_type in _MEDIA:
            parts.append(_media(media))
        else:
            text += f"\n{_left_out(media)}"
    answer: JsonObject = {
        "id": result.call_id,
        "name": sent_name(name),
        "response": {"error" if result.is_error else "output": text},
    }
    return {"functionResponse": {**answer, "parts": parts} if parts else answer}


def _media(media: Media) -> JsonObject:
    if media.media_type not in _MEDIA:
        return {"text": _left_out(media)}
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def _left_out(media: Media) -> str:
    return f"[{media.media_type}, which this model cannot read]"
