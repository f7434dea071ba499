"""`checkpoint/restore` and `checkpoint/diff` whole, as a session answers them.

Snapshot, plan, files, records and the snapshot after it; what waits for the disk is told apart.
A fifth of the files were created by the turn that is undone, a fifth deleted, the rest edited.
"""

import asyncio
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from sidecar.config import Config
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from tests.benchmarks.bench_snapshots import measured
from tests.benchmarks.syncs import Syncs, timed_syncs
from tests.fakes.scripted_model import calls, says, shell
from tests.session.conftest import Desk, World

ROUNDS = 6
EDIT = """
import pathlib, sys
for name in pathlib.Path(sys.argv[1]).read_text().splitlines():
    what, path = name[0], pathlib.Path(name[1:])
    if what == "d":
        path.unlink()
    elif what == "c":
        path.write_text("# created\\n" * 40)
    else:
        lines = path.read_text().split("\\n")
        lines[len(lines) // 2 : len(lines) // 2 + 1] = ["# edited", "# in the middle"]
        path.write_text("\\n".join(lines))
"""
Row = tuple[float, float, float]


def edited(data: bytes) -> bytes:
    """Give a file's content with a line in its middle replaced by two."""
    lines = data.split(b"\n")
    lines[len(lines) // 2 : len(lines) // 2 + 1] = [b"# edited", b"# in the middle"]
    return b"\n".join(lines)


async def whole(folder: Path, root: Path, paths: Sequence[Path], counts: Sequence[int]) -> None:
    """Print a table: a turn changes so many files, and is undone and redone again and again."""
    config = Config(model="scripted", workspace_trusted=True, data_dir=folder / "session")
    world = World(folder / "session", root, config=config, follows=True)
    (folder / "edit.py").write_text(EDIT)
    dice = random.Random(2)
    left = dice.sample(list(paths), len(paths))
    tables: list[tuple[int, list[Row], list[Row], Row]] = []
    with timed_syncs() as syncs:
        async with world.daemon() as desk:
            session = await desk.open()
            for count in counts:
                chosen, left = left[:count], left[count:]
                message = await _turn(desk, session, folder, chosen)
                # Nobody goes back while the daemon still looks behind the turn's events.
                await asyncio.sleep(1)
                tables.append((count, *(await _back_and_forth(session, message, count, syncs))))
    print(f"\n  {'ms through a session':34}" + "".join(f"{n:>13}" for n in counts))
    back, forth = ([table[1] for table in tables], [table[2] for table in tables])
    for name, taken in (("checkpoint/restore, whole", back), ("checkpoint/redo, whole", forth)):
        rows = [[median(one) for one in zip(*some, strict=True)] for some in taken]
        print(f"  {name:34}" + "".join(f"{wall:>13.2f}" for wall, _, _ in rows))
        print(f"  {'  CPU':34}" + "".join(f"{used:>13.2f}" for _, used, _ in rows))
        print(f"  {'  waiting for the disk':34}" + "".join(f"{wait:>13.2f}" for *_, wait in rows))
        alone = [wall - wait for wall, _, wait in rows]
        print(f"  {'  plus fsync (one file: aim 5)':34}" + "".join(f"{ms:>13.2f}" for ms in alone))
        each = [ms / table[0] for ms, table in zip(alone, tables, strict=True)]
        print(f"  {'  ms a file, plus fsync':34}" + "".join(f"{ms:>13.3f}" for ms in each))
    walls = [wall for *_, (wall, _, _) in tables]
    print(f"  {'checkpoint/diff, whole':34}" + "".join(f"{wall:>13.2f}" for wall in walls))


async def _turn(desk: Desk, session: Session, folder: Path, chosen: Sequence[Path]) -> str:
    """Let the agent change these files; gives the message to go back to before."""
    listed = [_what(number, path) for number, path in enumerate(chosen)]
    (folder / "list").write_text("\n".join(listed))
    command = f"{sys.executable} {folder / 'edit.py'} {folder / 'list'}"
    desk.script(calls(shell(command)), says("Done."))
    result = await desk.ask(session, f"Change {len(chosen)} files.")
    assert result.message_id is not None
    return result.message_id


def _what(number: int, path: Path) -> str:
    match number % 5:
        case 1:
            return f"d{path}"
        case 2:
            return f"c{path}.created"
        case _:
            return f"e{path}"


async def _back_and_forth(
    session: Session, message: str, count: int, syncs: Syncs
) -> tuple[list[Row], list[Row], Row]:
    back: list[Row] = []
    forth: list[Row] = []
    diffs: list[Row] = []

    # A script states no file that it changes, so that nobody can tell whose the changes are.
    back_to = Wish("files", before_message_id=message, on_conflict="overwrite")

    async def restore() -> None:
        done = await session.rollback.restore(back_to)
        assert len(done.fates) == count, (count, len(done.fates))

    async def redo() -> None:
        await session.rollback.redo(Wish("files"))

    async def diff() -> None:
        start = f"cp_{message}"
        shown = await session.checkpoints.diff(start, None, None)
        assert len(shown) == count, (count, len(shown))

    for _ in range(ROUNDS):
        for way, rows in ((diff, diffs), (restore, back), (redo, forth)):
            before = syncs.ms
            wall, used = await measured(way)
            rows.append((wall, used, syncs.ms - before))
            await asyncio.sleep(0)
    wall, used, wait = (median(one) for one in zip(*diffs, strict=True))
    return back, forth, (wall, used, wait)
