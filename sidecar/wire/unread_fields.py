"""Warns of unknown fields."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import get_args

import msgspec

from sidecar.core.parts import Json
from sidecar.core.text.visible import clipped

MOST_AT_ONCE = 10
"""Unknown fields examined per object."""
LONGEST = 60
"""Characters shown of a field's name."""


def unread(method: str, params: Json, shape: object) -> Iterator[str]:
    """Warns of unknown fields of `params` and inner objects, with closest known names.

    Except names with a leading `_`, and objects of no fixed shape.
    """
    known = _fields(shape)
    if not known or not isinstance(params, dict):
        return
    unknown = (key for key in params.keys() - known.keys() if not key.startswith("_"))
    for key in sorted(islice(unknown, MOST_AT_ONCE)):
        yield _told(method, key[: LONGEST + 1], shape)
    for key, inner in known.items():
        if inner is not None and key in params:
            value = params[key]
            for each in value[:MOST_AT_ONCE] if isinstance(value, list) else (value,):
                yield from unread(f"{method}: {key}", each, inner)


@lru_cache(maxsize=256)
def _told(method: str, key: str, shape: object) -> str:
    shown = clipped(key, LONGEST)
    near = get_close_matches(key, _fields(shape), n=1)
    meant = f" Did you mean `{near[0]}`?" if near else ""
    return f"{method}: {shown!r} is no field of it and is ignored.{meant}"


@lru_cache
def _fields(shape: object) -> Mapping[str, type[msgspec.Struct] | None]:
    if not isinstance(shape, type) or not issubclass(shape, msgspec.Struct):
        return {}
    fields = msgspec.structs.fields(shape)
    return {field.encode_name: next(_structs(field.type), None) for field in fields}


def _structs(held: object) -> Iterator[type[msgspec.Struct]]:
    if isinstance(held, type) and issubclass(held, msgspec.Struct):
        yield held
    # A dictionary's keys are names that others give.
    if getattr(held, "__origin__", None) is not dict:
        for inner in get_args(held):
            yield from _structs(inner)
