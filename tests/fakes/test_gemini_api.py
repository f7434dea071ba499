"""The fake Gemini API refuses what the real one refuses; each body here has one fault."""

from copy import deepcopy
from typing import Any

import pytest

from tests.fakes.gemini_validation import UNCHECKED, refusal

CALL: dict[str, Any] = {
    "functionCall": {"id": "c1", "name": "look", "args": {}},
    "thoughtSignature": "Zm9v",
}
RESULT: dict[str, Any] = {
    "functionResponse": {"id": "c1", "name": "look", "response": {"output": "x"}}
}
ISSUED = {"Zm9v": CALL}


def body() -> dict[str, Any]:
    declared = {"name": "look", "description": "", "parametersJsonSchema": {"type": "object"}}
    return deepcopy(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [{"text": "so"}, CALL]},
                {"role": "user", "parts": [RESULT]},
            ],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [declared]}],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": True}},
        }
    )


FAULTS: dict[str, tuple[list[Any], Any, str]] = {
    "no contents": (["contents"], [], "contents is not specified"),
    "no parts": (["contents", 0, "parts"], [], "must not be empty"),
    "another role": (["contents", 0, "role"], "assistant", "valid role"),
    "two of one role": (["contents", 1, "role"], "user", "alternate"),
    "the model first": (["contents", 0, "role"], "model", "begin and end with a user"),
    "an unknown field": (["store"], True, 'Unknown name "store"'),
    "an unknown field of a part": (["contents", 0, "parts", 0, "type"], "text", 'name "type"'),
    "another type": (["generationConfig", "maxOutputTokens"], "9", "Invalid value"),
    "empty text": (["contents", 0, "parts", 0, "text"], "", "required oneof"),
    "two kinds of data": (["contents", 1, "parts", 1, "text"], "x", "already set"),
    "a user's call": (["contents", 0, "parts", 0], CALL, "can't contain 'functionCall'"),
    "a model's result": (["contents", 1, "parts", 0], RESULT, "can't contain 'functionResponse'"),
    "no answer": (["contents", 2, "parts"], [{"text": "x"}], "number of function response parts"),
    "two answers": (["contents", 2, "parts"], [RESULT, RESULT], "number of function response"),
    "text before": (["contents", 2, "parts"], [{"text": "x"}, RESULT], "come first"),
    "another name": (["contents", 2, "parts", 0, "functionResponse", "name"], "x", "answers"),
    "another id": (["contents", 2, "parts", 0, "functionResponse", "id"], "x", "answers"),
    "text as response": (
        ["contents", 2, "parts", 0, "functionResponse", "response"], "x", "Invalid value"),
    "two calls of one id": (["contents", 1, "parts"], [CALL, CALL], "number of function"),
    "no signature": (["contents", 1, "parts", 1, "thoughtSignature"], None, "is missing a"),
    "a signature of nobody": (["contents", 1, "parts", 1, "thoughtSignature"], "YmFy", "Corrupted"),
    "on another part": (
        ["contents", 1, "parts", 0], {"text": "so", "thoughtSignature": "Zm9v"}, "another part"),
    "a picture that it cannot read": (
        ["contents", 0, "parts", 0], {"inlineData": {"mimeType": "image/gif", "data": "AAAA"}},
        "Unsupported MIME type"),
    "no base64": (
        ["contents", 0, "parts", 0], {"inlineData": {"mimeType": "image/png", "data": "A"}},
        "Base64 decoding failed"),
    "a tool's name": (
        ["tools", 0, "functionDeclarations", 0, "name"], "7zip", "Invalid function name"),
    "no tools": (["tools", 0, "functionDeclarations"], [], "must not be empty"),
    "no object": (
        ["tools", 0, "functionDeclarations", 0, "parametersJsonSchema"], {"type": "array"},
        "of type OBJECT"),
    "a mode": (["toolConfig", "functionCallingConfig", "mode"], "auto", "tool_config.mode"),
    "no tokens": (["generationConfig", "maxOutputTokens"], 0, "max_output_tokens"),
    "a level": (["generationConfig", "thinkingConfig"], {"thinkingLevel": "low"}, "not supported"),
    "level and budget": (
        ["generationConfig", "thinkingConfig"], {"thinkingLevel": "LOW", "thinkingBudget": 9},
        "only set one"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused(name: str) -> None:
    place, value, reason = FAULTS[name]
    faulty = body()
    inner: Any = faulty
    for key in place[:-1]:
        inner = inner[key]
    if value is None:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    assert reason in (refusal("gemini-3.1-pro", faulty, ISSUED) or "")


@pytest.mark.parametrize("model", ["gemini-3.1-pro", "gemini-2.5-pro"])
def test_what_is_right_is_taken(model: str) -> None:
    assert refusal(model, body(), ISSUED) is None


def test_older_models_take_less() -> None:
    media = body()
    blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    media["contents"][2]["parts"][0]["functionResponse"]["parts"] = [blob]
    assert refusal("gemini-3.1-pro", media, ISSUED) is None
    assert "Multimodal" in (refusal("gemini-2.5-pro", media, ISSUED) or "")
    assert "Thinking is not" in (refusal("gemini-2.0-flash", body(), ISSUED) or "")


def test_signatures_of_former_turns_may_be_missing_and_the_apis_own_words_do() -> None:
    old, said = body(), body()
    del old["contents"][1]["parts"][1]["thoughtSignature"]
    old["contents"] += [{"role": "model", "parts": [{"text": "so"}]}, old["contents"][0]]
    assert refusal("gemini-3.1-pro", old, ISSUED) is None
    for word in UNCHECKED:
        said["contents"][1]["parts"][1]["thoughtSignature"] = word
        assert refusal("gemini-3.1-pro", said, ISSUED) is None
