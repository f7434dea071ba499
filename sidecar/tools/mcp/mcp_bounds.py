"""Limits on foreign tools, whose definitions go out with every request.

A server, or the client, may take a third of 128k tokens.
"""

import json
from typing import Final

from sidecar.core.parts import JsonObject
from sidecar.core.text.json_text import is_deep

MOST_TOOLS: Final = 128
"""Of one MCP server, or of a client."""
MOST_DESCRIPTION: Final = 4_000
"""Characters of a tool's description."""
MOST_SCHEMA: Final = 16 * 1024
"""Characters of the JSON schema of a tool's input."""
MOST_OF_ALL: Final = 128 * 1024
"""Characters of all descriptions and schemas together."""


def schema_size(schema: JsonObject) -> int:
    """As JSON; beyond any limit if nested too deep."""
    return MOST_OF_ALL + 1 if is_deep(schema) else len(json.dumps(schema, ensure_ascii=False))
