"""A first look finds what any other look at everything finds, and keeps the same rules."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.workspace.snapshots.known_paths import KnownPaths, unread_of
from sidecar.workspace.snapshots.scan import first_look
from sidecar.workspace.snapshots.scan.scan import Scan
from sidecar.workspace.snapshots.watch.inotify import InotifyWatch
from sidecar.workspace.snapshots.watch.unwatched_paths import Unwatched
from tests.workspace.snapshots.upheaval import NAMES, Upheaval, plain
from tests.workspace.snapshots.work import Work, now

RULES = ["x.py\n", "*.log\n!deep.log\n", "/b\n", "a/\n", "*\n!*/\n", "# nothing\n"]
TOLD = [*NAMES, b"deep.log", b"other.log", b".git", b"ignored"]
MANY = 6 * first_look.AT_ONCE + 3


def filled(root: Path, seed: int) -> Path:
    """Make a tree with rules, repositories, links and many folders side by side."""
    root.mkdir()
    dice = random.Random(seed)
    Upheaval(root, seed).act(200)
    for number in range(MANY):
        folder = root / f"many/m{number}"
        folder.mkdir(parents=True)
        for name in dice.sample(NAMES, 2):
            (folder / os.fsdecode(name)).write_bytes(name)
        if number % (MANY // 3) == 5:
            (folder / ".gitignore").write_text(dice.choice(RULES))
    os.link(root / ".gitignore", root / "many/m7/second")
    return root


def looked(root: Path, begun: int | None) -> Scan:
    scan = Scan(root, KnownPaths(), {}, None, Unwatched(os.fsencode(root)), begun)
    scan.everything(deep=False)
    return scan


def known_after(scan: Scan, at: int) -> KnownPaths:
    state = KnownPaths()
    state.begin(scan.unread)
    for path, found in scan.stats.items():
        state.put(path, unread_of(found, at))
    return state


def verdicts(scan: Scan, folders: Iterator[bytes]) -> dict[bytes, bool]:
    """Say what the rules that were read leave out, in folders that were looked into."""
    found: dict[bytes, bool] = {}
    for folder in folders:
        rules = scan.rules.known(folder)
        assert rules is not None
        for name in TOLD:
            path = os.path.join(folder, name)
            found[path] = rules.ignored(path, False)
            found[path + b"/"] = rules.ignored(path, True)
    return found


@pytest.mark.parametrize("seed", range(int(os.environ.get("SIDECAR_SEEDS", "5"))))
def test_a_first_look_finds_what_any_other_finds(tmp_path: Path, seed: int) -> None:
    root, at = filled(tmp_path / "work", seed), now()
    one, other = looked(root, at), looked(root, None)
    known = known_after(one, at)
    assert known.folders == known_after(other, at).folders
    assert one.linked == other.linked
    assert b"many/m7/second" in one.linked
    assert verdicts(one, iter(known.folders)) == verdicts(other, iter(known.folders))


def test_what_is_tracked_is_found_in_a_folder_that_rules_leave_out(tmp_path: Path) -> None:
    for path in (".gitignore", "in/built1/kept", "in/built1/other", "in/built2/x", "in/plain/x"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("built*\n")
    for command in (("init", "-q"), ("add", "-f", "in/built1/kept")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, timeout=60)
    found = {path: set(names) for path, names in looked(tmp_path, now()).unread.items()}
    assert found == {
        b"": {b".gitignore", b"in"},
        b"in": {b"built1", b"plain"},
        b"in/built1": {b"kept"},
        b"in/plain": {b"x"},
    }


@pytest.mark.usefixtures("modes_hold")
def test_a_folder_that_is_closed_is_known_at_first(tmp_path: Path) -> None:
    folder = tmp_path / "work/in"
    (folder / "deep").mkdir(parents=True)
    folder.chmod(0o000)
    closed = looked(tmp_path / "work", now()).unread
    folder.chmod(0o755)
    assert {path: list(names) for path, names in closed.items()} == {b"": [b"in"], b"in": []}


class Vanishing(InotifyWatch):
    """Sees a folder vanish before it is looked into, and files after their folders were listed."""

    def __init__(self, root: Path, cookies: Path) -> None:
        super().__init__(root)
        self._work = root
        self._listed: list[bytes] = []

    def add(self, folder: bytes) -> None:
        if folder == b"in/gone":
            shutil.rmtree(self._work / "in/gone")
        super().add(folder)
        if folder in (b"in/a", b"in/b", b"in/c") and folder not in self._listed:
            for listed in self._listed:
                (self._work / os.fsdecode(listed) / "x").unlink(missing_ok=True)
            self._listed.append(folder)


async def test_what_vanishes_while_it_is_looked_at_is_gone_in_the_next_snapshot(
    work: Work,
) -> None:
    for folder in ("gone", "a", "b", "c"):
        for name in "xy":
            work.write(f"in/{folder}/{name}")
    snapshots = await work.open(Vanishing)
    first = await snapshots.snapshot()
    begun, left = snapshots.entries().keys(), plain(work.root).keys()
    assert len(left) == len({"in", "a", "b", "c"}) + len("xyyy")
    delta = await snapshots.delta(first, await snapshots.snapshot())
    assert delta is not None
    assert {change.path for change in delta if change.new is None} == begun - left
    assert b"in/gone" in begun - left
    assert snapshots.entries().keys() == left
