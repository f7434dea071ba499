"""One and the same short session as each agent would have recorded it."""

from sidecar.core.parts import Json, JsonObject

AT = "2026-01-08T14:41:0{}Z"
MS = 1_767_883_260_000
"""`AT` at second 0."""


def _text(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


def _neutral(role: str, origin: str, second: int, *parts: Json, **more: Json) -> JsonObject:
    at = AT.format(second)
    return {"role": role, "origin": origin, "parts": list(parts), "usage": None, "ts": at, **more}


def _neutral_usage(read: int) -> JsonObject:
    usage: Json = {"prompt": 10 + read, "uncached": 10, "cache_read": read, "output": 5}
    return {"usage": usage, "model": "opus", "stop": "end"}


NEUTRAL: list[JsonObject] = [
    _neutral("user", "human", 1, *_text("look")),
    _neutral(
        "assistant",
        "model",
        2,
        {"type": "reasoning", "text": "hm", "opaque_chars": 9},
        *_text("I look"),
        {"type": "tool_call", "id": "c1", "name": "bash", "input": {"command": "ls"}},
        **_neutral_usage(20),
    ),
    _neutral("tool", "tool", 3, {"type": "tool_result", "id": "c1", "output": "one"}),
    _neutral(
        "assistant",
        "model",
        4,
        {"type": "tool_call", "id": "c2", "name": "bash", "input": {"command": "cd"}},
        **_neutral_usage(30),
    ),
    _neutral(
        "tool", "tool", 5, {"type": "tool_result", "id": "c2", "output": "no", "is_error": True}
    ),
    _neutral("user", "compact_summary", 6, *_text("so far"), compaction={"trigger": "auto"}),
    _neutral("user", "human", 7, *_text("go on")),
    _neutral("assistant", "model", 8, *_text("done"), **_neutral_usage(40)),
]


def _claude(kind: str, second: int, **more: Json) -> JsonObject:
    common = {"type": kind, "uuid": "u", "sessionId": "s1", "cwd": "/d"}
    return {**common, "timestamp": AT.format(second), **more}


def _said(second: int, content: Json, **more: Json) -> JsonObject:
    return _claude("user", second, message={"role": "user", "content": content}, **more)


def _answered(second: int, name: str, block: Json, read: int) -> JsonObject:
    usage: Json = {"input_tokens": 10, "cache_read_input_tokens": read, "output_tokens": 5}
    content: Json = [block]
    message: Json = {"id": name, "model": "opus", "usage": usage, "content": content}
    return _claude("assistant", second, message=message)


def _tool_use(call_id: str, command: str) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": "bash", "input": {"command": command}}


CLAUDE: list[JsonObject] = [
    {"type": "summary", "summary": "A title", "leafUuid": "u"},
    _said(1, "look"),
    _answered(2, "r1", {"type": "thinking", "thinking": "hm", "signature": "s"}, 20),
    _answered(2, "r1", _text("I look")[0], 20),
    _answered(2, "r1", _tool_use("c1", "ls"), 20),
    _said(3, [{"type": "tool_result", "tool_use_id": "c1", "content": _text("one")}]),
    _answered(4, "r2", _tool_use("c2", "cd"), 30),
    _said(5, [{"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True}]),
    _claude("system", 6, subtype="compact_boundary", compactMetadata={"trigger": "auto"}),
    _said(6, "so far", isCompactSummary=True),
    _said(7, _text("go on")),
    _answered(8, "r3", _text("done")[0], 40),
]


def _codex(kind: str, second: int, **payload: Json) -> JsonObject:
    return {"type": kind, "timestamp": AT.format(second), "payload": payload}


def _item(kind: str, second: int, **item: Json) -> JsonObject:
    return _codex("response_item", second, type=kind, **item)


def _tokens(second: int, read: int, total: int) -> JsonObject:
    last: Json = {"input_tokens": 10 + read, "cached_input_tokens": read, "output_tokens": 5}
    info: Json = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}}
    return _codex("event_msg", second, type="token_count", info=info)


CODEX: list[JsonObject] = [
    _codex("session_meta", 0, id="s1", cwd="/d"),
    _codex("turn_context", 0, model="opus"),
    _item("message", 1, role="user", content=[{"type": "input_text", "text": "look"}]),
    _item("reasoning", 2, summary=[{"type": "summary_text", "text": "hm"}]),
    _item("message", 2, role="assistant", content=[{"type": "output_text", "text": "I look"}]),
    _item("function_call", 2, name="bash", call_id="c1", arguments='{"command": "ls"}'),
    _tokens(2, 20, 1),
    _item("function_call_output", 3, call_id="c1", output="one"),
    _item("function_call", 4, name="bash", call_id="c2", arguments='{"command": "cd"}'),
    _tokens(4, 30, 2),
    _item("function_call_output", 5, call_id="c2", output={"content": "no", "success": False}),
    _codex("compacted", 6, message="so far"),
    _item("message", 7, role="user", content=[{"type": "input_text", "text": "go on"}]),
    _item("message", 8, role="assistant", content=[{"type": "output_text", "text": "done"}]),
    _tokens(8, 40, 3),
]


def _pi(role: str, second: int, content: Json, **more: Json) -> JsonObject:
    message: Json = {"role": role, "content": content, **more}
    return {"type": "message", "timestamp": AT.format(second), "message": message}


def _pi_call(call_id: str, command: str) -> JsonObject:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": command}}


def _pi_usage(read: int) -> JsonObject:
    return {"model": "opus", "usage": {"input": 10, "cacheRead": read, "output": 5}}


PI: list[JsonObject] = [
    {"type": "session", "id": "s1", "cwd": "/d", "timestamp": AT.format(0)},
    _pi("user", 1, _text("look")),
    _pi(
        "assistant",
        2,
        [{"type": "thinking", "thinking": "hm"}, *_text("I look"), _pi_call("c1", "ls")],
        **_pi_usage(20),
    ),
    _pi("toolResult", 3, _text("one"), toolCallId="c1"),
    _pi("assistant", 4, [_pi_call("c2", "cd")], **_pi_usage(30)),
    _pi("toolResult", 5, _text("no"), toolCallId="c2", isError=True),
    {"type": "compaction", "timestamp": AT.format(6), "summary": "so far"},
    _pi("user", 7, _text("go on")),
    _pi("assistant", 8, _text("done"), **_pi_usage(40)),
]


def _opencode(role: str, second: int, *parts: Json, **more: Json) -> JsonObject:
    time: Json = {"created": MS + second * 1000}
    info: Json = {"role": role, "sessionID": "s1", "modelID": "opus", "time": time, **more}
    return {"info": info, "parts": list(parts)}


def _tool(call_id: str, command: str, second: int, **state: Json) -> JsonObject:
    time: Json = {"start": MS, "end": MS + second * 1000}
    given: Json = {"input": {"command": command}, "time": time, **state}
    return {"type": "tool", "callID": call_id, "tool": "bash", "state": given}


def _finish(read: int) -> JsonObject:
    tokens: Json = {"input": 10, "output": 5, "cache": {"read": read, "write": 0}}
    return {"type": "step-finish", "reason": "stop", "tokens": tokens}


OPENCODE: list[JsonObject] = [
    {
        "info": {"id": "s1", "title": "A title", "directory": "/d"},
        "messages": [
            _opencode("user", 1, *_text("look")),
            _opencode(
                "assistant",
                2,
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm"},
                *_text("I look"),
                _tool("c1", "ls", 3, status="completed", output="one", metadata={"exit": 0}),
                _finish(20),
            ),
            _opencode(
                "assistant", 4, _tool("c2", "cd", 5, status="error", error="no"), _finish(30)
            ),
            _opencode("user", 6, {"type": "compaction", "auto": True}),
            _opencode("assistant", 6, *_text("so far"), _finish(35), summary=True),
            _opencode("user", 7, *_text("go on")),
            _opencode("assistant", 8, *_text("done"), _finish(40)),
        ],
    }
]

FORMATS: dict[str, list[JsonObject]] = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "neutral": NEUTRAL,
    "opencode": OPENCODE,
    "pi": PI,
}
