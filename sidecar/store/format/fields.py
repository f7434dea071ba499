"""The fields of a stored body, each read with the type it must have. Pure."""

import json
from dataclasses import dataclass
from typing import TypeVar

from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import TooMuch, check_inner

Choice = TypeVar("Choice", bound=str)


class BodyBroken(Exception):
    """A stored body cannot be read; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What a body holds.

    A missing field gives the default, where there is one; unknown fields are never looked at.
    Everything else that is not as expected raises BodyBroken.
    """

    content: dict[str, object]

    def text(self, key: str, default: str | None = None) -> str:
        """Give a string."""
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise _broken(key, "text")
        return value

    def text_or_none(self, key: str) -> str | None:
        """Give a string, or `None` where it is absent or nil."""
        return None if self.content.get(key) is None else self.text(key)

    def number(self, key: str, default: int | None = None) -> int:
        """Give an integer."""
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _broken(key, "a whole number")
        return value

    def choice(self, key: str, options: tuple[Choice, ...]) -> Choice:
        """Give a string that must be one of some."""
        value = self.text(key)
        for option in options:
            if option == value:
                return option
        raise _broken(key, f"one of {', '.join(options)}")

    def opaque(self, key: str) -> Json:
        """Give opaque JSON, which stands here as its text."""
        text = self.text(key)
        try:
            check_inner(text)
            value: Json = json.loads(text)
        except TooMuch as error:
            raise BodyBroken(f"{key}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise _broken(key, "JSON") from error
        return value

    def opaque_object(self, key: str) -> JsonObject:
        """Give an opaque JSON object; an empty one where it is absent."""
        if key not in self.content:
            return {}
        value = self.opaque(key)
        if not isinstance(value, dict):
            raise _broken(key, "a JSON object")
        return value

    def inner(self, key: str) -> "Fields":
        """Give fields within the fields."""
        return fields_of(self.content.get(key))

    def inner_or_none(self, key: str) -> "Fields | None":
        """Give fields within the fields, or `None` where they are absent or nil."""
        return None if self.content.get(key) is None else self.inner(key)

    def many(self, key: str) -> "list[Fields]":
        """Give a list of fields; an empty one where it is absent."""
        value = self.content.get(key, [])
        if not isinstance(value, list):
            raise _broken(key, "a list")
        return [fields_of(item) for item in value]


def fields_of(content: object) -> Fields:
    """Take unpacked content as fields; raises BodyBroken when it is anything else."""
    if not isinstance(content, dict):
        raise BodyBroken(f"expected fields, found {type(content).__name__}")
    return Fields(content)


def _broken(key: str, expected: str) -> BodyBroken:
    return BodyBroken(f"field {key!r} should be {expected}")
