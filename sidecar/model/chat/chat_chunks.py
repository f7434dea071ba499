"""Decodes streamed chunks of Chat Completions into provider-neutral events."""

from collections.abc import Iterator
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
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.text.json_text import to_json
from sidecar.model.bodies.answer_json import (
    LONGEST_STOP,
    PER_BLOCK,
    count,
    input_of,
    json_object,
    kept,
    size_of,
)
from sidecar.model.chat.chat_body import DETAILS
from sidecar.model.chat.dialects import Dialect
from sidecar.model.failures import ToldFailure
from sidecar.model.stalls import AnswerLimits, AnswerSize

_STOPS = {
    "stop": "end_turn",
    "tool_calls": "end_turn",
    "function_call": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""Neutral stop reasons; an answer with calls that was not cut off ends for its tools."""
_FAILED = ("error", "insufficient_system_resource")
"""Reasons for which an answer is void."""
_JOINED = ("text", "summary")
"""Fields of OpenRouter's reasoning that come in pieces."""


@dataclass(slots=True)
class _Call:
    block: int
    call_id: str
    raw: str = ""


class ChunkDecoder:
    """Decodes one answer; `finished` once its end and usage are known, or its stream ended.

    With `limits`, `take` raises `Endless`. `sdk`: the library's name and version.
    """

    def __init__(self, dialect: Dialect, limits: AnswerLimits | None = None, sdk: str = "") -> None:
        self._dialect = dialect
        self._size = AnswerSize(limits)
        self._sdk = sdk
        self._kinds: list[BlockKind] = []
        self._calls: dict[int, _Call] = {}
        self._all_calls: list[_Call] = []
        self._details: list[Json] = []
        self._usage: Usage | None = None
        self._stop = ""
        self._refused = False
        self._started = False
        self.finished = False

    def take(self, event: Any) -> Iterator[StreamEvent]:  # noqa: ANN401 - any JSON
        """Raises ToldFailure."""
        self._size.add(0)
        if not isinstance(event, dict):
            return
        # Azure's first chunk tells of its filters alone.
        if not self._started and (event.get("model") or event.get("choices")):
            self._started = True
            yield ResponseStarted(str(event.get("model") or ""), Usage(), self._sdk)
        if isinstance(event.get("usage"), dict):
            self._usage = chat_usage(event["usage"], self._dialect)
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                yield from self._choice(choice)
        if self._stop and self._usage is not None:
            yield from self.end()

    def end(self) -> Iterator[StreamEvent]:
        """Ends the answer if its reason is known, though perhaps not its usage."""
        if self.finished or not self._stop:
            return
        self.finished = True
        if self._details:
            known: JsonObject = {"returned_as": "reasoning_details", DETAILS: self._details}
            yield BlockMetadata(self._kinds.index("reasoning"), known)
        ends = {call.block: input_of(call.raw.strip() or "{}") for call in self._all_calls}
        for block in range(len(self._kinds)):
            yield BlockFinished(block, *ends.get(block, (None, "")))
        yield ResponseFinished(self._reason(), self._usage or Usage())

    def _reason(self) -> str:
        stop = _STOPS.get(self._stop, self._stop)
        if stop != "end_turn":
            return stop
        if self._refused:
            return "refusal"
        return "tool_use" if self._all_calls else stop

    def _choice(self, choice: JsonObject) -> Iterator[StreamEvent]:
        delta = json_object(choice.get("delta"))
        fields = (delta.get(name) for name in self._dialect.thinking)
        if thought := next((text for text in fields if isinstance(text, str) and text), ""):
            yield from self._said("reasoning", thought)
        details = delta.get("reasoning_details")
        if self._dialect.returned == "reasoning_details" and isinstance(details, list) and details:
            yield from self._detailed(details)
        for name in ("content", "refusal"):
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._refused = self._refused or name == "refusal"
                yield from self._said("text", text)
        calls = delta.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else ()):
            yield from self._called(number, json_object(call))
        reason = choice.get("finish_reason")
        if reason in _FAILED or isinstance(choice.get("error"), dict):
            error = json_object(choice.get("error"))
            code = str(error.get("code") or reason)
            raise ToldFailure(str(error.get("message") or f"the provider says {code}"), code)
        if isinstance(reason, str) and reason:
            self._stop = reason[:LONGEST_STOP]

    def _said(self, kind: BlockKind, text: str) -> Iterator[StreamEvent]:
        self._size.add(size_of(text), pieces=0)
        if not self._kinds or self._kinds[-1] != kind:
            yield from self._open(kind)
        yield BlockDelta(len(self._kinds) - 1, text)

    def _open(self, kind: BlockKind, call_id: str = "", name: str = "") -> Iterator[StreamEvent]:
        self._size.add(PER_BLOCK, pieces=0)
        block = len(self._kinds)
        self._kinds.append(kind)
        yield BlockStarted(block, kind, call_id, name)
        plain = self._dialect.returned not in ("", "reasoning_details")
        if kind == "reasoning" and plain:
            yield BlockMetadata(block, {"returned_as": self._dialect.returned})

    def _detailed(self, details: list[Json]) -> Iterator[StreamEvent]:
        """Joins pieces, for the thinking that precedes all else."""
        if "reasoning" not in self._kinds:
            yield from self._open("reasoning")
        for detail in details:
            piece = kept(json_object(detail))
            # Of unreadable thinking there is more than of the tokens that it took.
            self._size.add(size_of(piece.get("data") or "") // 2, pieces=0)
            if not piece:
                continue
            last = json_object(self._details[-1]) if self._details else {}
            if _continues(last, piece):
                joined = {key: str(last.get(key) or "") + str(piece[key]) for key in _JOINED
                          if piece.get(key) is not None}  # fmt: skip
                given = {key: value for key, value in piece.items() if value is not None}
                self._details[-1] = {**last, **given, **joined}
            else:
                self._details.append(piece)

    def _called(self, number: int, call: JsonObject) -> Iterator[StreamEvent]:
        index = call.get("index")
        at = index if isinstance(index, int) else number
        call_id = call.get("id")
        function = json_object(call.get("function"))
        name = function.get("name")
        known = self._calls.get(at)
        # Some servers give each call the same index.
        other = isinstance(call_id, str) and call_id and known and known.call_id != call_id
        if known is None or (other and name):
            if self._dialect.returned == "reasoning_details" and "reasoning" not in self._kinds:
                # Its details may follow the call, which they have to precede.
                yield from self._open("reasoning")
            call_id = call_id if isinstance(call_id, str) else ""
            self._size.add(size_of(call_id) + size_of(name or ""), pieces=0)
            yield from self._open("tool", call_id, str(name or ""))
            known = self._calls[at] = _Call(len(self._kinds) - 1, call_id)
            self._all_calls.append(known)
        raw = function.get("arguments")
        # Some servers send a whole object.
        text = raw if isinstance(raw, str) else to_json(kept(raw)) if isinstance(raw, dict) else ""
        if text:
            self._size.add(size_of(text), pieces=0)
            known.raw += text
            yield BlockDelta(known.block, text)


def chat_usage(told: JsonObject, dialect: Dialect) -> Usage:
    """Counts cached and written tokens apart from the rest of the prompt."""
    found: Json = told
    for name in dialect.cached:
        found = json_object(found).get(name)
    read = count(found, 0)
    written = count(json_object(told.get("prompt_tokens_details")).get("cache_write_tokens"), 0)
    details = json_object(told.get("completion_tokens_details"))
    return Usage(
        input=max(0, count(told.get("prompt_tokens"), 0) - read - written),
        cache_read=read,
        cache_write_5m=written,
        output=count(told.get("completion_tokens"), 0),
        thinking=count(details.get("reasoning_tokens"), 0),
    )


def _continues(last: JsonObject, piece: JsonObject) -> bool:
    same = all(last.get(key) == piece.get(key) for key in ("type", "index"))
    ids = {last.get("id"), piece.get("id")} - {None}
    return bool(last) and same and len(ids) < 2 and last.get("type") != "reasoning.encrypted"
