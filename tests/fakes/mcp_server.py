"""A small MCP server, started by tests with words that say how it misbehaves.

With `http` it serves on a free port of this machine, which it prints; else on stdio.
"""

import os
import socket
import sys
import time

import uvicorn
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
    if "http" in sys.argv:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            print(listening.getsockname()[1], flush=True)
            config = uvicorn.Config(server.streamable_http_app(), log_level="error")
            uvicorn.Server(config).run(sockets=[listening])
    else:
        server.run()
