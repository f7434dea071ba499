"""Reads values of an answer; nothing here raises, whatever servers send."""

from sys import intern

from sidecar.core.parts import MOST_COUNT, Json, JsonObject
from sidecar.core.text.json_text import is_deep, plain, read

PER_BLOCK = 128
PER_VALUE = 8
"""Bytes per block and value: writing one takes tokens, keeping takes memory."""
LONGEST_STOP = 64
"""Characters of a stop reason."""


def json_object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def kept(block: JsonObject) -> JsonObject:
    """Empty if nested too deep to be stored and sent back."""
    return {} if is_deep(block) else json_object(plain(block))


def count(value: Json, otherwise: int) -> int:
    """Returns a number of tokens."""
    if not isinstance(value, int) or isinstance(value, bool):
        return otherwise
    return value if 0 <= value <= MOST_COUNT else otherwise


def input_of(raw: str) -> tuple[Json, str]:
    """Parses a call's input; returns the input and, if there is none, the problem."""
    try:
        given = read(raw)
    except ValueError as error:
        return None, f"it is not valid JSON: {error}"
    if is_deep(given):
        return None, "it is nested too deep"
    if isinstance(given, dict):
        given = {intern(name): value for name, value in given.items()}
    return given, ""


def size_of(value: Json) -> int:
    """Returns bytes."""
    total, waiting = 0, [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                odd = not text.isascii()
                total += len(text.encode("utf-8", "surrogatepass")) if odd else len(text)
            case dict() as inner:
                waiting.extend(inner.values())
            case list() as inner:
                waiting.extend(inner)
            case _:
                total += PER_VALUE
    return total
