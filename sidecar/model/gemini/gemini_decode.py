"""Decodes the Gemini API's stream into provider-neutral events.

Each chunk is a whole response, with more parts; a call comes in one.
"""

from collections.abc import Iterable, Iterator

from sidecar.core.conversation import sendable
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
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.text.json_text import is_deep, plain, to_json
from sidecar.model.bodies.answer_json import (
    LONGEST_STOP,
    PER_BLOCK,
    count,
    json_object,
    size_of,
)
from sidecar.model.failures import EndedEarly
from sidecar.model.gemini.gemini_encode import OPAQUE, sent_name
from sidecar.model.stalls import PER_EVENT, AnswerLimits, AnswerSize

MOST_SIGNED = 16
"""Signed pieces of one text; with more another text begins."""
_LONGEST_ID = 40
_STOPS = {"STOP": "end_turn", "MAX_TOKENS": "max_tokens", "CONTINUATION": "max_tokens"}
_REFUSALS = {
    "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION",
    "MODEL_ARMOR", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}  # fmt: skip
_BROKEN = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"}
"""Another try may go well."""


class GeminiDecoder:
    """Decodes one response; `stopped` once its end was told.

    `names` are the tools'. With `limits`, `take` raises Endless. `sdk`: the library's name and
    version.
    """

    def __init__(
        self, names: Iterable[str] = (), limits: AnswerLimits | None = None, sdk: str = ""
    ) -> None:
        self._names = {sent_name(name): name for name in names}
        self._limits = limits
        self._size = AnswerSize(limits)
        self._sdk = sdk
        self._signed = 0
        self._usage = Usage()
        self._started = False
        self._stop = self._id = ""
        self._blocks = self._calls = 0
        self._open: BlockKind | None = None
        self._length = 0
        self._signatures: list[Json] = []

    @property
    def stopped(self) -> bool:
        return bool(self._stop)

    def take(self, chunk: JsonObject) -> Iterator[StreamEvent]:
        """Unknown fields give nothing.

        Raises ModelFailed, and EndedEarly for an answer that the API calls broken.
        """
        self._usage = usage_of(json_object(chunk.get("usageMetadata")), self._usage)
        if isinstance(given := chunk.get("responseId"), str):
            self._id = self._id or sendable.plain(given)[:_LONGEST_ID]
        if not self._started:
            self._started = True
            model = chunk.get("modelVersion")
            yield ResponseStarted(model if isinstance(model, str) else "", self._usage, self._sdk)
        match chunk:
            case {"candidates": [dict(candidate), *_]}:
                parts = json_object(candidate.get("content")).get("parts")
                for part in parts if isinstance(parts, list) else ():
                    if isinstance(part, dict):
                        yield from self._part(part)
                self._finish(candidate.get("finishReason"))
            case {"promptFeedback": {"blockReason": str(reason)}} if reason:
                self._stop = self._stop or "refusal"

    def end(self) -> Iterator[StreamEvent]:
        """Raises EndedEarly if the answer's end was not told."""
        if not self._stop:
            raise EndedEarly
        yield from self._closed()
        called = self._stop == "end_turn" and self._calls
        yield ResponseFinished("tool_use" if called else self._stop, self._usage)

    def _finish(self, reason: Json) -> None:
        match reason:
            case "MISSING_THOUGHT_SIGNATURE":
                text = "the provider misses a signature of a call: start a new session"
                raise ModelFailed(text, kind="bad_request")
            case "PUP_LIMITED_DISABLED":
                text = "the provider has limited or disabled the account of this API key"
                raise ModelFailed(text, kind="authentication")
            case str() if reason in _BROKEN:
                raise EndedEarly(f"the model wrote what cannot be used ({reason})")
            case str() if reason in _REFUSALS:
                self._stop = "refusal"
            case str() if reason and reason != "FINISH_REASON_UNSPECIFIED":
                self._stop = _STOPS.get(reason, reason.lower()[:LONGEST_STOP])

    def _part(self, part: JsonObject) -> Iterator[StreamEvent]:
        given = part.get("thoughtSignature")
        signature = given if isinstance(given, str) else ""
        self._count_signature(signature)
        match part:
            case {"functionCall": dict(call)}:
                yield from self._call(call, signature)
            case {"text": str(text), "thought": True}:
                yield from self._thought(text, signature)
            case {"text": str(text)}:
                yield from self._text(text, signature)
            case {"thoughtSignature": str(), **rest} if not rest.keys() - {"thought"}:
                said = self._thought if rest.get("thought") is True else self._text
                yield from said("", signature)
            case _ if part and not is_deep(part):
                known = json_object(plain(part))
                self._size.add(PER_BLOCK + size_of(to_json(known)))
                yield from self._opened(None, "opaque", block={"type": OPAQUE, "part": known})
                yield BlockFinished(self._blocks - 1)

    def _call(self, call: JsonObject, signature: str) -> Iterator[StreamEvent]:
        given, told = call.get("id"), call.get("name")
        name = told if isinstance(told, str) else ""
        call_id = given if isinstance(given, str) else ""
        if not call_id and self._id:
            call_id = f"call_{self._id}_{self._calls}"
        self._calls += 1
        yield from self._opened(None, "tool", call_id, self._names.get(name, name))
        index = self._blocks - 1
        if signature:
            yield BlockMetadata(index, {"signature": signature})
        whole = call.get("args") or {}
        if is_deep(whole):
            self._size.add(PER_BLOCK)
            yield BlockFinished(index, None, "it is nested too deep")
            return
        known = plain(whole)
        text = to_json(known)
        self._size.add(PER_BLOCK + size_of(text))
        yield BlockDelta(index, text)
        yield BlockFinished(index, known)

    def _thought(self, text: str, signature: str) -> Iterator[StreamEvent]:
        self._size.add(size_of(text))
        if signature:
            # A signed piece is sent back as it came, so that it is a block of its own.
            yield from self._opened(None, "reasoning")
            yield BlockMetadata(self._blocks - 1, {"signature": signature})
            if text:
                yield BlockDelta(self._blocks - 1, text)
            yield BlockFinished(self._blocks - 1)
        elif text:
            yield from self._opened("reasoning", "reasoning")
            yield BlockDelta(self._blocks - 1, text)

    def _text(self, text: str, signature: str) -> Iterator[StreamEvent]:
        self._size.add(size_of(text))
        if not text and not signature:
            return
        if len(self._signatures) >= MOST_SIGNED:
            yield from self._closed()
        yield from self._opened("text", "text")
        start, self._length = self._length, self._length + len(text)
        if signature:
            self._signatures = [*self._signatures, [start, self._length, signature]]
            yield BlockMetadata(self._blocks - 1, {"signatures": self._signatures})
        if text:
            yield BlockDelta(self._blocks - 1, text)

    def _opened(
        self,
        joins: BlockKind | None,
        kind: BlockKind,
        call_id: str = "",
        name: str = "",
        block: JsonObject | None = None,
    ) -> Iterator[StreamEvent]:
        """Opens a block of `kind`, unless the open one is of kind `joins`."""
        if joins is not None and self._open == joins:
            return
        yield from self._closed()
        self._size.add(PER_BLOCK)
        yield BlockStarted(self._blocks, kind, call_id, name, block or {})
        self._blocks += 1
        self._open, self._length, self._signatures = joins, 0, []

    def _closed(self) -> Iterator[StreamEvent]:
        if self._open is not None:
            self._open = None
            yield BlockFinished(self._blocks - 1)

    def _count_signature(self, signature: str) -> None:
        # Of hidden thinking, however long; the answer may be short.
        self._signed += len(signature)
        if self._limits is not None and self._signed > 2 * self._limits.most + PER_EVENT:
            raise self._limits.too_large(f"{self._signed >> 10} KiB of signatures")


def usage_of(told: JsonObject, before: Usage) -> Usage:
    """Keeps missing or invalid counts as in `before`.

    The API counts cached tokens as part of the prompt, thoughts beside the answer.
    """

    def number(key: str, otherwise: int) -> int:
        return count(told.get(key), otherwise)

    cached = number("cachedContentTokenCount", before.cache_read)
    fresh = number("promptTokenCount", -1)
    tools = number("toolUsePromptTokenCount", 0)
    thoughts = number("thoughtsTokenCount", before.thinking)
    said = number("candidatesTokenCount", before.output - before.thinking)
    return Usage(
        input=before.input if fresh < 0 else max(0, fresh - cached) + tools,
        cache_read=cached,
        output=said + thoughts,
        thinking=thoughts,
        requests=before.requests,
    )
