"""The TypeScript form: interfaces, unions and a typed map of the methods."""

import json
from collections.abc import Iterable

from protocol.errors import ERRORS
from protocol.methods import METHODS, PROTOCOL_VERSION, Direction, Kind, Method
from protocol.shapes import (
    FAMILIES,
    Alias,
    Closed,
    ListOf,
    MapOf,
    Named,
    OneOf,
    Opaque,
    Open,
    Scalar,
    Shape,
    Type,
    declarations,
)

_SCALARS = {
    "str": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "Any": "unknown",
}

_MAPS: tuple[tuple[str, Kind, Direction, str], ...] = (
    ("DaemonRequests", "request", "clientToDaemon", "Requests that the client sends."),
    (
        "DaemonNotifications",
        "notification",
        "clientToDaemon",
        "Notifications that the client sends.",
    ),
    ("ClientRequests", "request", "daemonToClient", "Requests that the daemon sends."),
    (
        "ClientNotifications",
        "notification",
        "daemonToClient",
        "Notifications that the daemon sends.",
    ),
)


def render() -> str:
    """Give the whole module's text."""
    parts = [
        "// GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT",
        f"export const PROTOCOL_VERSION = {PROTOCOL_VERSION};",
    ]
    for family in FAMILIES:
        doc = (family.__doc__ or "").strip().splitlines()[0]
        parts.append(f"// --- {doc}")
        for declared in declarations(family):
            match declared:
                case Type():
                    parts.append(_interface(declared))
                case Alias(name, shape):
                    parts.append(f"export type {name} = {expression(shape)};")
    parts += [_map(*entry) for entry in _MAPS]
    parts.append(_errors())
    return "\n\n".join(parts) + "\n"


def expression(shape: Shape) -> str:
    """Write a shape as a TypeScript type."""
    match shape:
        case Scalar(name):
            return _SCALARS[name]
        case Named(name):
            return name
        case Closed(values):
            return " | ".join(json.dumps(v) for v in values)
        case Open(values):
            return " | ".join([*(json.dumps(v) for v in values), "(string & {})"])
        case ListOf(Named(name) | Scalar(name) as item):
            return f"{expression(item)}[]"
        case ListOf(item):
            return f"Array<{expression(item)}>"
        case MapOf(item):
            return f"Record<string, {expression(item)}>"
        case Opaque():
            return "Record<string, unknown>"
        case OneOf(options):
            return " | ".join(expression(option) for option in options)


def _interface(declared: Type) -> str:
    lines = [
        f"  {f.name}{'' if f.required else '?'}: {expression(f.shape)};" for f in declared.fields
    ]
    if declared.tag is not None:
        field, value = declared.tag
        lines.insert(0, f"  {field}: {json.dumps(value)};")
    head = f"{_comment(declared.doc)}\nexport "
    if not lines:
        return f"{head}type {declared.name} = Record<string, never>;"
    return "\n".join([f"{head}interface {declared.name} {{", *lines, "}"])


def _comment(doc: str, indent: str = "") -> str:
    lines = [line.strip() for line in doc.strip().splitlines()]
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */"
    body = [f"{indent} * {line}".rstrip() for line in lines]
    return "\n".join([f"{indent}/**", *body, f"{indent} */"])


def _map(name: str, kind: Kind, direction: Direction, doc: str) -> str:
    lines = [_comment(doc), f"export interface {name} {{"]
    for method in _chosen(kind, direction):
        note = method.doc if method.available else f"{method.doc} Not built yet."
        result = "" if method.result is None else f"; result: {method.result.__name__}"
        lines.append(_comment(note, "  "))
        lines.append(
            f"  {json.dumps(method.name)}: {{ params: {method.params.__name__}{result} }};"
        )
    return "\n".join([*lines, "}"])


def _chosen(kind: Kind, direction: Direction) -> Iterable[Method]:
    return (m for m in METHODS.values() if m.kind == kind and m.direction == direction)


def _errors() -> str:
    lines = [_comment("Codes of JSON-RPC errors, with what `data.kind` can be.")]
    lines.append("export const ERRORS = {")
    for error in ERRORS.values():
        lines.append(_comment(f"{error.meaning} {error.remedy}", "  "))
        lines.append(f'  "{error.code}": {json.dumps(list(error.kinds))},')
    return "\n".join([*lines, "} as const;"])
