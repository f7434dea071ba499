"""What a long session takes: CPU, own time, memory, disk and messages per turn, beside others.

Run as `python -m tests.benchmarks turns [TURNS [PROGRAM ...]]`; a PROGRAM is the native one of
`@openai/codex` or `opencode-ai`, asked by the same script on loopback. CPU is that of the agent's
own process, without children; own time is a turn's without the model's. Linux.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.benchmarks.other_agents import Codex, Opencode
from tests.benchmarks.scripted_api import ScriptedApi
from tests.benchmarks.turn_script import Script
from tests.e2e.plain import PlainClient

TURNS = 60
AFTERWARDS = 0.3
"""Seconds of a turn's own work behind its answer, before the next is begun."""
LIMIT = 120.0
ALLOW = ["shell", "edit", "write_file"]


@dataclass(frozen=True, slots=True)
class Took:
    """A turn's CPU and own seconds, MiB afterwards, MB of disk, and messages to the client."""

    cpu: float
    own: float
    memory: float
    disk: float
    told: int


class Clock:
    """Time that a script lets pass, for the daemon by a file."""

    def __init__(self, file: Path) -> None:
        self.file, self._ahead = file, 0.0
        self.let_pass(0)

    def let_pass(self, seconds: float) -> None:
        self._ahead += seconds
        beside = self.file.with_suffix(".new")
        beside.write_text(str(self._ahead))
        beside.replace(self.file)

    def now(self) -> float:
        return time.monotonic() + self._ahead


def cpu(pid: int) -> float:
    """Seconds of a process, ended threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """MiB in use."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def disk(folder: Path) -> float:
    """MB of a folder's files."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    return size / 1e6


class Sidecar:
    """A daemon and one session of it."""

    def __init__(self, folder: Path, root: Path, api: ScriptedApi, clock: Clock) -> None:
        self.data = folder / "data"
        self._client = PlainClient(self.data, env={"SIDECAR_CLOCK_OFFSET_FILE": str(clock.file)})
        self.process = self._client.process
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "none"}
        self._client.start(
            model="claude-sonnet-4-6", provider=provider, permissions={"allow": ALLOW}
        )
        given = {"cwd": str(root), "window": 200_000}
        self.session = self._client.request("session/new", given)["sessionId"]

    @property
    def told(self) -> int:
        return len(self._client.notifications)

    def turn(self, words: str) -> None:
        prompt = [{"type": "text", "text": words}]
        self._client.request("session/prompt", {"sessionId": self.session, "prompt": prompt}, LIMIT)

    def stop(self) -> None:
        self._client.stop()


def play(turns: int, program: str = "") -> tuple[list[Took], float]:
    """Give what each turn took, and MB that remain on disk; another agent's by its `program`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clock = Clock(folder / "clock")
        api, script = ScriptedApi(clock.now), Script(folder / "work", turns)
        root = script.root
        agent: Codex | Opencode | Sidecar
        if not program:
            agent = Sidecar(folder, root, api, clock)
        else:
            kind = Opencode if Path(program).name == "opencode" else Codex
            agent = kind(program, folder, root, api)
        took = []
        try:
            for number in range(turns):
                turn = script.turn(number)
                clock.let_pass(turn.pause)
                api.acts.extend(turn.acts)
                took.append(_measured(agent, turn.prompt, api))
                api.acts.clear()
            script.check()
        finally:
            agent.stop()
            api.close()
        return took, disk(agent.data)


def _measured(agent: Codex | Opencode | Sidecar, prompt: str, api: ScriptedApi) -> Took:
    pid = agent.process.pid
    used, told, served, begun = cpu(pid), agent.told, api.seconds, time.perf_counter()
    agent.turn(prompt)
    own = time.perf_counter() - begun - api.seconds + served
    time.sleep(AFTERWARDS)
    return Took(cpu(pid) - used, own, memory(pid), disk(agent.data), agent.told - told)


def main(arguments: Sequence[str] = ()) -> None:
    """Print a line for each agent and each twenty turns."""
    turns = int(arguments[0]) if arguments else TURNS
    print(f"{'':10}{'turns':>10}{'CPU ms':>9}{'own ms':>9}{'MiB':>6}{'MB':>7}{'told':>6}")
    for program in ("", *arguments[1:]):
        took, left = play(turns, program)
        name = Path(program).name or "sidecar"
        print(f"{name:10}{'1':>10}{'':18}{took[0].memory:>6.0f}")
        for at in range(0, turns, 20):
            some = took[max(1, at) : at + 20]
            cells = f"{median(one.cpu for one in some) * 1000:>9.0f}"
            cells += f"{median(one.own for one in some) * 1000:>9.0f}"
            cells += f"{some[-1].memory:>6.0f}{max(one.disk for one in some):>7.2f}"
            cells += f"{median(one.told for one in some):>6.0f}"
            print(f"{name:10}{f'{at + 1}-{at + len(some)}':>10}{cells}", flush=True)
        print(f"{name:10}{'left':>10}{'':24}{left:>7.2f}")
        if len(took) >= 60:
            early, late = (median(one.cpu for one in some) for some in (took[20:40], took[-20:]))
            more = f"{late / early:.2f} times the CPU of turns 21-40 in the last 20"
            print(f"{name:10}{more}, {took[-1].memory - took[0].memory:+.1f} MiB since the first")


if __name__ == "__main__":
    main(sys.argv[1:])
