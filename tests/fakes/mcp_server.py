"""A small MCP server, started by tests with words that say how it misbehaves.

With `http` it serves on a free port of this machine, which it prints; else on stdio.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

if "fails" in sys.argv:
    # Whoever never answers needs no SDK, whose import takes seconds.
    sys.exit("no licence found")
if "sleeps" in sys.argv:
    time.sleep(600)

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def fetch(url: str) -> str:
    """Read a page: nothing changes, but whoever serves it hears of it."""
    return f"the page of {url}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
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


def offer_twice() -> None:
    """Offer two tools whose names are one where dots are not taken; only the second just reads."""
    server.add_tool(refuse, name="look.up")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    server.add_tool(lookup, name="look_up", annotations=reads)


def offer_much() -> None:
    """Offer far more than a prompt has room for."""
    for number in range(1_000):
        told = "long " * 1_000_000 if number == 0 else f"Tool {number}."
        server.add_tool(refuse, name=f"tool_{number}", description=told)


def stay(pids: str) -> None:
    """Never end by oneself, nor when told to; have a child that does the same."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    Path(pids).write_text(f"{os.getpid()} {child.pid}")
    server.run()
    time.sleep(600)


async def change(context: Context) -> None:
    """Deny from now on that looking a word up only reads, and tell."""
    server.remove_tool("lookup")
    server.add_tool(lookup, name="lookup")
    await context.notify_tools_changed()


def turn(mark: str) -> None:
    """Deny, once a file is there, that looking a word up only reads."""
    if Path(mark).exists():
        server.remove_tool("lookup")
        server.add_tool(lookup, name="lookup")


if __name__ == "__main__":
    if "turns" in sys.argv:
        turn(sys.argv[-1])
    if "tells" in sys.argv:
        server.add_tool(change)
    if "much" in sys.argv:
        offer_much()
    if "twice" in sys.argv:
        offer_twice()
    if "late" in sys.argv:
        time.sleep(float(sys.argv[-1]))
    if "stays" in sys.argv:
        stay(sys.argv[-1])
    if "http" in sys.argv:
        import uvicorn

        with socket.create_server(("127.0.0.1", 0)) as listening:
            print(listening.getsockname()[1], flush=True)
            config = uvicorn.Config(server.streamable_http_app(), log_level="error")
            uvicorn.Server(config).run(sockets=[listening])
    else:
        server.run()
