"""A restore of 500 files is killed at any moment: all before or all after, and the log agrees.

`SIDECAR_KILLS=50 pytest tests/faults/test_restore_killed.py` kills as often as that with each of
two seeds, 500 times at most. As a program it does the same as often as one likes:
`python test_restore_killed.py ROUNDS SEED`.
"""

import asyncio
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from sidecar.workspace.restore.recovery import recover
from tests.faults import restorer
from tests.faults.forked import program
from tests.figures import Figures
from tests.workspace.restore.site import SES, Site, Tree, record

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent
FILES = 500
KILLS = min(500, int(os.environ.get("SIDECAR_KILLS", "4")))
LIMIT = 60.0


def change(site: Site, dice: random.Random, files: int) -> None:
    """Edit, delete, create, rename and turn files into other things, `files` in all."""
    for number in range(files):
        path = f"package{number // 40}/module{number // 8}/file{number}.py"
        match number % 8:
            case 0:
                site.write(path + ".new", dice.randbytes(2000))
            case 1:
                (site.root / path).unlink()
            case 2:
                (site.root / path).chmod(0o755)
            case 3:
                (site.root / path).unlink()
                (site.root / path).symlink_to("elsewhere")
            case 4:
                (site.root / path).unlink()
                site.write(path + "/inner", b"a folder now")
            case _:
                site.write(path, dice.randbytes(3000), 0o640)
    for number in range(0, files, 8):
        folder = site.root / f"package{number // 40}/module{number // 8}/deep/er"
        folder.mkdir(parents=True)
        (folder / os.fsdecode(b"\xff")).write_bytes(b"new")


async def prepare(folder: Path, dice: random.Random, files: int) -> dict[str, Tree]:
    site = Site(folder)
    for number in range(files):
        path = f"package{number // 40}/module{number // 8}/file{number}.py"
        site.write(path, dice.randbytes(dice.randrange(4000)))
    before = await site.remember()
    change(site, dice, files)
    states = {"before": before, "after": await site.remember()}
    (folder / "states").write_bytes(pickle.dumps(states))
    await site.store.write(*record(1, "after"))
    await site.store.close()
    return states


def run(folder: Path, to: str, *, kill_at: int = 0, kill_after: float | None = None) -> str:
    """Let the process restore; kill it at a call, or some seconds after it begins."""
    with program(restorer.__file__, folder, to, kill_at) as process:
        said = process.stdout.readline()
        assert said == b"go\n", process.stderr.read()
        try:
            process.wait(LIMIT if kill_after is None else kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
        rest = process.stdout.read()
        assert process.wait() in (0, -signal.SIGKILL), process.stderr.read()
        return rest.decode()


async def check(folder: Path, states: dict[str, Tree]) -> tuple[str, str]:
    """Recover as a start does, and see that files and log agree; gives the state, and how."""
    site = Site(folder)
    done = await recover(site.root, site.store)
    tree = site.tree()
    log = await site.store.logs.load(SES)
    says = str(log.records[-1].body["to"])
    assert tree == states[says], f"the log says {says}"
    assert await site.store.restores.roots() == ()
    assert await recover(site.root, site.store) is None
    assert (await site.store.verify()).problems == ()
    await site.store.close()
    return says, "nothing to do" if done is None else done.how


async def rounds(folder: Path, count: int, seed: int, files: int = FILES) -> Counter[str]:
    """Kill and recover again and again; gives how often what came of it."""
    dice = random.Random(seed)
    states = await prepare(folder, dice, files)
    calls, _, _ = run(folder, "before").partition(" ")
    says, how = await check(folder, states)
    assert (says, how) == ("before", "nothing to do")
    found: Counter[str] = Counter()
    for number in range(count):
        to = "after" if says == "before" else "before"
        if number % 2:
            run(folder, to, kill_after=dice.uniform(0, 0.6))
        else:
            run(folder, to, kill_at=dice.randrange(1, int(calls)))
        stands, how = await check(folder, states)
        found[f"{how}, {'all after' if stands == to else 'all before'}"] += 1
        says = stands
    return found


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_restore_ends_whole_whenever_it_was_killed(
    tmp_path: Path, figures: Figures, seed: int
) -> None:
    found = await rounds(tmp_path, KILLS, seed)
    figures.add(f"restores of {FILES} files, killed, seed {seed}", found.total(), KILLS)
    for how, count in sorted(found.items()):
        figures.add(f"  {how}", count)
    assert found.total() == KILLS


async def test_killed_at_every_kind_of_call(tmp_path: Path) -> None:
    states = await prepare(tmp_path, random.Random(3), 16)
    calls = int(run(tmp_path, "before").partition(" ")[0])
    says, _ = await check(tmp_path, states)
    for kill_at in range(1, calls + 1, 23):
        run(tmp_path, "after" if says == "before" else "before", kill_at=kill_at)
        says, _ = await check(tmp_path, states)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(asyncio.run(rounds(Path(name), int(sys.argv[1]), int(sys.argv[2]))))
