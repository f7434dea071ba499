"""Names of MCP servers' tools."""

import re

from sidecar.core.conversation.sendable import MOST_NAME
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.digest import content_hash

MOST_OF_SERVER = 40
"""Characters of a tool's name for its server."""
_HASHED = re.compile(r"_[0-9a-f]{8}$")


def tool_name(server: str, tool: str) -> str:
    begun = server_prefix(server)
    return begun + _plain(tool, MOST_NAME - len(begun))


def server_prefix(server: str) -> str:
    return f"mcp__{_plain(server, MOST_OF_SERVER)}__"


def server_of(spec: ToolSpec) -> str:
    """Empty for other tools."""
    return spec.name.split("__")[1] if spec.origin == "mcp" else ""


def _plain(name: str, most: int) -> str:
    """As providers accept, without the separator `__`.

    Changed names, and those that seem to end in a hash, get a hash: a rule for one tool must not
    cover another.
    """
    plain = re.sub(r"_{2,}", "_", re.sub(r"[^a-zA-Z0-9_-]", "_", name)).strip("_")
    if plain and plain == name and len(name) <= most and not _HASHED.search(name):
        return name
    return f"{plain[: most - 9].rstrip('_')}_{content_hash(name)[-8:]}".lstrip("_")
