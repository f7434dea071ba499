"""Reads and writes JSON without NaN and infinities, which editors and providers refuse."""

import json
import math
import re
from ast import literal_eval
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from sidecar.core.parts import Json

DEEPEST: Final = 100
"""Nesting; more would overflow the stack of whoever walks it."""
MOST_INNER: Final = 1_000_000
"""Lists and objects in one text. An empty one takes three letters, and seventy bytes of memory."""
MOST_DIGITS: Final = 14
"""Digits of a number that Neovim writes; JavaScript reads some fifteen."""
FAULTS: Final = 100
"""Unreadable objects of a reply, after which no more are expected."""
_SHOWN = 20
_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "a boolean"),
    (int, "a number"),
    (float, "a number"),
    (str, "a string"),
    (list, "an array"),
    (dict, "an object"),
)
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_PYTHON_ESCAPE = re.compile(r"""\\(["'\\bfnrt]|u[0-9a-fA-F]{4})?""")
_TRAILING_COMMA = re.compile(r",\s*([}\]])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.S)


def to_json(value: Json) -> str:
    """Writes compact JSON in dict order.

    Escapes are minimal: escaped lone surrogates would come back joined.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def legible_numbers(value: Json) -> Json:
    """Gives numbers of over `MOST_DIGITS` as text: editors read them as others, and show those."""
    match value:
        case bool():
            return value
        case int() | float() if len(_digits(value)) > MOST_DIGITS:
            return str(value)
        case list():
            return [legible_numbers(one) for one in value]
        case dict():
            return {name: legible_numbers(one) for name, one in value.items()}
        case _:
            return value


def _digits(number: float) -> str:
    return re.sub(r"e.*|\D", "", str(number)).lstrip("0")


class TooMuch(ValueError):
    """Parsed JSON would take many times the memory of its text."""


class TooDeep(ValueError):
    """The JSON is nested too deep for Python's reader."""


def escapes_mended(text: str, known: re.Pattern[str] = _ESCAPE) -> str:
    return known.sub(lambda found: found[0] if found[1] else "\\\\", text)


def without_trailing_commas(text: str) -> str:
    return _TRAILING_COMMA.sub(r"\1", text)


def read_object(text: str) -> dict[object, object] | None:
    """Reads JSON or a Python literal; `None` for anything but an object."""
    for read_it in (_as_json, _as_python):
        value = read_it(text)
        if isinstance(value, dict):
            return value
    return None


def read(text: str | bytes) -> Json:
    """Reads JSON; integers keep their size.

    Raises ValueError for invalid JSON, NaN, an infinity or too large a number; TooMuch over
    `MOST_INNER` lists and objects; TooDeep.
    """
    return _loaded(text, _refuse, _finite)


def read_all(text: str | bytes) -> Json:
    """Reads NaN and infinities as null, and raises as `read` for the rest."""
    return _loaded(text, _nothing, _finite_or_none)


def check_inner(text: str | bytes) -> None:
    """Raises `TooMuch` before parsing too many lists and objects."""
    if len(text) <= MOST_INNER:
        return
    if isinstance(text, bytes):
        if text.count(b"[") + text.count(b"{") > MOST_INNER:
            check_inner(text.decode("utf-8", "replace"))
    elif text.count("[") + text.count("{") > MOST_INNER:
        # Brackets in strings are no lists: a tool may have printed millions.
        bare = _STRING.sub("", text)
        if bare.count("[") + bare.count("{") > MOST_INNER:
            raise TooMuch(f"it has more than {MOST_INNER} lists and objects")


def is_deep(value: Json) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [child for one in inner for child in one if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def shallow(value: Json, left: int = DEEPEST) -> Json:
    """Replaces lists and objects inside `left` others by an ellipsis."""
    if not isinstance(value, dict | list):
        return value
    if left <= 0:
        return "…"
    if isinstance(value, dict):
        return {key: shallow(inner, left - 1) for key, inner in value.items()}
    return [shallow(inner, left - 1) for inner in value]


def plain(value: Json) -> Json:
    """Replaces NaN and infinities by null; recursive, so check `is_deep` first."""
    match value:
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def strings(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from strings(inner)
        case list():
            for inner in value:
                yield from strings(inner)
        case _:
            pass


def kind(value: Json) -> str:
    return next((name for found, name in _NAMES if isinstance(value, found)), "null")


def _as_json(text: str) -> object:
    try:
        return json.loads(escapes_mended(text), strict=False)
    except (ValueError, RecursionError):
        return None


def _as_python(text: str) -> object:
    try:
        return literal_eval(escapes_mended(text, _PYTHON_ESCAPE))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _loaded(
    text: str | bytes, constant: Callable[[str], None], number: Callable[[str], float | None]
) -> Json:
    check_inner(text)
    try:
        value: Json = json.loads(text, parse_constant=constant, parse_float=number)
    except RecursionError:
        raise TooDeep("it is nested too deep") from None
    return value


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"{number[:_SHOWN]} is too large a number")
    return value


def _finite_or_none(number: str) -> float | None:
    value = float(number)
    return None if math.isinf(value) else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _nothing(_: str) -> None:
    return None
