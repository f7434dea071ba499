"""A process that restores files, to be killed: `python restorer.py FOLDER TO [KILL_AT]`.

`TO` names the state to go to, as pickled in FOLDER. With KILL_AT it kills itself before the
system call of that number that Python makes for it; without, it says how many there were.
"""

import asyncio
import os
import pickle
import signal
import sys
from pathlib import Path

from sidecar.workspace.restore.restore import restore
from tests.workspace.restore.site import Site, plan, record, recording

CALLS = ("os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.chmod", "os.symlink", "open")


async def main(folder: Path, to: str, kill_at: int) -> None:
    states = pickle.loads((folder / "states").read_bytes())
    other = "after" if to == "before" else "before"
    actions = plan(states[other], states[to])
    site = Site(folder)
    load = await site.store.logs.load(record(1, "")[0].row.id)  # type: ignore[union-attr]
    revision = load.session.revision + 1
    count = 0

    def listen(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event in CALLS:
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(listen)
    os.write(1, b"go\n")
    outcome = await restore(site.root, actions, site.store, record=recording(revision, to))
    os.write(1, f"{count} {outcome}\n".encode())
    await site.store.close()


if __name__ == "__main__":
    given = sys.argv[3] if len(sys.argv) > 3 else "0"
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(given)))
