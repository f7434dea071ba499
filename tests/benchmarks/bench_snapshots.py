"""Snapshots beside `git add -A && git write-tree`, and the longer pipeline that others run.

Run as `python tests/benchmarks/bench_snapshots.py [FILES ...]`; without numbers, trees of 4,000,
28,000 and 77,000 files. All ways see the same edits in the same run, round by round, each as often
first as the others, because the first one warms the caches of the system. CPU is of all threads of
this process, or of the child processes; both are medians, in milliseconds. "Watched, at work" is a
snapshot in a process that has just done something, as the daemon has at the end of a step; the
other ways begin after this process has waited for git's, with nothing of it in the CPU's caches.
"Watched by cookies" is what systems get that have no inotify: its wall time is mostly waiting.
Disk growth is of the whole database, indexes included, for each count of changed files by itself;
what is stored for many snapshots at once is in it, and its cost is told by itself.
"""

import asyncio
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from sidecar.store.content.blobs import press
from sidecar.store.journal import Store
from sidecar.workspace.snapshots.snapshots import Snapshots
from sidecar.workspace.snapshots.watch.cookies import CookieWatch
from tests.store.on_disk import opened_beside
from tests.workspace.snapshots.work import EVENTS, Watch

SIZES = (4_000, 28_000, 77_000)
CHANGED = (0, 1, 10, 100)
ROUNDS = 12
"""Each of the ways is as often first."""
FRESH = 3
IGNORED = "*.pyc\n__pycache__/\nbuild/\n/dist\n.env\n*.log\n"
AIM_WALL = 25
"""Milliseconds that a snapshot with one changed file may take, cookie included."""
OURS = ("watched", "watched, at work", "watched by cookies", "rescan")
GITS = ("git add; write-tree", "six git commands")
NOTHING = "(measuring nothing)"
FILES_A_FOLDER = 4
WORDS = ("def", "return", "import", "class", "self", "value", "None", "path", "entry", "for", "if")

Way = Callable[[], Awaitable[None]]
Figures = dict[tuple[str, int], list[tuple[float, float]]]


def now() -> int:
    return time.time_ns() // 1_000_000


def make_tree(root: Path, files: int, dice: random.Random) -> list[Path]:
    """Make source-like files of some KiB, in folders of four, in packages of some hundred."""
    made: list[Path] = []
    for number in range(files):
        folder = root / f"package{number // 400}" / f"module{number // FILES_A_FOLDER}"
        if number % FILES_A_FOLDER == 0:
            folder.mkdir(parents=True)
        path = folder / f"file{number}.py"
        lines = [" ".join(dice.choices(WORDS, k=8)) for _ in range(dice.randrange(5, 100))]
        path.write_text(f"# {number}\n" + "\n".join(lines))
        made.append(path)
    return made


class Git:
    """A repository that is kept apart from the folder it is about."""

    def __init__(self, root: Path, git: Path) -> None:
        self._root = root
        self._environment = {
            **os.environ,
            "GIT_DIR": str(git),
            "GIT_WORK_TREE": str(root),
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }
        self("init", "-q")

    def __call__(self, *arguments: str, given: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self._root,
            env=self._environment,
            input=given,
            capture_output=True,
            check=False,
            timeout=600,
        )
        return done.stdout

    async def plain(self) -> None:
        self("add", "-A")
        self("write-tree")

    async def pipeline(self) -> None:
        self("rev-parse", "--git-dir")
        changed = self("diff-files", "--name-only", "-z")
        added = self("ls-files", "--others", "--exclude-standard", "-z")
        paths = changed + added
        self("check-ignore", "--no-index", "--stdin", "-z", given=paths)
        if paths:
            options = ("--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
            self("add", *options, given=paths)
        self("write-tree")


class AtWork:
    """Snapshots in a process that has just done something: it took them of another folder."""

    def __init__(self, snapshots: Snapshots, others: Snapshots) -> None:
        self.snapshots = snapshots
        self._others = others

    @classmethod
    async def open(cls, root: Path, folder: Path) -> "AtWork":
        data_dir, beside = folder / "at work", folder / "beside"
        beside.mkdir()
        rows = Store.open(data_dir, now=now).snapshots
        of_root, of_beside = [
            await Snapshots.open(one, rows, data_dir=data_dir, now=now, watch=EVENTS)
            for one in (root, beside)
        ]
        await of_root.snapshot()
        await of_root.ready()
        return cls(of_root, of_beside)

    async def do_something(self) -> None:
        for words in WORDS[:3]:
            (self._others.root / "file").write_text(words)
            await self._others.snapshot()

    async def close(self) -> None:
        await self._others.close()
        await self.snapshots.close()


def cpu() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


async def measured(way: Way) -> tuple[float, float]:
    """Give milliseconds: wall and CPU."""
    start, used = time.perf_counter(), cpu()
    await way()
    return (time.perf_counter() - start) * 1000, (cpu() - used) * 1000


async def bench(folder: Path, files: int) -> None:
    dice = random.Random(1)
    root = folder / "tree"
    root.mkdir(parents=True)
    paths = make_tree(root, files, dice)
    # Time stamps that are older than their grain, as those of any tree that was not just made.
    await asyncio.sleep(2.5)
    print(f"\n{files:,} files, {sum(1 for _ in root.rglob('*')) - files:,} folders")
    await firsts(root, folder, files)
    watched_store = Store.open(folder / "watched", now=now)
    watched = await Snapshots.open(
        root, watched_store.snapshots, data_dir=folder / "watched", now=now, watch=EVENTS
    )
    await watched.snapshot()
    await watched.ready()
    rescan = await begun(root, folder / "rescan", None)
    by_cookies = await begun(root, folder / "cookies", CookieWatch)
    at_work = await AtWork.open(root, folder)
    git, other = Git(root, folder / "git"), Git(root, folder / "other")
    wall, used = await measured(git.plain)
    await other.plain()
    print(f"  git's first: {wall:.0f} ms, {used * 1000 / files:.1f} us of CPU a file")
    ways: dict[str, Way] = {
        "watched": lambda: drop(watched.snapshot()),
        "watched, at work": lambda: drop(at_work.snapshots.snapshot()),
        "watched by cookies": lambda: drop(by_cookies.snapshot()),
        "rescan": lambda: drop(rescan.snapshot()),
        "git add; write-tree": git.plain,
        "six git commands": other.pipeline,
    }
    assert ROUNDS % len(ways) == 0, "each is as often first"
    figures: Figures = {}
    for round_number in range(ROUNDS):
        for count in CHANGED:
            for path in dice.sample(paths, count):
                with path.open("a") as file:
                    file.write(f"# {round_number} {dice.random()}\n")
            first_way = round_number % len(ways)
            for name in (*list(ways)[first_way:], *list(ways)[:first_way]):
                if name == "watched, at work":
                    await at_work.do_something()
                figures.setdefault((name, count), []).append(await measured(ways[name]))
                if name == GITS[-1]:
                    figures.setdefault((NOTHING, count), []).append(await measured(nothing))
    report([*ways, NOTHING], figures)
    assert by_cookies.status()["mode"] == "watchfiles", by_cookies.status()
    await by_cookies.close()
    await rescan.close()
    await restart(watched, watched_store, root, folder)
    await at_work.close()
    await watched_store.close()
    for count in CHANGED[1:]:
        await growth(root, folder / "watched", paths, count, dice)


async def growth(
    root: Path, data_dir: Path, paths: list[Path], count: int, dice: random.Random
) -> None:
    """Tell what snapshots of so many changed files each take on the disk, batches included."""
    changed, compressed = 0, 0
    store = Store.open(data_dir, now=now)
    made = await Snapshots.open(root, store.snapshots, data_dir=data_dir, now=now, watch=EVENTS)
    await made.snapshot()
    before = on_disk(data_dir)
    for _ in range(max(ROUNDS, 100 // count)):
        for path in dice.sample(paths, count):
            with path.open("a") as file:
                file.write(f"# {dice.random()}\n")
            changed += 1
            compressed += len(press(path.read_bytes()).data)
        await made.snapshot()
    await made.close()
    await store.close()
    each = (on_disk(data_dir) - before) / changed
    aim = 1.2 * compressed / changed + 1024
    print(f"  disk, {count:>3} changed: {each:.0f} bytes a path (aim {aim:.0f}),", end=" ")
    print(f"{compressed / changed:.0f} of them its content when compressed")


async def firsts(root: Path, folder: Path, files: int) -> None:
    """Begin in stores that know nothing: a plain folder, and the same one as a repository."""
    await first_of(root, folder, files, "first")
    await asyncio.to_thread(make_repository, root)
    await asyncio.sleep(2.5)
    await first_of(root, folder, files, "first, as a git repository")
    shutil.rmtree(root / ".git")
    (root / ".gitignore").unlink()


async def first_of(root: Path, folder: Path, files: int, name: str) -> None:
    """Open and take the first snapshot in fresh stores, which a first turn waits for."""
    begun_in, stored_in = [], []
    for number in range(FRESH):
        data_dir = folder / f"{name} {number}"
        store = Store.open(data_dir, now=now)
        made: list[Snapshots] = []
        begun_in.append(await measured(partial(begin, root, store, data_dir, made)))
        stored_in.append(await measured(made[0].ready))
        await made[0].close()
        await store.close()
        shutil.rmtree(data_dir)
    (wall, used), (stored, stored_used) = middle(begun_in), middle(stored_in)
    print(f"  {name}, opening included: {wall:.0f} ms, {used * 1000 / files:.1f} us of CPU a file")
    print(f"    (aim 10); content stored after it in {stored:.0f} ms ({stored_used:.0f} CPU)")


async def begin(root: Path, store: Store, data_dir: Path, made: list[Snapshots]) -> None:
    rows = store.snapshots
    one = await Snapshots.open(root, rows, data_dir=data_dir, now=now, watch=EVENTS)
    await one.snapshot()
    made.append(one)


def make_repository(root: Path) -> None:
    (root / ".gitignore").write_text(IGNORED)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", *command], cwd=root, check=True, timeout=600)


def middle(rows: list[tuple[float, float]]) -> tuple[float, float]:
    """Give the medians of wall and CPU."""
    return median(wall for wall, _ in rows), median(used for _, used in rows)


async def begun(root: Path, data_dir: Path, watch: Watch) -> Snapshots:
    """Open snapshots over a store of their own, with the first one taken and all stored."""
    rows = Store.open(data_dir, now=now).snapshots
    made = await Snapshots.open(root, rows, data_dir=data_dir, now=now, watch=watch)
    await made.snapshot()
    await made.ready()
    return made


async def restart(before: Snapshots, store: Store, root: Path, folder: Path) -> None:
    head = await before.snapshot()
    ended = await measured(before.close)
    print(f"  what is kept in batches: {ended[0]:.1f} ms, {ended[1]:.1f} CPU for all rounds")
    again = await Snapshots.open(
        root, store.snapshots, data_dir=folder / "watched", now=now, watch=EVENTS
    )
    wall, used = await measured(lambda: drop(again.snapshot()))
    assert await again.snapshot() == head
    print(f"  first after a restart: {wall:.0f} ms, {used:.0f} CPU; the same snapshot")
    await again.close()


def on_disk(folder: Path) -> int:
    """Give the bytes of a store that hold something."""
    with opened_beside(folder) as con:
        (bytes_used,) = con.execute(
            "SELECT (page_count - freelist_count) * page_size "
            "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ).fetchone()
    return int(bytes_used)


def report(names: list[str], figures: Figures) -> None:
    print(f"  {'wall / CPU ms':22}" + "".join(f"{count:>20} changed" for count in CHANGED))
    medians = {key: middle(rows) for key, rows in figures.items()}
    for name in names:
        cells = [medians[name, count] for count in CHANGED]
        print(f"  {name:22}" + "".join(f"{w:>16.2f} / {c:>8.3f} " for w, c in cells))
    for name in OURS[:3]:
        walls = [wall for wall, _ in figures[name, 1]]
        told = f"{median(walls):.1f} ms wall (aim {AIM_WALL}), {max(walls):.1f} at most"
        print(f"  {name}, one changed file: {told}")
    for name in OURS:
        for other in GITS:
            ratios = [medians[other, n][1] / max(1e-6, medians[name, n][1]) for n in CHANGED]
            cells_text = "".join(f"{ratio:>26,.1f}x" for ratio in ratios)
            print(f"  {name} to {other}: CPU".ljust(24) + cells_text)


async def nothing() -> None:
    """Do what the measuring itself costs."""


async def drop(work: Awaitable[object]) -> None:
    await work


def main(arguments: Sequence[str] = ()) -> None:
    """Print one table for each size, such as `4000` or `4,000`."""
    for files in [int(given.replace(",", "")) for given in arguments] or SIZES:
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(bench(Path(name), files))


if __name__ == "__main__":
    main(sys.argv[1:])
