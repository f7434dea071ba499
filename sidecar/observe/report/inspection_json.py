"""A session's course as JSON, in camelCase; USD are decimal strings, times ms."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal

from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.budget import REGIONS
from sidecar.core.prompt.pricing import money
from sidecar.observe.report.course import Course, CourseRequest

VERSION = 1
"""Raised when a field changes meaning or goes; fields may be added."""


def as_json(course: Course) -> JsonObject:
    told = {name: _json(getattr(course, name)) for name in Course.__slots__}
    told["requests"] = [_request(one) for one in course.requests]
    told["messages"], told["parts"] = dict(course.messages), dict(course.parts)
    told["changes"] = [{**_fields(one), "leftOut": dict(one.left_out)} for one in course.changes]
    return {"version": VERSION, **told}


def _request(request: CourseRequest) -> JsonObject:
    return {
        **_fields(request),
        "regions": dict(zip(REGIONS, request.regions, strict=True)),
        "miss": None
        if request.miss is None
        else {"segment": request.miss[0], "reason": request.miss[1]},
    }


def _fields(value: object) -> JsonObject:
    assert is_dataclass(value)
    return {_camel(one.name): _json(getattr(value, one.name)) for one in fields(value)}


def _json(value: object) -> Json:
    match value:
        case Decimal():
            return money(value)
        case tuple() | list():
            return [_json(one) for one in value]
        case Mapping():
            return {str(key): _json(one) for key, one in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return _fields(value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
