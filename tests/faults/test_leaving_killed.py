"""Archiving, deleting and pruning are killed at any moment: each session is before it, or after.

`SIDECAR_KILLS=200 pytest tests/faults/test_leaving_killed.py` kills as often as that, each.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sidecar.config.retention import DAY
from sidecar.core.parts import MessageId, SessionId, TextPart
from sidecar.core.text.digest import digest
from sidecar.session.transfer.archive import bundles_of, settle
from sidecar.session.transfer.erasure import erase
from sidecar.store.connection import bundle_file
from sidecar.store.format.bundles import read_lines
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    Stored,
)
from sidecar.store.journal import Store
from tests.core.stated import stated
from tests.faults import leaver
from tests.faults.leaver import SESSIONS, ground_of
from tests.store.contents import blob, kept
from tests.store.samples import message, session, text, tool

KILLS = int(os.environ.get("SIDECAR_KILLS", "1"))
ROOT = Path(__file__).parent.parent.parent
LIMIT = 60.0
MESSAGES = 6


def word(name: str, number: int) -> str:
    """A word that nobody else says, short enough to stand in a row as it is."""
    return f"word{digest(f'{name}{number}'.encode())[3:15]}"


def whole(name: str, number: int) -> bytes:
    return random.Random(f"{name}{number}").randbytes(30_000)


async def fill(folder: Path) -> None:
    store = Store.open(folder, now=leaver.now)
    at = leaver.now() - 30 * DAY
    for index in range(SESSIONS):
        name = SessionId(f"ses_{index:02}")
        for number in range(MESSAGES):
            one = MessageId(f"msg_{number}")
            content = whole(name, number)
            call = tool(f"tool_{number}", f"shown {word(name, number)}", content)
            call = replace(call, state=replace(call.state, finished=at))
            said = text(f"text_{number}", f"{word(name, number)} " * 3)
            long = TextPart(said.id, f"{word(name, number)} {number} " * 500, "model")
            row = replace(session(name, updated=at + index), created=at)
            record = Record(number + 1, "step", at, {"said": word(name, number)})
            await store.write(
                PutSession(row),
                PutMessage(name, message(one)),
                blob(content),
                PutPart(name, one, 0, replace(said, id=type(said.id)(f"short_{number}"))),
                PutPart(name, one, 1, long),
                PutPart(name, one, 2, call),
                AppendRecord(name, record),
            )
        fact = stated(f"{word(name, 0)} it is", at=at)
        await store.facts.add(name, "/home/dev/app", [fact])
    await store.close()


@dataclass
class Place:
    """A store that is filled, and what is in it."""

    folder: Path
    before: dict[SessionId, Stored]

    def copy(self, folder: Path) -> Path:
        if folder.exists():
            shutil.rmtree(folder)
        return Path(shutil.copytree(self.folder, folder))


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    folder = tmp_path / "filled"
    await fill(folder)
    store = Store.open(folder, now=leaver.now)
    names = [SessionId(f"ses_{n:02}") for n in range(SESSIONS)]
    before = {name: await store.logs.load(name) for name in names}
    await store.close()
    return Place(folder, before)


def killed(task: str, folder: Path, dice: random.Random) -> list[str]:
    """Have it done by a process that is killed somewhere in it; gives what it said it had done."""
    command = [sys.executable, leaver.__file__, task, str(folder)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python/src'}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        try:
            said = [process.stdout.readline().strip()]
            assert said == ["go"]
            lines = dice.choice((0, 0, 1, 2, 5, 9)) if task != "prune" else 0
            said += [process.stdout.readline().strip() for _ in range(lines)]
            # Not to wait for anything: the moment is what is drawn.
            time.sleep(dice.random() * (0.3 if task == "prune" else 0.03))
            process.send_signal(signal.SIGKILL)
            said += process.stdout.read().split()
        finally:
            process.kill()
    return [line for line in said if line.startswith("ses_")]


def found(folder: Path, words: set[bytes]) -> set[bytes]:
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {one for one in words if any(one in content for content in contents)}


def words_of(name: SessionId) -> set[bytes]:
    texts = {word(name, number).encode() for number in range(MESSAGES)}
    return texts | {whole(name, number)[5000:5040] for number in range(MESSAGES)}


async def stored_of(store: Store) -> dict[SessionId, Stored]:
    page = await store.sessions.page(cwd=None, before=None, limit=SESSIONS)
    return {row.id: await store.logs.load(row.id) for row in page.rows}


async def test_a_session_is_in_one_place_wherever_archiving_was_killed(
    place: Place, tmp_path: Path
) -> None:
    for seed in range(KILLS):
        folder = place.copy(tmp_path / "copy")
        acknowledged = killed("archive", folder, random.Random(seed))
        ground = ground_of(folder, "next")
        await settle(ground)
        there = await stored_of(ground.store)
        bundles = {path.name.partition("-")[0]: path for path in bundles_of(folder)}
        assert [p.name for p in (folder / "archive").glob("*") if p.suffix != ".sidecar"] == []
        # Each is in one place, and whole there.
        assert there.keys().isdisjoint(bundles)
        assert there.keys() | bundles.keys() == place.before.keys()
        assert set(acknowledged) <= bundles.keys()
        for name, stored in there.items():
            assert stored == place.before[name]
        for name, path in bundles.items():
            bundle, before = read_lines(bundle_file.read(path)), place.before[SessionId(name)]
            assert (bundle.session, bundle.messages) == (before.session, before.messages)
            assert bundle.records == before.records
            assert len(bundle.outputs) == MESSAGES
            assert len(bundle.facts) == 1
        assert (await ground.store.verify()).problems == ()
        await ground.store.close()


async def test_what_is_said_to_be_deleted_is_gone_wherever_deleting_was_killed(
    place: Place, tmp_path: Path
) -> None:
    for seed in range(KILLS):
        folder = place.copy(tmp_path / "copy")
        acknowledged = killed("delete", folder, random.Random(seed))
        for name in acknowledged:
            assert found(folder, words_of(SessionId(name))) == set()
        ground = ground_of(folder, "next")
        assert await erase(ground)
        there = await stored_of(ground.store)
        assert there.keys().isdisjoint(acknowledged)
        for name, before in place.before.items():
            if name in there:
                assert there[name] == before
                assert await kept(ground.store, whole(name, 0)) == whole(name, 0)
            else:
                assert found(folder, words_of(name)) == set()
        assert (await ground.store.verify()).problems == ()
        await ground.store.close()


async def test_no_log_is_lost_wherever_pruning_was_killed(place: Place, tmp_path: Path) -> None:
    for seed in range(KILLS):
        folder = place.copy(tmp_path / "copy")
        killed("prune", folder, random.Random(seed))
        ground = ground_of(folder, "next")
        await settle(ground)
        there = await stored_of(ground.store)
        bundles = {path.name.partition("-")[0] for path in bundles_of(folder)}
        assert there.keys().isdisjoint(bundles)
        assert there.keys() | bundles == place.before.keys()
        for name, stored in there.items():
            # The log is the same bytes, whichever of its outputs went.
            assert stored == place.before[name]
            gone = await ground.store.outputs.gone_of(name)
            for number in range(MESSAGES):
                content = whole(name, number)
                found = await kept(ground.store, content)
                assert found == (None if blob(content).hash in gone else content)
        assert (await ground.store.verify()).problems == ()
        # What was left is done by the next.
        plan = await ground.store.keeping.plan(leaver.RULES)
        assert {one.id for one in plan.sessions} == there.keys()
        await ground.store.close()
