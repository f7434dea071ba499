"""What the Gemini API refuses, as far as it is documented or was seen: a reason, or nothing."""

import re
from base64 import urlsafe_b64decode
from binascii import Error
from itertools import pairwise
from typing import Any

Body = dict[str, Any]
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
MODEL = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
UNCHECKED = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
MEDIA = {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"}
MOST_BYTES = 20 * 1024 * 1024
MOST_TOKENS = 65_536
DATA = ("text", "inlineData", "functionCall", "functionResponse", "executableCode")
_TEXT, _FLAG, _COUNT, _ANY = str, bool, int, object
_BLOB: Any = {"mimeType": _TEXT, "data": _TEXT}
_PART: Any = {
    "text": _TEXT,
    "thought": _FLAG,
    "thoughtSignature": _TEXT,
    "inlineData": _BLOB,
    "functionCall": {"id": _TEXT, "name": _TEXT, "args": dict},
    "functionResponse": {
        "id": _TEXT,
        "name": _TEXT,
        "response": dict,
        "parts": [{"inlineData": _BLOB}],
    },
    "executableCode": {"language": _TEXT, "code": _TEXT},
}
_SHAPE: Any = {
    "contents": [{"role": _TEXT, "parts": [_PART]}],
    "systemInstruction": {"role": _TEXT, "parts": [_PART]},
    "tools": [
        {
            "functionDeclarations": [
                {"name": _TEXT, "description": _TEXT, "parametersJsonSchema": dict}
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": _TEXT, "allowedFunctionNames": [_TEXT]}},
    "generationConfig": {
        "maxOutputTokens": _COUNT,
        "thinkingConfig": {
            "includeThoughts": _FLAG,
            "thinkingBudget": _COUNT,
            "thinkingLevel": _TEXT,
        },
    },
}
"""All fields that Sidecar may send, with their types; any other is an unknown one."""


def refusal(model: str, body: Body, issued: dict[str, Body]) -> str | None:
    """Give why the API would answer 400, or `None`; `issued` are signatures and their parts."""
    version = _version(model)
    if reason := _shaped(body, _SHAPE, ""):
        return f"Invalid JSON payload received. {reason}"
    checks = (_roles, _parts, _pairs, _tools)
    found = next((reason for check in checks if (reason := check(body))), None)
    return found or _settings(body, version) or _signed(body, version, issued)


def _version(model: str) -> tuple[int, int]:
    found = MODEL.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _shaped(value: Any, shape: Any, place: str) -> str | None:
    """Say what has another type, or a name that is not known."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{place}: a list is required"
        found = (_shaped(one, shape[0], f"{place}[{at}]") for at, one in enumerate(value))
        return next((reason for reason in found if reason), None)
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{place}: an object is required"
        if unknown := sorted(value.keys() - shape.keys()):
            return f"Unknown name \"{unknown[0]}\" at '{place}': Cannot find field."
        found = (_shaped(one, shape[key], f"{place}.{key}") for key, one in value.items())
        return next((reason for reason in found if reason), None)
    alike = isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
    return None if alike else f"Invalid value at '{place}' ({shape.__name__}), {value!r:.40}"


def _roles(body: Body) -> str | None:
    contents = body.get("contents")
    if not contents:
        return "GenerateContentRequest.contents: contents is not specified"
    for at, content in enumerate(contents):
        if content.get("role") not in ("user", "model"):
            return "Please use a valid role: user, model."
        if not content.get("parts"):
            return f"GenerateContentRequest.contents[{at}].parts: must not be empty."
    if contents[0]["role"] != "user" or contents[-1]["role"] != "user":
        return "Please ensure that multiturn requests begin and end with a user role."
    for before, after in pairwise(contents):
        if before["role"] == after["role"]:
            return "Please ensure that multiturn requests alternate between user and model."
    return None


def _parts(body: Body) -> str | None:
    for content in [body.get("systemInstruction", {"parts": []}), *body["contents"]]:
        for part in content["parts"]:
            if reason := _part(part, content.get("role", "system")):
                return reason
    return None


def _part(part: Body, role: str) -> str | None:  # noqa: PLR0911 - a list of rules
    given = [key for key in DATA if key in part]
    match given:
        case []:
            return "required oneof field 'data' must have one initialized field"
        case [_, _, *_]:
            return f"oneof field 'data' is already set. Cannot set '{given[1]}'"
        case ["text"] if not part["text"] and "thoughtSignature" not in part:
            return "required oneof field 'data' must have one initialized field"
        case ["functionResponse"] if role != "user":
            return f"Content with role '{role}' can't contain 'functionResponse' part"
        case ["functionCall"] if role != "model":
            return f"Content with role '{role}' can't contain 'functionCall' part"
        case ["inlineData"]:
            return _blob(part["inlineData"])
        case ["functionCall" | "functionResponse" as kind]:
            inner = part[kind]
            if not NAME.fullmatch(inner.get("name", "")):
                return f"Invalid function name {inner.get('name')!r}"
            if kind == "functionResponse" and "response" not in inner:
                return "function_response.response: required"
            media = [one["inlineData"] for one in inner.get("parts", ())]
            return next((reason for one in media if (reason := _blob(one))), None)
    if role == "user" and ("thought" in part or "thoughtSignature" in part):
        return "Thoughts are the model's"
    return None


def _blob(blob: Body) -> str | None:
    if blob.get("mimeType") not in MEDIA:
        return f"Unsupported MIME type: {blob.get('mimeType')}"
    return None if is_base64(blob.get("data", "")) else "Base64 decoding failed"


def is_base64(text: str) -> bool:
    try:
        return bool(urlsafe_b64decode(text.replace("+", "-").replace("/", "_")))
    except (Error, ValueError):
        return False


def _pairs(body: Body) -> str | None:
    contents = body["contents"]
    for before, content in zip([{"parts": []}, *contents], contents, strict=False):
        asked = [part["functionCall"] for part in before["parts"] if "functionCall" in part]
        found = ["functionResponse" in part for part in content["parts"]]
        answers = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
        if len(asked) != len(answers):
            return (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        if not all(found[: len(answers)]):
            return "Function responses must come first"
        for call, answer in zip(asked, answers, strict=True):
            if (call["name"], call.get("id")) != (answer["name"], answer.get("id")):
                return f"Function response {answer['name']!r} answers {call['name']!r}"
        ids = [call.get("id") for call in asked]
        if len(set(ids)) != len(ids) or "" in ids:
            return "Function calls have the same id"
    return None


def _tools(body: Body) -> str | None:
    declared = [one for tool in body.get("tools", ()) for one in tool["functionDeclarations"]]
    names = [one.get("name", "") for one in declared]
    if "tools" in body and not names:
        return "tools[0].function_declarations: must not be empty"
    if len(set(names)) != len(names):
        return "Duplicate function declaration found"
    for one in declared:
        if not NAME.fullmatch(one.get("name", "")):
            return f"Invalid function name {one.get('name')!r}. Must start with a letter or _"
        if one.get("parametersJsonSchema", {"type": "object"}).get("type") != "object":
            return "parameters schema should be of type OBJECT"
    mode = body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode", "AUTO")
    if mode not in ("AUTO", "ANY", "NONE", "VALIDATED"):
        return f"Invalid value at 'tool_config.mode', {mode!r}"
    if "toolConfig" in body and not names:
        return "Function calling config is set without function_declarations."
    return None


def _settings(body: Body, version: tuple[int, int]) -> str | None:
    given = body.get("generationConfig", {})
    if not 1 <= given.get("maxOutputTokens", 1) <= MOST_TOKENS:
        return f"max_output_tokens must be in the range from 1 (inclusive) to {MOST_TOKENS + 1}"
    thinking = given.get("thinkingConfig", {})
    if thinking and version < (2, 5):
        return "Thinking is not enabled for this model"
    if {"thinkingLevel", "thinkingBudget"} <= thinking.keys():
        return "You can only set one of thinking budget and thinking level."
    if "thinkingLevel" in thinking:
        level = thinking["thinkingLevel"]
        if version < (3, 0) or level not in ("LOW", "MEDIUM", "HIGH"):
            return f"Thinking level {level} is not supported for this model."
    answers = [p["functionResponse"] for c in body["contents"] for p in c["parts"] if len(p) == 1
               and "functionResponse" in p]  # fmt: skip
    if version < (3, 0) and any("parts" in answer for answer in answers):
        return "Multimodal function response is not supported for this model."
    return None


def _alike(issued: Body, part: Body) -> bool:
    """Whether a part came back as it went out, but for the id of a call that had none."""
    given = part.get("functionCall", {})
    if "functionCall" in issued and "id" not in issued["functionCall"]:
        part = {**part, "functionCall": {key: given[key] for key in given if key != "id"}}
    return issued == part


def _signed(body: Body, version: tuple[int, int], issued: dict[str, Body]) -> str | None:
    contents = body["contents"]
    for content in contents:
        for part in content["parts"]:
            signature = part.get("thoughtSignature")
            if signature is None or signature in UNCHECKED:
                continue
            if not is_base64(signature) or signature not in issued:
                return "Corrupted thought signature."
            if not _alike(issued[signature], part):
                return f"Thought signature of another part: {issued[signature]} is now {part}"
    if version < (3, 0):
        return None
    # The turn begins at the newest message that is not results alone.
    plain = [all("functionResponse" not in part for part in c["parts"]) for c in contents]
    begins = max(at for at, c in enumerate(contents) if c["role"] == "user" and plain[at])
    for at, content in enumerate(contents[begins:], begins):
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            name = calls[0]["functionCall"]["name"]
            place = f"in the `{at}.` content block"
            return f"Function call `{name}` {place} is missing a `thought_signature`."
    return None
