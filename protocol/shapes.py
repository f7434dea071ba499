"""Reads the source's types: which structs and aliases there are, and their fields."""

from dataclasses import dataclass
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import msgspec

from protocol.source import client, context, daemon, history, meter, session, sync, updates

FAMILIES: tuple[ModuleType, ...] = (meter, session, updates, daemon, client, context, history, sync)
"""In the order of their dependencies."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """`str`, `int`, `float`, `bool`, `None`, or `Any` for opaque JSON."""

    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """A struct or an alias, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Closed:
    """One of these strings."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Open:
    """One of these strings today, others later."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    item: "Shape"


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose names are data, and whose values are all alike."""

    item: "Shape"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A JSON object that is passed on as it came."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several shapes."""

    options: tuple["Shape", ...]


Shape: TypeAlias = Scalar | Named | Closed | Open | ListOf | MapOf | Opaque | OneOf


@dataclass(frozen=True, slots=True)
class Field:
    """A field under its name on the wire."""

    name: str
    shape: Shape
    required: bool


@dataclass(frozen=True, slots=True)
class Type:
    """A struct: its fields, and its tag `(field, value)` when it is one of a union's variants."""

    name: str
    doc: str
    tag: tuple[str, str] | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for a shape."""

    name: str
    shape: Shape


def declarations(family: ModuleType) -> list[Type | Alias]:
    """Give what one module of the source declares, in its order."""
    found: list[Type | Alias] = []
    for name, value in vars(family).items():
        if is_struct(value) and value.__module__ == family.__name__:
            found.append(_type(value))
        elif _is_alias(value) and _home(name) is family:
            found.append(Alias(name, _shape(value, skip=name)))
    return found


def structs() -> list[type[msgspec.Struct]]:
    """Give all structs of the source."""
    return [
        value
        for family in FAMILIES
        for value in vars(family).values()
        if is_struct(value) and value.__module__ == family.__name__
    ]


def is_struct(value: object) -> bool:
    """Whether it is a struct of the protocol."""
    return isinstance(value, type) and issubclass(value, msgspec.Struct)


def _type(struct: type[msgspec.Struct]) -> Type:
    config = struct.__struct_config__
    tag = None if config.tag_field is None else (config.tag_field, str(config.tag))
    fields = tuple(
        Field(field.encode_name, _shape(field.type), field.required)
        for field in msgspec.structs.fields(struct)
    )
    return Type(struct.__name__, struct.__doc__ or "", tag, fields)


def _is_alias(value: object) -> bool:
    return get_origin(value) in (Annotated, Literal, Union, UnionType)


def _home(name: str) -> ModuleType:
    return next(family for family in FAMILIES if name in vars(family))


def _alias_of(kind: object) -> str | None:
    for family in FAMILIES:
        for name, value in vars(family).items():
            if _is_alias(value) and value == kind:
                return name
    return None


def _shape(kind: Any, skip: str = "") -> Shape:  # noqa: ANN401 - a type of any form
    name = _alias_of(kind)
    if name is not None and name != skip:
        return Named(name)
    if is_struct(kind):
        return Named(kind.__name__)
    match get_origin(kind):
        case None:
            return Scalar("None" if kind in (None, type(None)) else _scalar(kind))
        case origin if origin is Annotated:
            return Open(tuple(kind.__metadata__[0].examples))
        case origin if origin is Literal:
            return Closed(get_args(kind))
        case origin if origin is list:
            return ListOf(_shape(get_args(kind)[0]))
        case origin if origin is dict:
            value = get_args(kind)[1]
            return Opaque() if value is Any else MapOf(_shape(value))
        case origin if origin in (Union, UnionType):
            options = tuple(_shape(arg) for arg in get_args(kind) if arg is not msgspec.UnsetType)
            return options[0] if len(options) == 1 else OneOf(options)
        case _:
            raise TypeError(f"the protocol has no form for {kind!r}; add one to shapes.py")


def _scalar(kind: Any) -> str:  # noqa: ANN401 - a type of any form
    if kind is Any:
        return "Any"
    if kind in (str, int, float, bool):
        return str(kind.__name__)
    raise TypeError(f"the protocol has no form for {kind!r}; add one to shapes.py")
