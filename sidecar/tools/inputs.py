"""Reads a call's input, with errors for the model. Unknown keys are ignored."""

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import kind

_FILE_TEXTS = ("content", "oldText", "newText")


def as_object(value: Json) -> JsonObject:
    """Raises BadRequest."""
    if not isinstance(value, dict):
        raise BadRequest(f"The input must be an object, not {kind(value)}.", "input")
    return value


def check(schema: JsonObject, given: JsonObject) -> None:
    """Raises BadRequest for a missing key or wrong type."""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    for key, wanted in (properties if isinstance(properties, dict) else {}).items():
        if key in needed and given.get(key) is None:
            raise BadRequest(f"`{key}` is missing.", f"input.{key}")
        match wanted:
            case {"type": "string"}:
                found = optional_text(given, key)
                if found and "\0" in found and key not in _FILE_TEXTS:
                    raise BadRequest(f"`{key}` has a NUL byte in it.", f"input.{key}")
            case {"type": "integer", "minimum": int(least)}:
                whole(given, key, least=least)
            case {"type": "boolean"}:
                flag(given, key)
            case _:
                continue


def text(given: JsonObject, key: str) -> str:
    """A required string; raises BadRequest."""
    found = optional_text(given, key)
    if found is None:
        raise BadRequest(f"`{key}` is missing.", f"input.{key}")
    return found


def optional_text(given: JsonObject, key: str) -> str | None:
    """`None` when absent or null; raises BadRequest."""
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"`{key}` must be a string, not {kind(value)}.", f"input.{key}")
    if value is not None and not is_unicode(value):
        raise BadRequest(f"`{key}` is not valid Unicode: it has half of a pair.", f"input.{key}")
    return value


def whole(given: JsonObject, key: str, *, least: int = 0) -> int | None:
    """`10.0` is 10; `None` when absent or null; raises BadRequest."""
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadRequest(f"`{key}` must be a whole number, not {kind(value)}.", f"input.{key}")
    if value < least:
        raise BadRequest(f"`{key}` must be at least {least}, not {value}.", f"input.{key}")
    return value


def flag(given: JsonObject, key: str) -> bool:
    """False when absent or null; raises BadRequest."""
    value = given.get(key)
    if value is not None and not isinstance(value, bool):
        raise BadRequest(f"`{key}` must be true or false, not {kind(value)}.", f"input.{key}")
    return value is True


def is_unicode(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
