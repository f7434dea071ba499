"""Makes tools' schemas acceptable to OpenAI."""

from sidecar.core.parts import JsonObject

_NOT_AT_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum"})


def function_schema(schema: JsonObject) -> JsonObject:
    kept = {key: value for key, value in schema.items() if key not in _NOT_AT_TOP}
    return {**kept, "type": "object", "properties": kept.get("properties", {})}
