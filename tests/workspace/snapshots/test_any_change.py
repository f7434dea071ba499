"""Whatever is done to a workspace, a snapshot of it is what a plain look at every file says.

The first test goes through 12 seeds, the others through 3;
`SIDECAR_SEEDS=40 pytest tests/workspace/snapshots/test_any_change.py` tries as many in each, and
from 12 on a burst of 20,000 files.
"""

import asyncio
import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from sidecar.core.files.tree import Delta
from sidecar.store.journal import Store
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.watch.cookies import CookieWatch
from tests.core.trees import apply
from tests.workspace.snapshots.upheaval import NAMES, Upheaval, plain
from tests.workspace.snapshots.work import EVENTS, RESCAN, Watch, now

pytestmark = pytest.mark.long

SEEDS = range(int(os.environ.get("SIDECAR_SEEDS", "3")))
MOST_SEEDS = range(int(os.environ.get("SIDECAR_SEEDS", "12")))
BURST = 20_000 if len(SEEDS) >= 12 else 3_000
ROUNDS = int(os.environ.get("SIDECAR_ROUNDS", "30"))


async def open_snapshots(root: Path, store: Store, data: Path, watch: Watch) -> Snapshots:
    return await Snapshots.open(root, store.snapshots, data_dir=data, now=now, watch=watch)


@pytest.mark.parametrize("seed", MOST_SEEDS)
@pytest.mark.parametrize("way", ["events", "rescan"])
async def test_every_snapshot_is_exact(tmp_path: Path, seed: int, way: str) -> None:
    await upheaval(tmp_path, seed, EVENTS if way == "events" else RESCAN, restarts=True)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_snapshot_is_exact_where_stats_prove_it(tmp_path: Path, seed: int) -> None:
    # Time stamps are older than their grain, so that most of what is known is proven.
    await upheaval(tmp_path, seed, None, rounds=ROUNDS // 3, pause=0.25)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_snapshot_by_cookies_is_exact(tmp_path: Path, seed: int) -> None:
    # This watch ends at the first name that is no UTF-8, which another test is about.
    names = [name for name in NAMES if b"\xff" not in name]
    await upheaval(tmp_path, seed, CookieWatch, names=names, rounds=ROUNDS // 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", ["events", "rescan"])
async def test_rules_that_come_later_take_nothing_away(tmp_path: Path, seed: int, way: str) -> None:
    watch = EVENTS if way == "events" else RESCAN
    await upheaval(tmp_path, seed, watch, restarts=True, other_rules=True)


async def upheaval(
    tmp_path: Path,
    seed: int,
    watch: Watch,
    *,
    restarts: bool = False,
    names: Sequence[bytes] = NAMES,
    rounds: int = ROUNDS,
    other_rules: bool = False,
    pause: float = 0.0,
) -> None:
    root, data = tmp_path / "work", tmp_path / "data"
    root.mkdir()
    dice = random.Random(seed)
    changes = Upheaval(root, seed, names)
    changes.act(40)
    store = Store.open(data, now=now)
    snapshots = await open_snapshots(root, store, data, watch)
    head = await snapshots.snapshot()
    await snapshots.ready()
    before, hidden = plain(root), list[bytes]()
    assert snapshots.entries() == before
    for number in range(rounds):
        changes.act(dice.choice([0, 1, 1, 3, 25]))
        if other_rules and dice.random() < 0.3:
            hidden = changes.hide()
            changes.act(dice.choice([0, 1, 3]))
        if restarts and dice.random() < 0.1:
            await snapshots.close()
            changes.act(dice.choice([0, 3]))
            snapshots = await open_snapshots(root, store, data, watch)
        after = await snapshots.snapshot()
        expected = plain(root, hidden, before)
        assert snapshots.entries() == expected, f"round {number}"
        delta = await snapshots.delta(head, after)
        assert delta is not None
        assert led_to(before, delta, expected), f"round {number}"
        assert (after == head) == (before == expected)
        await asyncio.sleep(pause)
        head, before = after, expected
    if watch is EVENTS:
        assert snapshots.status()["mode"] == "inotify"
    await snapshots.close()
    assert (await store.verify()).problems == ()
    await store.close()


def led_to(before: dict[bytes, object], delta: Delta, after: dict[bytes, object]) -> bool:
    return apply(before, delta) == after  # type: ignore[arg-type]


async def test_a_burst_of_files_is_in_the_next_snapshot(tmp_path: Path) -> None:
    root, data = tmp_path / "work", tmp_path / "data"
    root.mkdir()
    changes = Upheaval(root, 1)
    store = Store.open(data, now=now)
    snapshots = await open_snapshots(root, store, data, EVENTS)
    await snapshots.ready()
    # In a thread, as another program would, so that events are taken meanwhile or lost.
    await asyncio.to_thread(changes.burst, BURST)
    await snapshots.snapshot()
    assert snapshots.entries() == plain(root)
    await snapshots.close()
    await store.close()
