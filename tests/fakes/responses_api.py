"""The Responses API on loopback, as strict as the real one is about what is sent back."""

import json
from collections.abc import Iterator
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

_PARAMETERS = {
    "instructions": str, "tools": list, "parallel_tool_calls": bool, "reasoning": dict,
    "prompt_cache_key": str,
}  # fmt: skip
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 1050,
}


class FakeResponsesApi(FakeStreamingApi):
    """Keeps nothing but what it has encrypted, of which it takes back exactly what it gave."""

    def __init__(self) -> None:
        super().__init__()
        self._thoughts: dict[str, tuple[str, Body]] = {}

    def refusal(self, asked: Asked) -> str | None:
        try:
            demand(asked.path == "/v1/responses", f"Invalid URL (POST {asked.path})")
            body = fields(
                asked.body,
                "body",
                {
                    "model": str, "input": list, "max_output_tokens": int, "stream": bool,
                    "store": bool, "include": list,
                },
                _PARAMETERS,
            )  # fmt: skip
            self._parameters(body)
            self._tools(body)
            self._input(body["input"], body["model"])
        except Refused as refused:
            return str(refused)
        return None

    def _parameters(self, body: Body) -> None:
        demand(body["model"], "model: required")
        demand(body["max_output_tokens"] >= 16, "Invalid 'max_output_tokens': below 16")
        demand(body["stream"] is True, "this fake streams")
        demand(body["store"] is False, "this fake stores nothing")
        demand(body["include"] == ["reasoning.encrypted_content"], "Invalid 'include'")
        demand(len(body.get("prompt_cache_key", "")) <= 64, "'prompt_cache_key': too long")
        reasoning = fields(body.get("reasoning", {}), "reasoning", {}, dict.fromkeys(
            ("effort", "summary"), str))  # fmt: skip
        demand(reasoning.get("effort", "low") in _EFFORTS, "Invalid 'reasoning.effort'")
        demand(
            reasoning.get("summary", "auto") in ("auto", "concise", "detailed"),
            "Invalid 'reasoning.summary'",
        )

    def _tools(self, body: Body) -> None:
        names: set[str] = set()
        for number, tool in enumerate(body.get("tools", [])):
            where = f"tools[{number}]"
            fields(
                tool,
                where,
                {"type": str, "name": str, "parameters": dict, "strict": bool},
                {"description": str},
            )
            demand(tool["type"] == "function", f"Invalid '{where}.type'")
            name = function(tool, where)
            demand(name not in names, "Tool names must be unique.")
            names.add(name)

    def _input(self, items: list[Any], model: str) -> None:
        demand(items, "Invalid 'input': empty")
        calls: dict[str, bool] = {}
        ids: set[str] = set()
        for number, item in enumerate(items):
            where = f"input[{number}]"
            following = items[number + 1] if number + 1 < len(items) else {}
            match item:
                case {"type": "message"}:
                    _message(item, where)
                case {"type": "function_call"}:
                    _call(item, where)
                    demand(item["call_id"] not in calls, f"Duplicate call_id in '{where}'")
                    calls[item["call_id"]] = False
                case {"type": "function_call_output"}:
                    _output(item, where)
                    known = calls.get(item["call_id"])
                    demand(known is not None, f"No tool call found for {item['call_id']}")
                    demand(not known, f"Duplicate output for {item['call_id']}")
                    calls[item["call_id"]] = True
                case {"type": "reasoning"}:
                    self._reasoning(item, where, model)
                    demand(item["id"] not in ids, f"Duplicate item found with id {item['id']}")
                    ids.add(item["id"])
                    demand(
                        following.get("type") in ("function_call", "reasoning")
                        or following.get("role") == "assistant",
                        f"Item '{item['id']}' of type 'reasoning' was provided without its "
                        "required following item.",
                    )
                case {"type": "compaction"}:
                    fields(item, where, {"type": str, "encrypted_content": str}, {"id": str})
                    self._own(item, where, model)
                case _:
                    raise Refused(f"Invalid value: '{where}.type'")
        open_calls = [call for call, answered in calls.items() if not answered]
        demand(not open_calls, f"No tool output found for function call {open_calls}")

    def _reasoning(self, item: Body, where: str, model: str) -> None:
        fields(
            item,
            where,
            {"type": str, "id": str, "summary": list, "encrypted_content": str},
            {"content": list, "status": str},
        )
        self._own(item, where, model)

    def _own(self, item: Body, where: str, model: str) -> None:
        by, known = self._thoughts.get(item["encrypted_content"], ("", {}))
        demand(known, f"The encrypted content {item['encrypted_content']} could not be verified.")
        demand(by == model, "The encrypted content is another model's.")
        demand(known == item, f"'{where}' is not the item that was given: {known} {item}")

    def blocks(self, body: Body) -> list[Body]:
        """The last ends in a breakpoint of the API's own."""
        found = [*body.get("tools", []), {"text": body.get("instructions", "")}]
        for item in body["input"]:
            parts = item.get("content", item.get("output"))
            for part in parts if isinstance(parts, list) else [item]:
                made = {name: part[name] for name in part if name != "prompt_cache_breakpoint"}
                mark = {"cache_control": {}} if made != part else {}
                found.append({**made, "of": item["type"], **mark})
        return [*found[:-1], {**found[-1], "cache_control": {}}]

    def usage(self, told: Body) -> Body:
        read, wrote = told["cache_read_input_tokens"], told["cache_creation_input_tokens"]
        whole = read + wrote + told["input_tokens"]
        details = {"cached_tokens": read, "cache_write_tokens": wrote}
        total = {"input_tokens": whole, "total_tokens": whole + 50}
        return {**USAGE, **total, "input_tokens_details": details}

    # --- answers -----------------------------------------------------------------------------

    def told(self, answer: Answer) -> str:
        error = {"code": "server_error", "message": "mid-stream", **answer.error}
        if error.pop("wrapped", False):
            return _frame("error", error=error)
        if error.pop("failed", False):
            response = _response("m", "failed", [], None)
            return _frame("response.failed", response={**response, "error": error})
        return _frame("error", **{"param": None, **error})

    def frames(self, answer: Answer, body: Body) -> Iterator[str]:
        for number, (kind, data) in enumerate(self.events(answer, body)):
            yield _frame(kind, sequence_number=number, **data)

    def events(self, answer: Answer, body: Body) -> Iterator[tuple[str, Body]]:
        """Give the events of an answer, one that is nowhere documented among them."""
        model = body["model"]
        output: list[Body] = []
        yield "response.created", {"response": _response(model, "in_progress", [], None)}
        yield "response.in_progress", {"response": _response(model, "in_progress", [], None)}
        yield "keepalive", {}
        for number, part in enumerate(answer.parts):
            made = self._item(number, part, model)
            if not part.get("untold"):
                yield from _item_events(number, made, part, answer.piece)
            output.append(made)
        if answer.stop:
            ended = _response(model, "incomplete", output, answer.usage or USAGE)
            yield (
                "response.incomplete",
                {"response": {**ended, "incomplete_details": {"reason": answer.stop}}},
            )
        else:
            ended = _response(model, "completed", output, answer.usage or USAGE)
            yield "response.completed", {"response": ended}

    def _item(self, number: int, part: Body, model: str) -> Body:
        match part:
            case {"text": str(text)}:
                content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
                phase = {"phase": part["phase"]} if "phase" in part else {}
                return {**_message_item(number, content), **phase}
            case {"refusal": str(text)}:
                return _message_item(number, {"type": "refusal", "refusal": text})
            case {"call": str(call), "name": str(name), "input": given}:
                raw = given if isinstance(given, str) else json.dumps(given)
                return {
                    "type": "function_call", "id": f"fc_{number}", "call_id": call, "name": name,
                    "arguments": raw, "status": "completed",
                }  # fmt: skip
            case {"thought": str(words)}:
                return self._thought(part, words, model)
            case {"compacted": str(hidden)}:
                item = {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": hidden}
                self._thoughts[hidden] = (model, item)
                return {**item, "created_by": None}
            case _:
                return part

    def _thought(self, part: Body, words: str, model: str) -> Body:
        number = len(self._thoughts)
        parts = [{"type": "summary_text", "text": text} for text in words.split("|") if text]
        item = {"type": "reasoning", "id": f"rs_{number}", "summary": parts}
        if part.get("open"):
            texts = [{"type": "reasoning_text", "text": p["text"]} for p in parts]
            return {**item, "summary": [], "content": texts, "encrypted_content": None}
        hidden = f"gAAAA{number}" + "x" * 40
        item = {**item, "encrypted_content": hidden}
        self._thoughts[hidden] = (model, item)
        return {**item, "status": None}


def _message(item: Body, where: str) -> None:
    fields(
        item,
        where,
        {"type": str, "role": str, "content": (str, list)},
        {"phase": str} if item.get("role") == "assistant" else {},
    )
    if item["role"] == "assistant":
        demand(isinstance(item["content"], str), f"Invalid '{where}.content'")
        demand(item.get("phase", "commentary") in ("commentary", "final_answer"), "phase")
        return
    demand(item["role"] in ("user", "developer"), f"Invalid '{where}.role'")
    demand(item["content"], f"Invalid '{where}.content': empty")
    for part in item["content"]:
        _part(part, f"{where}.content")


def _part(part: Body, where: str) -> None:
    marks = {"prompt_cache_breakpoint": dict}
    mark = part.get("prompt_cache_breakpoint", {"mode": "explicit"})
    demand(mark == {"mode": "explicit"}, f"Invalid '{where}.prompt_cache_breakpoint'")
    match part.get("type"):
        case "input_text":
            fields(part, where, {"type": str, "text": str}, marks)
        case "input_image":
            fields(part, where, {"type": str, "detail": str, "image_url": str}, marks)
            data_url(part["image_url"], where, IMAGES)
        case "input_file":
            fields(part, where, {"type": str, "filename": str, "file_data": str}, marks)
            data_url(part["file_data"], where, ("application/pdf",))
        case kind:
            raise Refused(f"Invalid value: {kind!r} in '{where}'")


def _call(item: Body, where: str) -> None:
    fields(item, where, {"type": str, "call_id": str, "name": str, "arguments": str}, {})
    demand(0 < len(item["call_id"]) <= 64, f"Invalid '{where}.call_id'")
    demand(NAME.fullmatch(item["name"]), f"Invalid '{where}.name'")
    arguments(item["arguments"], where)


def _output(item: Body, where: str) -> None:
    fields(item, where, {"type": str, "call_id": str, "output": (str, list)}, {})
    if isinstance(item["output"], list):
        for part in item["output"]:
            _part(part, where)


def _frame(kind: str, **data: Any) -> str:
    made = {"type": kind, "sequence_number": 0, **data}
    return f"event: {kind}\ndata: {json.dumps(made)}\n\n"


def _message_item(number: int, content: Body) -> Body:
    return {
        "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
        "content": [content],
    }  # fmt: skip


def _response(model: str, status: str, output: list[Body], usage: Body | None) -> Body:
    return {
        "id": "resp_fake", "object": "response", "created_at": 1, "status": status, "error": None,
        "incomplete_details": None, "model": model, "output": output, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "usage": usage, "store": False,
    }  # fmt: skip


def _item_events(at: int, made: Body, part: Body, size: int) -> Iterator[tuple[str, Body]]:
    where = {"output_index": at, "item_id": made.get("id", "")}
    empty = {"status": "in_progress", "content": [], "arguments": "", "summary": []}
    begun = {key: empty.get(key, value) for key, value in made.items()}
    yield "response.output_item.added", {"output_index": at, "item": begun}
    if made["type"] == "compaction":
        yield "response.compaction.compacting", where
    if not part.get("unstreamed"):
        match made["type"]:
            case "message":
                yield from _content_events(where, made["content"][0], size)
            case "function_call":
                for piece in cut(made["arguments"], size):
                    yield "response.function_call_arguments.delta", {**where, "delta": piece}
                done = {"arguments": made["arguments"], "name": made["name"]}
                yield "response.function_call_arguments.done", {**where, **done}
            case "reasoning":
                yield from _thought_events(where, made, size)
    yield "response.output_item.done", {"output_index": at, "item": made}


def _content_events(where: Body, content: Body, size: int) -> Iterator[tuple[str, Body]]:
    where = {**where, "content_index": 0}
    key = "refusal" if content["type"] == "refusal" else "text"
    name = "response.refusal" if key == "refusal" else "response.output_text"
    more: Body = {} if key == "refusal" else {"logprobs": []}
    yield "response.content_part.added", {**where, "part": {**content, key: ""}}
    for piece in cut(content[key], size):
        yield f"{name}.delta", {**where, "delta": piece, **more}
    yield f"{name}.done", {**where, key: content[key], **more}
    yield "response.content_part.done", {**where, "part": content}


def _thought_events(where: Body, made: Body, size: int) -> Iterator[tuple[str, Body]]:
    for number, part in enumerate(made["summary"]):
        at = {**where, "summary_index": number}
        begun = {"part": {"type": "summary_text", "text": ""}}
        yield "response.reasoning_summary_part.added", {**at, **begun}
        for piece in cut(part["text"], size):
            yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
        yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {**at, "part": part}
    for number, part in enumerate(made.get("content", ())):
        at = {**where, "content_index": number}
        for piece in cut(part["text"], size):
            yield "response.reasoning_text.delta", {**at, "delta": piece}
        yield "response.reasoning_text.done", {**at, "text": part["text"]}
