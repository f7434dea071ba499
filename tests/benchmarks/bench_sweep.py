"""A turn's commits beside what sweeps: outputs that go, free pages given back, one session less.

Commits come every few milliseconds, from this process and from another over the same store,
first with nothing beside them, then beside each of the others; the same is measured beside one
`VACUUM` of the whole file, which is what this is instead of.
"""

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

from sidecar.config.retention import DAY, Retention
from sidecar.core.parts import MessageId, PartId, SessionId, TextPart
from sidecar.session.transfer.archive import archive
from sidecar.session.transfer.erasure import clear_free, erase
from sidecar.session.transfer.sweep import carry_out
from sidecar.store.format.values import PutMessage, PutPart, PutSession, StoreChange
from sidecar.store.journal import Store
from tests.store.contents import blob
from tests.store.holders import ground_at
from tests.store.samples import NOW, message, session, tool

OUTPUTS = 2_000
SIZE = 40_000
HEAVY = 20_000
"""Parts of the session that is deleted."""
GAP = 0.004
HERE, HEAVIEST = SessionId("ses_here"), SessionId("ses_heavy")
MESSAGE = MessageId("msg_1")
TEXT = "What one part of an answer may be. " * 20
QUIET_SECONDS = 2.0


def later() -> int:
    return NOW + 30 * DAY


async def fill(store: Store, seed: int = 1) -> None:
    """Old outputs that do not compress, and a session of many parts."""
    dice = random.Random(seed)
    names = (SessionId("ses_old"), HEAVIEST, HERE)
    await store.write(*(PutSession(session(name)) for name in names))
    await store.write(*(PutMessage(name, message()) for name in names))
    for start in range(0, OUTPUTS, 100):
        changes: list[StoreChange] = []
        for n in range(start, start + 100):
            content = dice.randbytes(SIZE)
            part = tool(f"part_{seed}_{n}", "shown", content)
            changes += [blob(content), PutPart(names[0], MESSAGE, n, part)]
        await store.write(*changes)
    for start in range(0, HEAVY, 1000):
        parts = [
            TextPart(PartId(f"p_{n}"), f"{n} {TEXT}" * 2, "model")
            for n in range(start, start + 1000)
        ]
        await store.write(*(PutPart(HEAVIEST, MESSAGE, n, p) for n, p in enumerate(parts)))


async def commits(store: Store, until: "asyncio.Task[object] | None") -> list[float]:
    """Write small parts one after the other; gives how long each took, in milliseconds."""
    took: list[float] = []
    end = perf_counter() + QUIET_SECONDS
    while perf_counter() < end if until is None else not until.done():
        part = TextPart(PartId(f"part_{len(took) % 500}"), TEXT, "model")
        start = perf_counter()
        await store.write(PutPart(HERE, MESSAGE, len(took) % 500, part))
        took.append((perf_counter() - start) * 1000)
        await asyncio.sleep(GAP)
    return took


def line(name: str, took: list[float], seconds: float) -> str:
    ordered = sorted(took)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

    return (
        f"{name:34} {len(took):6} commits  p50 {at(0.5):6.1f} ms  p95 {at(0.95):6.1f}  "
        f"p99 {at(0.99):6.1f}  longest {ordered[-1]:7.1f}  in {seconds:5.1f} s"
    )


async def beside(name: str, store: Store, act: Callable[[], Awaitable[object]]) -> None:
    start = perf_counter()
    async with asyncio.TaskGroup() as group:
        running: asyncio.Task[object] = group.create_task(act())  # type: ignore[arg-type]
        writing = group.create_task(commits(store, running))
    print(line(name, writing.result(), perf_counter() - start))


async def _main(folder: Path) -> None:
    store = Store.open(folder, now=later)
    await fill(store)
    # Another process sweeps; what this one sees of it is the lock. Then it sweeps itself.
    print(f"{store.size() / 2**20:.0f} MiB, {OUTPUTS} outputs to go\n")
    print(line("nothing beside", await commits(store, None), QUIET_SECONDS))
    command = (sys.executable, "-m", "tests.benchmarks.bench_sweep", "sweep", str(folder))
    other = await asyncio.create_subprocess_exec(*command)
    await beside("another process sweeps", store, other.wait)
    ground = ground_at(store, later, "bench")
    await fill(store, seed=2)

    async def sweep() -> None:
        await carry_out(ground, await store.keeping.plan(Retention()))

    await beside("outputs go, same process", store, sweep)
    await beside("free space is given back", store, lambda: clear_free(store.pages))
    await beside(f"{HEAVY} parts are archived", store, lambda: archive(ground, HEAVIEST))
    await store.pages.empty_log()
    await fill(store, seed=3)

    async def delete() -> None:
        await store.delete(HEAVIEST)
        await erase(ground)

    await beside(f"{HEAVY} parts are deleted", store, delete)
    await beside("VACUUM instead", store, store.pages.rebuild)
    await store.close()


async def _sweep(folder: Path) -> None:
    store = Store.open(folder, now=later)
    ground = ground_at(store, later, "other")
    await carry_out(ground, await store.keeping.plan(Retention()))
    await clear_free(store.pages)
    await store.close()


def main() -> None:
    """Print the latencies."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        asyncio.run(_main(Path(folder)))


if __name__ == "__main__":
    asyncio.run(_sweep(Path(sys.argv[2]))) if sys.argv[1:2] == ["sweep"] else main()
