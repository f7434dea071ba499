"""Chat Completions on loopback, in each dialect, as strict as the real servers are."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.fakes.shapes import (
    IMAGES,
    NAME,
    Body,
    Refused,
    arguments,
    data_url,
    demand,
    fields,
    function,
)
from tests.fakes.streaming_server import Answer, Asked, FakeStreamingApi, cut

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 20},
}


@dataclass(frozen=True)
class Manner:
    """How one kind of server takes requests and streams answers.

    `thought` is the field of thinking in deltas, `back` the one in which it has to come back.
    """

    takes: frozenset[str]
    most: str
    thought: str = ""
    back: str = ""
    must: bool = False
    path: str = "/v1/chat/completions"
    images: bool = True
    files: bool = False
    marks: bool = False
    usage_at_end: bool = True
    done: bool = True
    comments: bool = False
    one_index: bool = False


_USUAL = frozenset({"parallel_tool_calls", "reasoning_effort"})
MANNERS = {
    "openai": Manner(_USUAL | {"store", "prompt_cache_key"}, "max_completion_tokens", files=True),
    "azure": Manner(
        _USUAL,
        "max_completion_tokens",
        path="/openai/deployments/{}/chat/completions",
    ),
    "openrouter": Manner(
        frozenset({"parallel_tool_calls", "reasoning"}),
        "max_tokens",
        "reasoning",
        "reasoning_details",
        files=True,
        marks=True,
        usage_at_end=False,
        comments=True,
    ),
    "deepseek": Manner(
        frozenset({"reasoning_effort"}),
        "max_tokens",
        "reasoning_content",
        "reasoning_content",
        must=True,
        images=False,
        usage_at_end=False,
    ),
    "ollama": Manner(
        frozenset({"reasoning_effort"}), "max_tokens", "reasoning", "reasoning", one_index=True
    ),
    "llama.cpp": Manner(_USUAL, "max_tokens", "reasoning_content", "reasoning_content"),
    "chat": Manner(frozenset({"reasoning_effort"}), "max_tokens", "reasoning_content"),
    "vllm": Manner(_USUAL, "max_tokens", "reasoning", "reasoning", done=False),
}


class FakeChatApi(FakeStreamingApi):
    """Knows the thinking that it gave, and demands it back unchanged where its kind does."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self.dialect = dialect
        self.manner = MANNERS[dialect]
        self._thoughts: list[Any] = []

    def refusal(self, asked: Asked) -> str | None:
        manner = self.manner
        try:
            path = manner.path.format(asked.body.get("model"))
            demand(asked.path == path, f"Invalid URL (POST {asked.path})")
            azure = "api-version=2024-10-21" if self.dialect == "azure" else ""
            demand(asked.query == azure, f"api-version: {asked.query!r}")
            kinds = {"reasoning": dict, "parallel_tool_calls": bool, "store": bool}
            body = fields(
                asked.body,
                "body",
                {"model": str, "messages": list, manner.most: int, "stream": bool},
                {
                    "tools": list, "stream_options": dict,
                    **{name: kinds.get(name, str) for name in manner.takes},
                },
            )  # fmt: skip
            demand(body["model"], "you must provide a model parameter")
            demand(body[manner.most] >= 1, f"Invalid '{manner.most}'")
            demand(body["stream"] is True, "this fake streams")
            demand(body.get("stream_options") == {"include_usage": True}, "stream_options")
            demand("tools" in body or "parallel_tool_calls" not in body, "parallel without tools")
            demand(len(body.get("prompt_cache_key", "")) <= 64, "'prompt_cache_key': too long")
            fields(body.get("reasoning", {}), "reasoning", {}, {"effort": str})
            _tools(body)
            self._messages(body["messages"])
        except Refused as refused:
            return str(refused)
        return None

    def _messages(self, messages: list[Any]) -> None:
        demand(messages, "[] is too short - 'messages'")
        seen: set[str] = set()
        waiting: list[str] = []
        marks = 0
        for number, message in enumerate(messages):
            where = f"messages[{number}]"
            role = message.get("role")
            marks += json.dumps(message).count('"cache_control"')
            if role == "tool":
                fields(
                    message, where, {"role": str, "tool_call_id": str, "content": (str, list)}, {}
                )
                self._parts(message["content"], where, ("text",))
                demand(message["tool_call_id"] in waiting, f"{where}: no such tool_call_id")
                waiting.remove(message["tool_call_id"])
                continue
            demand(not waiting, f"tool_call_ids did not have response messages: {waiting}")
            match role:
                case "system":
                    demand(number == 0, f"{where}: the system message must be the first")
                    fields(message, where, {"role": str, "content": (str, list)}, {})
                    self._parts(message["content"], where, ("text",))
                case "user":
                    fields(message, where, {"role": str, "content": (str, list)}, {})
                    self._parts(message["content"], where, ("text", "image_url", "file"))
                case "assistant":
                    waiting = self._assistant(message, where)
                    demand(len({*waiting}) == len(waiting), f"{where}: duplicate ids")
                    demand(not seen & {*waiting}, f"{where}: duplicate ids")
                    seen |= {*waiting}
                case _:
                    raise Refused(f"{where}.role: unknown variant `{role}`")
        demand(not waiting, f"tool_call_ids did not have response messages: {waiting}")
        demand(marks <= 4, f"A maximum of 4 blocks with cache_control may be provided: {marks}")

    def _parts(self, content: Any, where: str, kinds: tuple[str, ...]) -> None:
        if isinstance(content, str):
            return
        demand(content, f"{where}.content: empty")
        for part in content:
            kind = part.get("type")
            demand(kind in kinds, f"{where}.content: unknown variant `{kind}`")
            match kind:
                case "text":
                    marks = {"cache_control": dict} if self.manner.marks else {}
                    fields(part, where, {"type": str, "text": str}, marks)
                    if "cache_control" in part:
                        demand(part["text"].strip(), "cache_control cannot be set for empty text")
                case "image_url":
                    demand(self.manner.images, f"{where}: unknown variant `image_url`")
                    fields(part, where, {"type": str, "image_url": dict}, {})
                    fields(part["image_url"], where, {"url": str}, {"detail": str})
                    data_url(part["image_url"]["url"], where, IMAGES)
                case "file":
                    demand(self.manner.files, f"{where}: unknown variant `file`")
                    fields(part, where, {"type": str, "file": dict}, {})
                    fields(part["file"], where, {"filename": str, "file_data": str}, {})
                    data_url(part["file"]["file_data"], where, ("application/pdf",))

    def _assistant(self, message: Body, where: str) -> list[str]:
        back = self.manner.back
        more: Body = {"tool_calls": list}
        if back:
            more[back] = list if back == "reasoning_details" else str
        fields(message, where, {"role": str, "content": (str, list, type(None))}, more)
        demand(message["content"] is not None or "tool_calls" in message, f"{where}: empty")
        if message["content"] is not None:
            demand(message["content"], f"{where}.content: empty")
            self._parts(message["content"], where, ("text",))
        if self.manner.must:
            demand(
                back in message,
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
            )
        if message.get(back):
            demand(message[back] in self._thoughts, f"{where}.{back}: not as it was given")
        calls = message.get("tool_calls", [])
        demand(calls or "tool_calls" not in message, f"{where}.tool_calls: empty")
        for call in calls:
            fields(call, where, {"id": str, "type": str, "function": dict}, {})
            demand(0 < len(call["id"]) <= 64, f"{where}: Invalid 'id'")
            demand(call["type"] == "function", f"{where}: Invalid 'type'")
            fields(call["function"], where, {"name": str, "arguments": str}, {})
            demand(NAME.fullmatch(call["function"]["name"]), f"{where}: Invalid 'name'")
            arguments(call["function"]["arguments"], where)
        return [call["id"] for call in calls]

    def blocks(self, body: Body) -> list[Body]:
        found = [*body.get("tools", [])]
        for message in body["messages"]:
            content = message["content"]
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            found += [{**part, "role": message["role"]} for part in parts]
            found += message.get("tool_calls", [])
        return found

    def usage(self, told: Body) -> Body:
        read, wrote = told["cache_read_input_tokens"], told["cache_creation_input_tokens"]
        whole = read + wrote + told["input_tokens"]
        usage = {**USAGE, "prompt_tokens": whole, "total_tokens": whole + 50}
        if self.dialect == "deepseek":
            del usage["prompt_tokens_details"]
            missed = {"prompt_cache_miss_tokens": whole - read}
            return {**usage, "prompt_cache_hit_tokens": read, **missed}
        details = {"cached_tokens": read, "cache_write_tokens": wrote}
        return {**usage, "prompt_tokens_details": details}

    # --- answers -----------------------------------------------------------------------------

    def told(self, answer: Answer) -> str:
        return _frame({"error": {"message": "mid-stream", "code": 502, **answer.error}})

    def frames(self, answer: Answer, body: Body) -> Iterator[str]:
        if self.manner.comments:
            yield ": OPENROUTER PROCESSING\n\n"
        for chunk in self.chunks(answer, body):
            commented = chunk["choices"] and chunk["choices"][0]["delta"].get("comment")
            yield ": OPENROUTER PROCESSING\n\n" if commented else _frame(chunk)
        if self.manner.done:
            yield "data: [DONE]\n\n"

    def chunks(self, answer: Answer, body: Body) -> Iterator[Body]:
        model = body["model"]
        if self.dialect == "azure":
            yield {**_chunk("", {}), "choices": [], "prompt_filter_results": []}
        yield _chunk(model, {"role": "assistant", "content": ""})
        calls = 0
        for part in answer.parts:
            for delta in self._deltas(part, calls, answer.piece):
                yield _chunk(model, delta)
            calls += "call" in part
        usage = answer.usage or USAGE
        end = _chunk(model, {}, answer.stop or ("tool_calls" if calls else "stop"))
        if usage.get("untold"):
            yield end
        elif self.manner.usage_at_end:
            yield end
            yield {**_chunk(model, {}), "choices": [], "usage": usage}
        else:
            yield {**end, "usage": usage}

    def _deltas(self, part: Body, calls: int, size: int) -> Iterator[Body]:
        match part:
            case {"text": str(text)}:
                for piece in cut(text, size):
                    yield {"content": piece}
            case {"refusal": str(text)}:
                for piece in cut(text, size):
                    yield {"refusal": piece}
            case {"call": str(call), "name": str(name), "input": given}:
                index = {} if part.get("unnumbered") else {"index": calls}
                index = {"index": 0} if self.manner.one_index else index
                raw = given if isinstance(given, str) else json.dumps(given)
                begun = {"id": call, "type": "function", "function": {"name": name}}
                if self.manner.one_index:
                    begun["function"] = {"name": name, "arguments": raw}
                    yield {"tool_calls": [{**index, **begun}]}
                    return
                begun["function"] = {"name": name, "arguments": ""}
                yield {"tool_calls": [{**index, **begun}]}
                for piece in cut(raw, size):
                    yield {"tool_calls": [{**index, "function": {"arguments": piece}}]}
            case {"thought": str(words)}:
                yield from self._thought(words, part, size)
            case _:
                yield part

    def _thought(self, words: str, part: Body, size: int) -> Iterator[Body]:
        field = self.manner.thought
        detailed = self.manner.back == "reasoning_details"
        kind = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
        for piece in cut(words, size):
            detail = {"reasoning_details": [{**kind, "text": piece}]} if detailed else {}
            yield {"content": "", field: piece, **detail}
        if not detailed:
            self._thoughts.append(words)
            return
        signed = {"signature": "sig"}
        yield {"content": "", "reasoning_details": [{**kind, **signed}]}
        given: list[Body] = [{**kind, "text": words, **signed}] if words else [{**kind, **signed}]
        if hidden := part.get("hidden"):
            detail = {"type": "reasoning.encrypted", "data": hidden, "id": "e1", "index": 1}
            yield {"content": "", "reasoning_details": [detail]}
            given.append(detail)
        self._thoughts.append(given)


def _tools(body: Body) -> None:
    names: list[str] = []
    for number, tool in enumerate(body.get("tools", [])):
        where = f"tools[{number}]"
        fields(tool, where, {"type": str, "function": dict}, {})
        demand(tool["type"] == "function", f"Invalid '{where}.type'")
        fields(tool["function"], where, {"name": str, "parameters": dict}, {"description": str})
        names.append(function(tool["function"], where))
    demand(len({*names}) == len(names), "Tool names must be unique.")


def _chunk(model: str, delta: Body, reason: str | None = None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    head = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1}
    return {**head, "model": model, "choices": [choice], "usage": None}


def _frame(chunk: Body) -> str:
    return f"data: {json.dumps(chunk)}\n\n"
