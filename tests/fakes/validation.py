"""What the Messages API refuses, as far as it is documented or was seen: a reason, or nothing."""

import json
import re
from itertools import pairwise
from typing import Any

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
CALL_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
MOST_MARKS = 4
Body = dict[str, Any]


def refusal(body: Body) -> str | None:
    """Give why the API would answer 400, or `None`."""
    checks = (_parameters, _tools, _roles, _blocks, _pairs, _marks)
    return next((reason for check in checks if (reason := check(body))), None)


def _parameters(body: Body) -> str | None:
    tokens = body.get("max_tokens")
    if not isinstance(tokens, int) or tokens < 0:
        return "max_tokens: a positive integer is required"
    if tokens == 0 and body.get("stream"):
        return "max_tokens: 0 cannot be streamed"
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "model: required"
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            return f"{name}: sampling parameters are not accepted"
    known = {
        "model", "max_tokens", "system", "tools", "messages", "stream", "output_config",
        "metadata", "tool_choice", "thinking",
    }  # fmt: skip
    extra = set(body) - known
    return f"{sorted(extra)[0]}: Extra inputs are not permitted" if extra else None


def _tools(body: Body) -> str | None:
    names = [tool.get("name") for tool in body.get("tools", [])]
    for name in names:
        if not isinstance(name, str) or not NAME.match(name):
            return f"tools.name: {name!r} does not match {NAME.pattern}"
    if len(set(names)) != len(names):
        return "tools: Tool names must be unique"
    for tool in body.get("tools", []):
        if not isinstance(tool.get("input_schema"), dict):
            return "tools.input_schema: required"
    return None


def _roles(body: Body) -> str | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    if messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    for before, after in pairwise(messages):
        if before["role"] == after["role"]:
            return "messages: roles must alternate"
    if messages[-1]["role"] != "user":
        return "messages: the conversation must end with a user message"
    return None


def _blocks(body: Body) -> str | None:
    for number, message in enumerate(body["messages"]):
        content = message["content"]
        if not isinstance(content, list) or not content:
            return f"messages.{number}: all messages must have non-empty content"
        for block in content:
            reason = _block(block)
            if reason:
                return f"messages.{number}: {reason}"
        last = content[-1]
        if message["role"] == "assistant" and last["type"] in ("thinking", "redacted_thinking"):
            return f"messages.{number}: the final block in an assistant message cannot be thinking"
    for block in body.get("system", []):
        if not block.get("text", "").strip():
            return "system: text content blocks must contain non-whitespace text"
    return None


def _block(block: Body) -> str | None:
    match block["type"]:
        case "text" if not block["text"].strip():
            return "text content blocks must contain non-whitespace text"
        case "thinking" if not block.get("signature"):
            return "thinking.signature: Field required"
        case "tool_use" if not CALL_ID.match(block["id"]):
            return f"tool_use.id: {block['id']!r} does not match {CALL_ID.pattern}"
        case "tool_use" if not isinstance(block["input"], dict):
            return "tool_use.input: Input should be a valid dictionary"
        case _:
            return None


def _pairs(body: Body) -> str | None:
    seen: set[str] = set()
    asked: list[str] = []
    for number, message in enumerate(body["messages"]):
        content = message["content"]
        answers = [b["tool_use_id"] for b in content if b["type"] == "tool_result"]
        if [
            b["tool_use_id"] for b in content[: len(answers)] if b["type"] == "tool_result"
        ] != answers:
            return f"messages.{number}: tool_result blocks must come first"
        missing = set(asked) - set(answers)
        if missing:
            return f"messages.{number}: tool_use ids without tool_result: {sorted(missing)}"
        orphans = set(answers) - set(asked)
        if orphans:
            return f"messages.{number}: unexpected tool_use_id in tool_result: {sorted(orphans)}"
        if len(set(answers)) != len(answers):
            return f"messages.{number}: each tool_use must have a single result"
        asked = [b["id"] for b in content if b["type"] == "tool_use"]
        if seen & set(asked) or len(set(asked)) != len(asked):
            return f"messages.{number}: tool_use ids must be unique"
        seen |= set(asked)
    return None


def _marks(body: Body) -> str | None:
    marked = [block for block in in_order(body) if "cache_control" in block]
    if len(marked) > MOST_MARKS:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    for block in marked:
        if block.get("type") in ("thinking", "redacted_thinking"):
            return "cache_control cannot be set on thinking blocks"
        if block.get("type") == "text" and not block["text"]:
            return "cache_control cannot be set for empty text blocks"
    ttls = [block["cache_control"].get("ttl", "5m") for block in marked]
    if ttls != sorted(ttls):
        return "a ttl='1h' cache_control block must not come after a ttl='5m' one"
    return None


def in_order(body: Body) -> list[Body]:
    """Give all blocks in the order in which they are hashed: tools, system, messages."""
    messages = [block for message in body.get("messages", []) for block in message["content"]]
    return [*body.get("tools", []), *body.get("system", []), *messages]


def plain(block: Body) -> str:
    """Give a block's content, without its cache marker, in a form that can be compared."""
    return json.dumps({k: v for k, v in block.items() if k != "cache_control"}, sort_keys=True)


def flattened(body: Body) -> list[tuple[str, str]]:
    """Give (role, block) of the messages, without markers and message boundaries."""
    return [(m["role"], plain(b)) for m in body["messages"] for b in m["content"]]


def first_difference(before: Body, after: Body) -> str | None:
    """Say where a request stops extending the one before it; `None` when it extends it whole."""
    for part in ("model", "tools", "system"):
        old, new = before.get(part), after.get(part)
        if part != "model":
            old = [plain(b) for b in before.get(part, [])]
            new = [plain(b) for b in after.get(part, [])]
        if old != new:
            return f"{part} changed"
    old_blocks, new_blocks = flattened(before), flattened(after)
    for index, (old_block, new_block) in enumerate(zip(old_blocks, new_blocks, strict=False)):
        if old_block != new_block:
            return f"block {index} changed: {old_block[1][:200]} is now {new_block[1][:200]}"
    if len(new_blocks) < len(old_blocks):
        return f"only {len(new_blocks)} of {len(old_blocks)} blocks are left"
    return None
