"""Other processes that use a store: `python children.py write|lease|hammer FOLDER …`.

They speak in lines on stdout and go on until they are killed or their stdin ends.
"""

import asyncio
import os
import sys
from itertools import count
from pathlib import Path
from time import time

from sidecar.core.parts import Message, MessageId, PartId, SessionId, TextPart, TurnId
from sidecar.store.connection.lease import this_process
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)
from sidecar.store.journal import Store

UNIT_PARTS = 3


def row(session_id: SessionId, revision: int) -> SessionRow:
    return SessionRow(session_id, "/w", "", 1, revision, revision, 0, 0, None, {"s": "x" * 3000})


def unit(session_id: SessionId, number: int) -> tuple[StoreChange, ...]:
    """A message with its parts and its record: whole or not at all."""
    name = MessageId(f"msg_{number:08}")
    message = Message(name, TurnId("turn_1"), "assistant", (), number)
    parts = (
        TextPart(PartId(f"part_{number:08}_{at}"), f"{number} " * 700, "model")
        for at in range(UNIT_PARTS)
    )
    return (
        PutSession(row(session_id, number)),
        PutMessage(session_id, message),
        *(PutPart(session_id, name, at, part) for at, part in enumerate(parts)),
        AppendRecord(session_id, Record(number, "step", number, {"n": number})),
    )


def say(line: object) -> None:
    # One system call, so that a kill cannot leave half a line that looks like a whole one.
    os.write(1, f"{line}\n".encode())


async def write(store: Store, name: str, first: str) -> None:
    """Write units without end, four at a time, and name each that is acknowledged."""
    session_id = SessionId(name)
    numbers = count(int(first))

    async def one(number: int) -> None:
        await store.write(*unit(session_id, number))
        say(number)

    while True:
        await asyncio.gather(*(one(next(numbers)) for _ in range(4)))


async def lease(store: Store, name: str, token: str) -> None:
    """Acquire a session, say how that went, and stay."""
    owner = await store.leases.acquire(SessionId(name), this_process(token))
    say("ours" if owner is None else f"{owner.pid} {owner.token}")
    await asyncio.to_thread(sys.stdin.read)


async def hammer(store: Store, name: str, units: str) -> None:
    """Write a session of one's own, unit by unit, and read in between."""
    session_id = SessionId(name)
    for number in range(1, int(units) + 1):
        await store.write(*unit(session_id, number))
        await store.logs.load(session_id)
    await store.close()
    say("done")


async def main(task: str, folder: str, *arguments: str) -> None:
    store = Store.open(Path(folder), now=lambda: int(time() * 1000))
    tasks = {"write": write, "lease": lease, "hammer": hammer}
    await tasks[task](store, *arguments)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
