"""A session of 10 MB sent, taken in, and gone on with on two machines, beside git alone.

Two daemons with data folders of their own sync with one bare repository over the file protocol.
Processor time is the daemon's, and that of the git processes that it ran; the yardstick is git
that commits, pushes and fetches as many packed bytes.
"""

import json
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from tests.e2e.sync_users import User, bare, git
from tests.faults.forked import warm

SIZE = 10_000_000
"""Characters of answers; words at random, which compress to less than half."""
WORDS, ANSWER = 20_000, 1_500
INCREMENTS = 5
LIMIT = 300.0
T = TypeVar("T")


def main() -> None:
    """Print seconds by step."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        remote, nursery = bare(home / "remote.git"), warm()
        spawn = None if nursery is None else nursery.fork
        users = [User(home / name, remote, spawn) for name in ("ada", "bob")]
        try:
            _measure(home, *users)
        finally:
            for user in users:
                user.leave()


def _measure(home: Path, ada: User, bob: User) -> None:
    about = {"path": str(_recording(home, ada)), "cwd": str(ada.folder)}
    session = ada.client.request("session/import", about, LIMIT)["sessionId"]
    (sent,) = _timed("sent whole", ada, ada.sync)["sent"]
    (came,) = _timed("taken in whole", bob, lambda: bob.sync(open=[session]))["received"]
    for number in range(INCREMENTS):
        bob.say(came["sessionId"], "read notes.txt")
        _timed(f"turn {number + 1} sent", bob, bob.sync)
        _timed(f"turn {number + 1} taken in", ada, ada.sync)
    _timed("nothing new", ada, ada.sync)
    _beside(home, int(sent["size"]))


def _timed(what: str, user: User, act: Callable[[], T]) -> T:
    before, began = _processor(user), perf_counter()
    done = act()
    took = perf_counter() - began
    own, gits = (now - then for now, then in zip(_processor(user), before, strict=True))
    print(f"{what:>20}  {took:6.2f} s; processor: {own:5.2f} s, git {gits:5.2f} s")
    return done


def _processor(user: User) -> tuple[float, float]:
    fields = Path(f"/proc/{user.client.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    user_time, system, of_children, of_children_system = map(int, fields[11:15])
    tick = os.sysconf("SC_CLK_TCK")
    return (user_time + system) / tick, (of_children + of_children_system) / tick


def _beside(home: Path, size: int) -> None:
    work, there = home / "plain", home / "plain.git"
    git("init", "--quiet", "--bare", str(there), cwd=home)
    git("init", "--quiet", str(work), cwd=home)
    (work / "blob").write_bytes(random.Random(2).randbytes(size))
    began = perf_counter()
    git("add", ".", cwd=work)
    git("commit", "--quiet", "-m", "One", cwd=work)
    git("push", "--quiet", str(there), "HEAD:refs/sidecar/one", cwd=work)
    git("fetch", "--quiet", str(there), "refs/sidecar/one", cwd=work)
    print(f"{'git alone':>20}  {perf_counter() - began:6.2f} s for {size:,} bytes, both ways")


def _recording(home: Path, user: User) -> Path:
    """Write another agent's recording of random words."""
    dice = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(WORDS)]
    lines, size = list[str](), 0
    about = {"sessionId": "s", "cwd": str(user.folder), "timestamp": "2026-01-05T10:00:00Z"}
    while size < SIZE:
        for role, count in (("user", 40), ("assistant", ANSWER)):
            number, content = len(lines), " ".join(dice.choices(words, k=count))
            size += len(content)
            before = f"u{number - 1}" if number else None
            message = {"role": role, "content": content}
            line = {"type": role, "message": message, "uuid": f"u{number}", "parentUuid": before}
            lines.append(json.dumps({**about, **line}))
    path = home / "recording.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


if __name__ == "__main__":
    main()
