"""Spawn to `initialize` answered, beside the bare import of pygls; memory after a first turn.

Of a window that has its own daemon, and of a second one on a daemon that windows share.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.e2e.plain import UNSAID, PlainClient
from tests.e2e.resident import SHARED, about, command
from tests.fakes.messages_api import FakeMessagesApi

ROUNDS = 15
ALLOWED_MS = 100


def bare_import() -> float:
    """Give seconds to start Python and import `pygls.lsp.server`."""
    begun = perf_counter()
    subprocess.run([sys.executable, "-c", "import pygls.lsp.server"], check=True)
    return perf_counter() - begun


def initialized(data: Path, **given: Any) -> float:
    """Give seconds from spawning the daemon, or a window, to the answer to `initialize`."""
    begun = perf_counter()
    client = PlainClient(data, **given)
    client.request("initialize", {"processId": os.getpid(), "capabilities": {}})
    took = perf_counter() - begun
    client.stop()
    return took


def attached(folder: Path) -> dict[str, float]:
    """Give the same of windows that come to a daemon with one, by how they say that they share."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    env = {
        "XDG_RUNTIME_DIR": str(run), "XDG_CONFIG_HOME": str(folder / "config"), "CI": "",
        "SIDECAR_DATA_DIR": str(folder / "data"), "SIDECAR_LINGER": "60",
    }  # fmt: skip
    data = folder / "data"
    first = PlainClient(data, env=env, arguments=SHARED)
    first.start(model="offline")
    first.request("session/new", {"cwd": str(folder)})
    ways = {"--shared": SHARED, "the setting": UNSAID}
    took: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, arguments in ways.items():
            took[way].append(initialized(data, env=env, arguments=arguments))
    assert about(env)["windows"] == 1
    command(env, "stop", "--now")
    first.kill()
    return {way: median(each) for way, each in took.items()}


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
        for way, seconds in attached(Path(folder)).items():
            shown = f"second window, by {way}"
            print(f"{shown:<33} {seconds * 1000:6.0f} ms  ({seconds * 1000 / ours:.2f} x our own)")
        print(f"memory after a first turn         {memory(Path(folder)):6.0f} MiB (aim: 140)")


if __name__ == "__main__":
    main()
