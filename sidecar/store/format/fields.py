"""Typed access to a stored body's fields."""

import json
from typing import TypeVar

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import TooMuch, check_inner

Choice = TypeVar("Choice", bound=str)


class BodyBroken(Exception):
    """A stored body cannot be read."""

    @classmethod
    def unknown(cls, what: str) -> "BodyBroken":
        return cls(f"unknown {what}; a newer Sidecar may read it")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a stored body; unknown ones are ignored.

    Methods raise BodyBroken for a wrong type, or a missing field without default.
    """

    content: dict[str, object]

    def text(self, key: str, default: str | None = None) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise _broken(key, "text")
        return value

    def text_or_none(self, key: str) -> str | None:
        return None if self.content.get(key) is None else self.text(key)

    def number(self, key: str, default: int | None = None) -> int:
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _broken(key, "a whole number")
        return value

    def choice(self, key: str, options: tuple[Choice, ...]) -> Choice:
        value = self.text(key)
        for option in options:
            if option == value:
                return option
        raise _broken(key, f"one of {', '.join(options)}")

    def opaque(self, key: str) -> Json:
        text = self.text(key)
        if text == "{}":
            return {}
        try:
            check_inner(text)
            value: Json = json.loads(text)
        except TooMuch as error:
            raise BodyBroken(f"{key}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise _broken(key, "JSON") from error
        return value

    def opaque_object(self, key: str) -> JsonObject:
        """Of JSON text; `{}` if absent."""
        if key not in self.content:
            return {}
        value = self.opaque(key)
        if not isinstance(value, dict):
            raise _broken(key, "a JSON object")
        return value

    def inner(self, key: str) -> "Fields":
        return fields_of(self.content.get(key))

    def inner_or_none(self, key: str) -> "Fields | None":
        return None if self.content.get(key) is None else self.inner(key)

    def many(self, key: str) -> "list[Fields]":
        """`[]` if absent."""
        value = self.content.get(key, [])
        if not isinstance(value, list):
            raise _broken(key, "a list")
        return [fields_of(item) for item in value]


def fields_of(content: object) -> Fields:
    if not isinstance(content, dict):
        raise BodyBroken(f"expected fields, found {type(content).__name__}")
    return Fields(content)


def _broken(key: str, expected: str) -> BodyBroken:
    return BodyBroken(f"field {key!r} should be {expected}")
