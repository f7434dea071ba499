"""A process that archives, deletes or prunes, to be killed: `python leaver.py TASK FOLDER`.

It says `go`, and then the name of each session that it has done with.
"""

import asyncio
import os
import sys
from pathlib import Path
from time import time

from sidecar.config.retention import DAY, Retention
from sidecar.core.parts import SessionId
from sidecar.session.transfer.archive import Ground, archive
from sidecar.session.transfer.erasure import erase
from sidecar.session.transfer.sweep import carry_out, shrink
from sidecar.store.format.values import DeleteSession
from sidecar.store.journal import Store
from tests.store.holders import ground_at

SESSIONS = 12
RULES = Retention(outputs_days=7, archive_days=20)


def now() -> int:
    return int(time() * 1000) + 30 * DAY


def ground_of(folder: Path, token: str) -> Ground:
    return ground_at(Store.open(folder, now=now), now, token)


def say(line: str) -> None:
    # One system call, so that a kill cannot leave half a line that looks like a whole one.
    os.write(1, f"{line}\n".encode())


async def main(task: str, folder: str) -> None:
    ground = ground_of(Path(folder), "leaver")
    names = [SessionId(f"ses_{n:02}") for n in range(SESSIONS)]
    say("go")
    match task:
        case "archive":
            for name in names:
                await archive(ground, name)
                say(name)
        case "delete":
            for name in names:
                await ground.store.write(DeleteSession(name))
                assert await erase(ground)
                say(name)
        case "prune":
            plan = await ground.store.keeping.plan(RULES)
            done = await carry_out(ground, plan)
            for one in done.sessions:
                say(one.session_id)
            await shrink(ground)
    say("end")
    await ground.store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
