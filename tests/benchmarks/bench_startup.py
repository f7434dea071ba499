"""Spawn to `initialize` answered, beside the bare import of pygls; memory after a first turn.

Of a window that has its own daemon, and of a second one on a daemon that windows share. And what
commands take that look into a store of a long session and many short ones, beside bare Python.
Run as `python -m tests.benchmarks startup [TURNS]`.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from sidecar.store.format.values import PutSession
from tests.benchmarks.bench_turns import Clock, Sidecar
from tests.benchmarks.scripted_api import ScriptedApi
from tests.benchmarks.turn_script import Script
from tests.e2e.plain import UNSAID, PlainClient
from tests.e2e.resident import SHARED, about, command
from tests.fakes.messages_api import FakeMessagesApi
from tests.store.samples import open_store, session

ROUNDS = 15
ALLOWED_MS = 100
TURNS = 310
"""Of the long session, which takes two minutes to make."""
SESSIONS = 400
LOOKS = 7
BARE = ("-c", "pass")


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


def long_session(folder: Path, turns: int) -> tuple[Path, str]:
    """Give a data folder with a session of so many turns among many short ones, and its id."""
    clock = Clock(folder / "clock")
    api, script = ScriptedApi(clock.now), Script(folder / "work", turns)
    agent = Sidecar(folder, script.root, api, clock)
    for number in range(turns):
        turn = script.turn(number)
        clock.let_pass(turn.pause)
        api.acts.extend(turn.acts)
        agent.turn(turn.prompt)
        api.acts.clear()
    agent.stop()
    api.close()
    asyncio.run(_with_others(agent.data))
    return agent.data, agent.session


async def _with_others(data: Path) -> None:
    store = open_store(data)
    await store.write(*(PutSession(session(f"ses_{number:04}")) for number in range(SESSIONS)))
    await store.close()


def looked(data: Path, *arguments: str) -> tuple[float, float]:
    """Give the median CPU and wall seconds of Python with such arguments."""
    took: list[tuple[float, float]] = []
    for _ in range(LOOKS):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "SIDECAR_DATA_DIR": str(data)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        wall, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took.append((used, wall))
    return median(cpu for cpu, _ in took), median(wall for _, wall in took)


def commands(folder: Path, turns: int) -> None:
    """Print a line for each command."""
    folder.mkdir()
    data, name = long_session(folder, turns)
    bare = looked(data, *BARE)
    print(f"bare Python{bare[0] * 1000:>27.0f} ms CPU{bare[1] * 1000:>6.0f} ms, load {_load()}")
    for words in (
        ("config", "show"),
        ("sessions",),
        ("sessions", "--limit", str(SESSIONS)),
        ("checkpoints", name),
        ("inspect", name),
        ("doctor",),
    ):
        cpu, wall = looked(data, "-P", "-m", "sidecar", *words)
        shown = " ".join(words).replace(name, f"({turns} turns)")
        told = f"{shown:<32}{cpu * 1000:>6.0f} ms CPU{wall * 1000:>6.0f} ms"
        print(f"{told}  ({cpu / bare[0]:.0f} and {wall / bare[1]:.0f} x bare)")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main(arguments: Sequence[str] = ()) -> None:
    """Print two tables."""
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
        commands(Path(folder) / "long", int(arguments[0]) if arguments else TURNS)


if __name__ == "__main__":
    main()
