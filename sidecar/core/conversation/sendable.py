"""What a provider takes back of a tool call: its id, its name and its input. Pure.

Models and recordings give any text as a name or an id, and any JSON as an input. Sent again as it
came, it has every later request refused.
"""

import re
from typing import Final

from sidecar.core.parts import Json, JsonObject, ToolPart
from sidecar.core.text.digest import digest

MOST_NAME: Final = 64
"""Characters of a tool's name, and of a call's id, that every provider takes."""
UNNAMED: Final = "tool"
_ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{MOST_NAME}}}")
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_DIGITS = 24


def is_id(text: str) -> bool:
    """Whether this can be a call's id."""
    return _ID.fullmatch(text) is not None


def call_id(part: ToolPart) -> str:
    """Give the id under which a logged call is sent: its own, or one made from it."""
    if is_id(part.call_id):
        return part.call_id
    made = digest(f"{part.id}\n{part.call_id}".encode("utf-8", "surrogatepass"))
    return f"call_{made[-_DIGITS:]}"


def tool_name(name: str) -> str:
    """Give a tool's name with only what providers take; blanks around it are no part of it."""
    return plain(name.strip())[:MOST_NAME] or UNNAMED


def plain(text: str) -> str:
    """Give a text with `_` for each letter that providers do not take in names and ids."""
    return _NO_NAME.sub("_", text)


def tool_input(value: Json) -> JsonObject:
    """Give an input as an object: itself, or `{"input": value}`; nothing is an empty one."""
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}
