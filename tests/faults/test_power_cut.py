"""The power goes at any moment: what was told is there, whatever the disk made of the rest.

What a daemon asked of the disk is played again up to a moment. What was synced is there; of what
was not, any part: nothing, all, some writes and not others, and some of which only sectors came
through. `SIDECAR_CUTS=1000` says how many moments; without it there are 24.
"""

import asyncio
import json
import os
import random
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from tests.e2e.plain import PlainClient, Refused, Spawn, popen_of
from tests.fakes.validation import refusal
from tests.faults import recording
from tests.faults.killing import TOOL, answer, lookup, problems
from tests.faults.recording import Operation
from tests.faults.told import gather, half, missing
from tests.figures import Figures

CUTS = int(os.environ.get("SIDECAR_CUTS", "24"))
ROOT = Path(__file__).parent.parent.parent
SECTOR = 512
BEGINNING = 60
"""Operations from the first one to the schema's."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        recording.libsqlite() is None or sys.maxsize < 2**32,
        reason="the functions of Python's SQLite cannot be reached",
    ),
]


@dataclass
class File:
    """What is surely on the disk of a file, and what was asked for since its last sync."""

    durable: bytearray = field(default_factory=bytearray)
    waiting: list[Operation] = field(default_factory=list)
    named: bool = False
    """Whether its name is surely in the folder."""
    doomed: bool = False
    """Whether it was deleted, which may not have come through."""

    def sync(self) -> None:
        for operation in self.waiting:
            apply(self.durable, operation)
        self.waiting.clear()


def apply(content: bytearray, operation: Operation, sectors: tuple[int, ...] | None = None) -> None:
    """Do a write, or only some of its sectors, or a truncation."""
    what, _, at, data = operation
    if what == "truncate":
        del content[at:]
        return
    end = at + len(data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if sectors is None:
        content[at:end] = data
        return
    for sector in sectors:
        first = max(at, sector * SECTOR)
        last = min(end, (sector + 1) * SECTOR)
        content[first:last] = data[first - at : last - at]


def cut(operations: list[Operation], moment: int, dice: random.Random) -> dict[str, bytes]:
    """Give the files as a disk may have them whose power went after so many operations."""
    files: dict[str, File] = {}
    for operation in operations[:moment]:
        what, name, _, _ = operation
        if what in ("write", "truncate") and (name not in files or files[name].doomed):
            files[name] = File()
        match what:
            case "write" | "truncate":
                files[name].waiting.append(operation)
            case "sync":
                files[name].sync()
                if not files[name].named:
                    # SQLite syncs the folder with the first sync of a log or journal in it.
                    files[name].named = True
                    files = {n: f for n, f in files.items() if not f.doomed}
            case "delete":
                files[name].doomed = True
            case _:
                pass
    files = {n: f for n, f in files.items() if not f.doomed or dice.random() < 0.5}
    for file in files.values():
        way = dice.choice(["none", "all", "some", "torn", "first"])
        last = dice.randrange(len(file.waiting) + 1)
        for number, operation in enumerate(file.waiting):
            at, data = operation[2:]
            whole = way == "all" or (way == "first" and number < last)
            if whole or (way == "some" and dice.random() < 0.5):
                apply(file.durable, operation)
            elif way == "torn" and operation[0] == "write":
                touched = range(at // SECTOR, (at + len(data) - 1) // SECTOR + 1)
                apply(file.durable, operation, tuple(s for s in touched if dice.random() < 0.5))
    return {name: bytes(file.durable) for name, file in files.items()}


def messages(data: bytes) -> list[dict[str, Any]]:
    """Give the whole messages in what was told."""
    found = []
    while b"\r\n\r\n" in data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(rest) < length:
            break
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found


def work(folder: Path) -> tuple[str, list[Operation]]:
    """Have a daemon work that is recorded; gives its session and what it did."""
    log = folder / "log"
    (folder / "work").mkdir()
    client = PlainClient(
        folder / "data",
        answers={"tool/call": lookup},
        env={"PYTHONPATH": str(ROOT)},
        spawn=popen_of(recording.__file__, str(log)),
    )
    client.start(model="offline", permissions={"allow": ["write_file"]})
    given = {"cwd": str(folder / "work"), "tools": [TOOL]}
    session = str(client.request("session/new", given)["sessionId"])
    about = {"sessionId": session}
    count = 0
    for turn in range(8):
        steps = []
        for _ in range(4):
            count += 1
            steps.append(f'call lookup {{"n": {count}}}')
        steps.append(f"write file made{turn % 3}.txt with text {turn}")
        prompt = [{"type": "text", "text": " then ".join(steps)}]
        client.request("session/prompt", {**about, "prompt": prompt})
    with suppress(Refused):
        client.request("context/compact", {**about, "strategy": "economic"})
    client.request("session/fork", about)
    assert client.stop() == 0
    return session, list(recording.read(log))


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Operation]]:
    return work(tmp_path_factory.mktemp("recorded"))


@dataclass
class Found:
    """What came of cuts."""

    told: int = 0
    items: int = 0
    lost: list[str] = field(default_factory=list)


def cut_often(
    folder: Path, session: str, operations: list[Operation], seed: int, cuts: int, spawn: Spawn
) -> Found:
    """Cut at random moments, and compare what is left with what was told before."""
    dice, found = random.Random(seed), Found()
    for number in range(cuts):
        # The file's making is short and has ways to fail of its own.
        end = len(operations) if dice.random() < 0.8 else BEGINNING
        moment = dice.randrange(1, end + 1)
        files = cut(operations, moment, dice)
        place = folder / f"cut{number}"
        (place / "data").mkdir(parents=True)
        for name, content in files.items():
            (place / "data" / name).write_bytes(content)
        data = b"".join(data for what, _, _, data in operations[:moment] if what == "told")
        told = gather((m for m in messages(data) if "method" in m), session).durable()
        created = any("sessionId" in m.get("result", {}) for m in messages(data))
        try:
            lost = list(asyncio.run(problems(place / "data"))) if files else []
            if created:
                found.told, found.items = found.told + 1, found.items + told.items()
                lost += reopened(place, session, told, spawn)
        except (StorageFailed, Refused) as refused:
            lost = [str(refused)]
        found.lost += [f"cut {number} after {moment} operations: {line}" for line in lost]
        shutil.rmtree(place)
    return found


def test_the_power_goes_at_any_moment(
    tmp_path: Path, worked: tuple[str, list[Operation]], spawn: Spawn, figures: Figures
) -> None:
    session, operations = worked
    assert {what for what, _, _, _ in operations} >= {"write", "sync", "told"}
    found = cut_often(tmp_path, session, operations, 1, CUTS, spawn)
    figures.add(f"power cuts, among {len(operations)} operations", CUTS, CUTS)
    figures.add("  of which with a session told before", found.told)
    figures.add("  items told before, asked for again", found.items)
    figures.add("  lost, half or refused", len(found.lost), 0)
    assert found.lost == []
    assert found.items


def test_a_disk_that_lies_about_syncs_is_noticed(
    tmp_path: Path, worked: tuple[str, list[Operation]], spawn: Spawn
) -> None:
    """What is checked can fail: where syncs do nothing, something told is lost soon."""
    session, operations = worked
    lying = [one for one in operations if one[0] != "sync"]
    assert cut_often(tmp_path, session, lying, 2, 6, spawn).lost


def reopened(folder: Path, session: str, told: Any, spawn: Spawn) -> list[str]:
    """Open what is left in a daemon and compare it with what was told."""
    client = PlainClient(folder / "data", answers={"tool/call": lookup}, spawn=spawn)
    about = {"sessionId": session}
    prompt = [{"type": "text", "text": "What now?"}]
    try:
        client.start(model="offline")
        client.request("session/load", about)
        body = client.request("context/preview", {**about, "prompt": prompt})["request"]
    finally:
        client.kill()
    reason = refusal(body)
    now = gather(client.notifications, session)
    found = missing(told, now, undoing=False) + half(now)
    for state, given, output in now.calls.values():
        if state == "completed" and given and "n" in given and output != answer(given["n"]):
            found.append(f"half an output: {output!r:.80}")
    return found if reason is None else [*found, f"the next prompt is refused: {reason}"]
