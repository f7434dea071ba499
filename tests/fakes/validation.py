"""What the Messages API refuses, as far as it is documented or was seen: a reason, or nothing."""

import json
import re
from itertools import pairwise
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
LONGEST_ID = 64
"""Of a call; what other providers that speak this API take."""
OWN = ("text", "thinking", "redacted_thinking")
USERS_ONLY = frozenset({"tool_result", "image", "document"})
MOST_MARKS = 4
Body = dict[str, Any]


COMPACTING = "compact-2026-09-04"
COMPACTED = frozenset(
    {
        "claude-fable-5", "claude-fable-5-1", "claude-mythos-5", "claude-mythos-5-1",
        "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5",
        "claude-opus-5-5", "claude-sonnet-4-6", "claude-sonnet-5", "claude-sonnet-5-5",
    }
)  # fmt: skip
LONGEST_INSTRUCTIONS = 16_384


def refusal(body: Body, betas: str = "") -> str | None:
    """Give why the API would answer 400, or `None`; `betas` is the header that asks for them."""
    checks = (_written, _parameters, _tools, _roles, _blocks, _pairs, _marks)
    reason = next((reason for check in checks if (reason := check(body))), None)
    return reason or _compaction(body, betas.split(","))


def _compaction(body: Body, betas: list[str]) -> str | None:  # noqa: PLR0911 - a list of rules
    blocks = [block["type"] for message in body["messages"] for block in message["content"]]
    if "compaction" in blocks and COMPACTING not in betas:
        return "messages: Input tag 'compaction' does not match any of the expected tags"
    if blocks.count("compaction") > 1 or "compaction" in blocks[1:]:
        return "messages: the compaction block must come first"
    if "compaction" not in body:
        return None
    if COMPACTING not in betas:
        return f"compaction: requires anthropic-beta: {COMPACTING}"
    asked = body["compaction"]
    if not isinstance(asked, dict) or asked.get("type") != "summarize":
        return "compaction.type: Input should be 'summarize'"
    if extra := set(asked) - {"type", "instructions"}:
        return f"compaction.{sorted(extra)[0]}: Extra inputs are not permitted"
    if len(asked.get("instructions") or "") > LONGEST_INSTRUCTIONS:
        return "compaction.instructions: String should have at most 16384 characters"
    if body["model"] not in COMPACTED:
        return f"compaction: {body['model']} does not support it"
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        return "compaction: cannot be combined with a tool_choice of type any or tool"
    if "format" in body.get("output_config", {}):
        return "compaction: cannot be combined with output_config.format"
    last = body["messages"][-1]
    if last["role"] == "assistant" and "tool_use" in [block["type"] for block in last["content"]]:
        return "compaction: the last assistant turn is not finished"
    return None


def _written(body: Body) -> str | None:
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        return f"The request body is not valid JSON: {error}"
    return None


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
        "metadata", "tool_choice", "thinking", "compaction",
    }  # fmt: skip
    extra = set(body) - known
    return f"{sorted(extra)[0]}: Extra inputs are not permitted" if extra else None


def _tools(body: Body) -> str | None:
    names = [tool.get("name") for tool in body.get("tools", [])]
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
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
    if messages[-1]["role"] != "user" and "compaction" not in body:
        return _continued(messages[-1]["content"])
    return None


def _continued(content: list[Body]) -> str | None:
    """A conversation may end with an answer only where a tool of the provider's paused it."""
    if all(block["type"] in (*OWN, "tool_use") for block in content):
        return "messages: the conversation must end with a user message"
    if content[-1]["type"] == "text" and content[-1]["text"] != content[-1]["text"].rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None


def _blocks(body: Body) -> str | None:
    for number, message in enumerate(body["messages"]):
        content = message["content"]
        if not isinstance(content, list) or not content:
            return f"messages.{number}: all messages must have non-empty content"
        for block in content:
            reason = _block(block)
            if reason is None and message["role"] == "assistant" and block["type"] in USERS_ONLY:
                reason = f"{block['type']} blocks are not permitted in an assistant message"
            if reason:
                return f"messages.{number}: {reason}"
        last = content[-1]
        if message["role"] == "assistant" and last["type"] in ("thinking", "redacted_thinking"):
            return f"messages.{number}: the final block in an assistant message cannot be thinking"
    for block in body.get("system", []):
        if not block.get("text", "").strip():
            return "system: text content blocks must contain non-whitespace text"
    return None


def _block(block: Body) -> str | None:  # noqa: PLR0911 - a list of rules
    match block.get("type"):
        case "text" if not block["text"].strip():
            return "text content blocks must contain non-whitespace text"
        case "thinking" if not _said(block.get("signature")):
            return "thinking.signature: Field required"
        case "redacted_thinking" if not _said(block.get("data")):
            return "redacted_thinking.data: Field required"
        case "tool_use" if not CALL_ID.fullmatch(block["id"]):
            return f"tool_use.id: {block['id']!r} does not match {CALL_ID.pattern}"
        case "tool_use" if len(block["id"]) > LONGEST_ID:
            return f"tool_use.id: {block['id']!r} is too long"
        case "tool_use" if not NAME.fullmatch(block["name"]):
            return f"tool_use.name: {block['name']!r} does not match {NAME.pattern}"
        case "tool_use" if not isinstance(block["input"], dict):
            return "tool_use.input: Input should be a valid dictionary"
        case "tool_result" if isinstance(block["content"], list):
            return next((why for one in block["content"] if (why := _block(one))), None)
        case str(kind) if kind.strip():
            return None
        case kind:
            return f"Input tag {kind!r} does not match any of the expected tags"


def _said(value: object) -> bool:
    return isinstance(value, str) and value != ""


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
