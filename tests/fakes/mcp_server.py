"""A small MCP server on stdio, started by tests with words that say how it misbehaves."""

import os
import sys
import time

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def lookup(word: str) -> str:
    """Look a word up."""
    return f"{word} means {os.environ.get('MEANING', 'nothing')}"


@server.tool()
def leave() -> str:
    """End the server in the middle of a call."""
    os._exit(3)


@server.tool()
def refuse() -> str:
    """Fail."""
    raise ValueError("not today")


if __name__ == "__main__":
    if "fails" in sys.argv:
        sys.stderr.write("no licence found\n")
        sys.exit(1)
    if "sleeps" in sys.argv:
        time.sleep(600)
    server.run()
