"""Makes a call's id, name and input acceptable to providers."""

import re
from typing import Final

from sidecar.core.parts import Json, JsonObject, ToolPart
from sidecar.core.text.digest import digest

MOST_NAME: Final = 64
"""Characters of a tool's name or call's id, for every provider."""
UNNAMED: Final = "tool"
_ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{MOST_NAME}}}")
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_DIGITS = 24


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def call_id(part: ToolPart) -> str:
    if is_id(part.call_id):
        return part.call_id
    made = digest(f"{part.id}\n{part.call_id}".encode("utf-8", "surrogatepass"))
    return f"call_{made[-_DIGITS:]}"


def tool_name(name: str) -> str:
    return plain(name.strip())[:MOST_NAME] or UNNAMED


def plain(text: str) -> str:
    return _NO_NAME.sub("_", text)


def tool_input(value: Json) -> JsonObject:
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}
