"""The JSON forms: JSON Schema of all types, and the tables of methods and errors."""

import json
from typing import Any

import msgspec

from protocol import shapes
from protocol.errors import ERRORS
from protocol.methods import COMMON_ERRORS, METHODS, PROTOCOL_VERSION

_REF = "#/$defs/{name}"


def schema() -> str:
    """Give the JSON Schema of every type, under `$defs`."""
    _, components = msgspec.json.schema_components(shapes.structs(), ref_template=_REF)
    return pretty(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Sidecar protocol, version {PROTOCOL_VERSION}",
            "$comment": "GENERATED from protocol/source by protocol/generate.py -- DO NOT EDIT",
            "$defs": dict(sorted(components.items())),
        }
    )


def methods() -> str:
    """Give the table of methods and of errors; types are references into `schema.json`."""
    return pretty(
        {
            "$comment": "GENERATED from protocol/methods.py by protocol/generate.py -- DO NOT EDIT",
            "protocolVersion": PROTOCOL_VERSION,
            "commonErrors": list(COMMON_ERRORS),
            "methods": [
                {
                    "name": method.name,
                    "kind": method.kind,
                    "direction": method.direction,
                    "params": _reference(method.params),
                    "result": None if method.result is None else _reference(method.result),
                    "errors": list(method.errors),
                    "available": method.available,
                    "since": method.since,
                    "doc": method.doc,
                }
                for method in METHODS.values()
            ],
            "errors": [
                {
                    "code": error.code,
                    "kinds": list(error.kinds),
                    "meaning": error.meaning,
                    "remedy": error.remedy,
                    "data": ["kind", *error.data],
                }
                for error in ERRORS.values()
            ],
        }
    )


def pretty(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Write JSON for people and for comparing byte for byte."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _reference(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"schema.json{_REF.format(name=struct.__name__)}"}
