"""Restores beside `git read-tree && git checkout-index -a -f` with a separate GIT_DIR, and diffs.

Run as `python tests/benchmarks/bench_restores.py [FILES]`; without a number, in a tree of 4,000
files. Both go back and forth between two states of as many files as the column says, which differ
in the middle of each file. git's way writes files without syncing them; `synced` adds a `sync` of
the file system to it. With TMPDIR on a file system in memory nothing is waited for. Medians, in
milliseconds; CPU is of all threads of this process, or of the child processes. The second table is
what a session does, from the request to its answer, with what it waits for the disk told by
itself.
"""

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median

from sidecar.core.files.changeset import PathChange
from sidecar.core.files.restore_plan import Action
from sidecar.core.files.tree import TreeEntry
from sidecar.session.changes.change_summary import Differences
from sidecar.store.journal import Store
from sidecar.workspace.restore.restore import restore
from sidecar.workspace.restore.restore_outcome import FilesRestored
from tests.benchmarks.bench_snapshots import Git, make_tree, measured, now
from tests.benchmarks.whole_restores import edited, whole
from tests.core.trees import holding
from tests.store.contents import blob

FILES = 4_000
CHANGED = (1, 10, 100, 500)
ROUNDS = 9

Way = Callable[[], Awaitable[None]]
State = dict[Path, bytes]


def entry(path: Path, data: bytes) -> TreeEntry:
    return holding(data, path.stat().st_mode)


def plan(root: Path, now: State, then: State) -> list[Action]:
    return [
        Action(os.fsencode(path.relative_to(root)), entry(path, then[path]), entry(path, now[path]))
        for path in now
    ]


async def bench(folder: Path, files: int) -> None:
    dice = random.Random(1)
    root = folder / "tree"
    root.mkdir(parents=True)
    paths = make_tree(root, files, dice)
    store = Store.open(folder / "store", now=now)
    git = Git(root, folder / "git")
    print(f"\n{files:,} files; restored:")
    print(f"  {'wall / CPU ms':34}" + "".join(f"{count:>19}" for count in CHANGED))
    figures: dict[str, list[str]] = {}
    for count in CHANGED:
        chosen = dice.sample(paths, count)
        one = {path: path.read_bytes() for path in chosen}
        git("add", "-A")
        first = git("write-tree").decode().strip()
        other = {path: edited(data) for path, data in one.items()}
        for path, data in other.items():
            path.write_bytes(data)
        git("add", "-A")
        second = git("write-tree").decode().strip()
        for data in (*one.values(), *other.values()):
            await store.write(blob(data))
        for name, way in ways(root, store, git, (one, other), (first, second)).items():
            rows = [await measured(way) for _ in range(ROUNDS)]
            wall, used = median(w for w, _ in rows), median(c for _, c in rows)
            figures.setdefault(name, []).append(f"{wall:>9.2f} / {used:>6.2f} ")
    for name, cells in figures.items():
        print(f"  {name:34}" + "".join(cells))
    await store.close()
    await whole(folder, root, paths, CHANGED)


def ways(
    root: Path, store: Store, git: Git, states: tuple[State, State], trees: tuple[str, str]
) -> dict[str, Way]:
    """Give ways that each lead from the state that stands to the other one."""
    stands = [1]

    def flip() -> tuple[int, int]:
        before, stands[0] = stands[0], 1 - stands[0]
        return before, stands[0]

    async def ours() -> None:
        before, after = flip()
        done = await restore(root, plan(root, states[before], states[after]), store)
        assert done == FilesRestored(), done

    async def checkout() -> None:
        _, after = flip()
        git("read-tree", trees[after])
        git("checkout-index", "-a", "-f")

    async def synced() -> None:
        await checkout()
        os.sync()

    changes = [
        PathChange(
            os.fsencode(path.relative_to(root)),
            "modified",
            "tool",
            entry(path, states[0][path]),
            entry(path, states[1][path]),
        )
        for path in states[0]
    ]

    async def diff() -> None:
        assert len(await Differences(store.logs.contents).shown(changes, {})) == len(changes)

    async def git_diff() -> None:
        git("diff", "--no-renames", *trees)

    async def write_synced() -> None:
        """Do what no restore can do without: write and sync as many files."""
        _, after = flip()
        for path, data in states[after].items():
            with path.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())

    return {
        "restore": ours,
        "write and fsync each": write_synced,
        "git read-tree; checkout-index": checkout,
        "git …; checkout-index; sync": synced,
        "diff of as many files": diff,
        "git diff of the two trees": git_diff,
    }


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables for each size, such as `4000` or `4,000`."""
    for files in [int(given.replace(",", "")) for given in arguments] or [FILES]:
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(bench(Path(name), files))


if __name__ == "__main__":
    main(sys.argv[1:])
