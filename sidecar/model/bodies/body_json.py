"""Writes a request's JSON: equal values become equal bytes."""

import json

from sidecar.core.parts import Json, JsonObject

NOTHING = "(no output)"
"""For no text: the Messages API and Gemini's refuse empty blocks, local servers empty results."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
"""As the SDKs write a body."""


def json_bytes(value: Json) -> bytes:
    """Raises ValueError for a number that JSON lacks."""
    return _JSON.encode(value).encode()


def replaced_bytes(value: Json) -> bytes:
    """Writes as `json_bytes`, with lone surrogates replaced."""
    return _JSON.encode(value).encode("utf-8", "replace")


def sendable_json(block: JsonObject) -> JsonObject:
    """Replaces lone surrogates, which JSON over HTTP refuses."""
    if all(map(_is_text, block.values())):
        return block
    return {key: _replaced(inner) for key, inner in block.items()}


def _is_text(value: Json) -> bool:
    """Whether no string holds a lone surrogate. `msgspec` would make each text keep its UTF-8."""
    match value:
        case str():
            return value.isascii() or _is_encodable(value)
        case list():
            return all(map(_is_text, value))
        case dict():
            return all(map(_is_text, value)) and all(map(_is_text, value.values()))
        case _:
            return True


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _replaced(value: Json) -> Json:
    match value:
        case str():
            return _text(value)
        case list():
            return [_replaced(inner) for inner in value]
        case dict():
            return {_text(key): _replaced(inner) for key, inner in value.items()}
        case _:
            return value


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
