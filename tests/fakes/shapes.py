"""Checks of JSON's shape: unknown and missing fields, names, ids, data URLs, tools."""

import binascii
import json
import re
from base64 import b64decode
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
Body = dict[str, Any]


class Refused(Exception):
    """The API would answer 400."""


def demand(holds: object, reason: str) -> None:
    if not holds:
        raise Refused(reason)


def fields(value: Any, where: str, needed: dict[str, Any], more: dict[str, Any]) -> Body:
    """Demand an object with these fields and no others, of these types."""
    demand(isinstance(value, dict), f"{where}: an object is required")
    for name, kind in needed.items():
        demand(name in value, f"Missing required parameter: '{where}.{name}'")
        demand(isinstance(value[name], kind), f"Invalid type for '{where}.{name}'")
    for name, given in value.items():
        demand(name in needed or name in more, f"Unknown parameter: '{where}.{name}'")
        if name in more:
            demand(isinstance(given, more[name]), f"Invalid type for '{where}.{name}'")
    return value


def data_url(text: str, where: str, kinds: tuple[str, ...]) -> None:
    found = re.fullmatch(r"data:([a-z/+-]+);base64,(.+)", text)
    demand(found and found[1] in kinds, f"Invalid '{where}': unsupported data URL")
    try:
        b64decode(found[2] if found else "", validate=True)
    except binascii.Error:
        raise Refused(f"Invalid '{where}': no base64") from None


def function(made: Body, where: str) -> str:
    """Check a function's declaration and give its name."""
    demand(NAME.fullmatch(made["name"]), f"Invalid '{where}.name'")
    schema = made["parameters"]
    demand(schema.get("type") == "object", f"Invalid schema for function '{made['name']}'")
    demand("properties" in schema, f"{made['name']}: object schema missing properties")
    odd = {"anyOf", "oneOf", "allOf", "not", "enum"} & set(schema)
    demand(not odd, f"{made['name']}: schema must not have {odd} at the top level")
    return str(made["name"])


def arguments(text: str, where: str) -> None:
    try:
        demand(isinstance(json.loads(text), dict), f"Invalid '{where}': no object")
    except ValueError:
        raise Refused(f"Invalid '{where}': no JSON") from None
