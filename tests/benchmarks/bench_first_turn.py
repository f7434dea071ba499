"""How long a first turn waits in a workspace that nobody has looked at yet, over the wire.

Run as `python tests/benchmarks/bench_first_turn.py [FILES ...]`; 0 files, which are printed first,
stand for what any turn costs. From the prompt until the model is asked, and until it is asked again
after a tool that edits a file: wall time, and the CPU that all threads of the daemon took by then.
The first snapshot begins half a second before the prompt, as the session is opened; the tool
waits for it, where it has not ended by then. The daemon has had a
turn in another folder, so that what only its first turn loads is loaded. Linux; medians.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from tests.benchmarks.bench_snapshots import SIZES, make_tree
from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools

ROUNDS = 5
EDIT = {"path": "notes.txt", "content": "changed\n"}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
AIM = 10
"""Microseconds of CPU a file before a first turn can start."""

Figures = tuple[float, float]


def cpu(pid: int) -> float:
    """Give the milliseconds that the threads of a process have run."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


class Daemon:
    """A daemon with a store of its own, whose model edits a file when it is first asked.

    It ends with `stack`.
    """

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        api = stack.enter_context(FakeMessagesApi(self._respond))
        answers = {"session/request_permission": lambda _: ALLOW}
        self._client = PlainClient(folder / "data", answers)
        stack.callback(self._client.stop)
        self._asked: list[Figures] = []
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "none"}
        self._client.start(model="claude-sonnet-4-6", provider=provider)
        (folder / "other").mkdir()
        self.turn(folder / "other")

    def turn(self, root: Path) -> list[Figures]:
        """Give milliseconds, wall and CPU, from the prompt to each request of a new session."""
        session = self._client.request("session/new", {"cwd": str(root)})["sessionId"]
        # What a new session does in the background is not the turn's.
        sleep(0.5)
        self._asked.clear()
        begun, used = self._now()
        words = [{"type": "text", "text": "Edit the notes."}]
        self._client.request("session/prompt", {"sessionId": session, "prompt": words})
        assert len(self._asked) == len(("edit", "done")), self._asked
        return [(wall - begun, spent - used) for wall, spent in self._asked]

    def _respond(self, *_: object) -> Reply:
        self._asked.append(self._now())
        return tools(("c1", "write_file", EDIT)) if len(self._asked) == 1 else text("Done.")

    def _now(self) -> Figures:
        return perf_counter() * 1000, cpu(self._client.process.pid)


def bench(root: Path, files: int) -> None:
    """Print what the first turns of daemons that have never seen a tree wait for."""
    rounds: list[list[Figures]] = []
    for _ in range(ROUNDS):
        (root / "notes.txt").write_text("as it was\n")
        folder = Path(tempfile.mkdtemp(dir=root.parent))
        with ExitStack() as stack:
            rounds.append(Daemon(stack, folder).turn(root))
        shutil.rmtree(folder)
    cells = ""
    for asked in range(2):
        wall, used = (median(turn[asked][which] for turn in rounds) for which in range(2))
        each = f"{used * 1000 / files:.1f}" if files else "-"
        cells += f"{wall:>12.1f} / {used:>6.1f} {each:>10}"
    print(f"{files:>8,}{cells}")


def main(arguments: Sequence[str] = ()) -> None:
    """Print a line for each tree."""
    sizes = [int(argument) for argument in arguments] or SIZES
    print(f"{'':8}{'until the model is asked':>31}{'after a tool that edits':>31}")
    print(f"{'files':>8}" + f"{'wall / CPU ms':>21}{'us a file':>11}" * 2 + f"  (aim {AIM})")
    with tempfile.TemporaryDirectory() as name:
        for files in (0, *sizes):
            root = Path(name) / f"tree{files}"
            root.mkdir()
            make_tree(root, files, random.Random(1))
            sleep(2.5)
            bench(root, files)


if __name__ == "__main__":
    main(sys.argv[1:])
