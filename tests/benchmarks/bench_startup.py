"""Spawn to `initialize` answered, beside the bare import of pygls; memory after a first turn."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi

ROUNDS = 15
ALLOWED_MS = 100


def bare_import() -> float:
    """Give seconds to start Python and import `pygls.lsp.server`."""
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", "import pygls.lsp.server"], check=True)
    return perf_counter() - begun


def initialized(data: Path) -> float:
    """Give seconds from spawning the daemon to the answer to `initialize`."""
    begun = perf_counter()
    client = PlainClient(data)
    client.request("initialize", {"processId": os.getpid(), "capabilities": {}})
    took = perf_counter() - begun
    client.stop()
    return took


def memory(folder: Path) -> float:
    """Give the daemon's resident MiB after a first turn, the vendor's SDK loaded."""
    with FakeMessagesApi() as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "none"}
        return _after_a_turn(folder, {"model": "claude-sonnet-4-6", "provider": provider})


def _after_a_turn(folder: Path, options: dict[str, Any]) -> float:
    client = PlainClient(folder / "data")
    client.start(**options)
    session = client.request("session/new", {"cwd": str(folder)})["sessionId"]
    words = [{"type": "text", "text": "list files"}]
    client.request("session/prompt", {"sessionId": session, "prompt": words})
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    client.stop()
    return int(resident.split()[1]) / 1024


def main() -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        bare_import()
        initialized(data)
        pairs = [(bare_import(), initialized(data)) for _ in range(ROUNDS)]
        bare = median(b for b, _ in pairs) * 1000
        ours = median(o for _, o in pairs) * 1000
        print(f"bare import of pygls.lsp.server   {bare:6.0f} ms")
        print(f"spawn to `initialize` answered    {ours:6.0f} ms  ({ours / bare:.2f} x)")
        print(f"aim: 1.3 x the import + 100 ms    {1.3 * bare + ALLOWED_MS:6.0f} ms")
        print(f"memory after a first turn         {memory(Path(folder)):6.0f} MiB (aim: 140)")


if __name__ == "__main__":
    main()
