"""JSON text as everybody reads it. Pure.

Python's reader takes and gives NaN and infinities, which are no JSON: whoever gets them later, an
editor or a provider, refuses the whole message.
"""

import json
import math
from typing import Final, NoReturn

from sidecar.core.parts import Json

DEEPEST: Final = 100
"""Lists and objects within one another; more would overflow the stack of whoever walks them."""
_SHOWN = 20


class TooDeep(ValueError):
    """JSON is nested so deep that Python's reader gives up."""


def read(text: str | bytes) -> Json:
    """Read one JSON value; integers keep their size.

    Raises:
        ValueError: it is none, or has a number that JSON cannot say or that is too large.
    """
    try:
        value: Json = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise TooDeep("it is nested too deep") from None
    return value


def read_all(text: str | bytes) -> Json:
    """Read one JSON value that was taken before; a number that JSON cannot say is null.

    Raises:
        ValueError: it is none.
    """
    try:
        value: Json = json.loads(text, parse_constant=_nothing, parse_float=_finite_or_none)
    except RecursionError:
        raise TooDeep("it is nested too deep") from None
    return value


def is_deep(value: Json) -> bool:
    """Whether a value is nested deeper than is taken."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [child for one in inner for child in one if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def plain(value: Json) -> Json:
    """Give a value that is not deep as JSON can say it: null for a number that it cannot."""
    match value:
        case dict():
            return {key: plain(inner) for key, inner in value.items()}
        case list():
            return [plain(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
        case _:
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
