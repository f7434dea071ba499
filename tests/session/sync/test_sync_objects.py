"""What lies on a ref: objects that hosts take, and nothing that is not of sessions."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from sidecar.session.desk.session_sync import sync
from sidecar.session.sync import sync_refs, syncing
from sidecar.session.sync.sync_outcome import SyncOutcome, SyncWish
from tests.e2e.sync_users import bare, git, refs
from tests.fakes.scripted_model import calls, says, write
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.stories import away

LARGEST = 2_000


async def synced(desk: Desk, remote: Path, *names: str) -> SyncOutcome:
    wish = SyncWish(str(desk.workspace), str(remote), agreed=str(remote), names=frozenset(names))
    return await sync(desk.sessions, wish)


async def gone_on(world: World, desk: Desk, remote: Path, name: str) -> None:
    """Send a session, and have another machine take a turn in it that waits on the remote."""
    await synced(desk, remote)
    async with away(world).daemon() as there:
        (came,) = (await synced(there, remote, name)).received
        there.script(says("two"))
        await there.ask(await there.sessions.get(came.session_id))
        await synced(there, remote)


async def test_a_large_piece_lies_in_several_objects(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_refs, "LARGEST", LARGEST)
    remote, dice = bare(tmp_path / "remote.git"), random.Random(1)
    async with world.daemon() as desk:
        session = await desk.open()
        for _ in range(2):
            desk.script(says("".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=20_000))))
            await desk.ask(session)
            assert len((await synced(desk, remote)).sent) == 1
        messages = inside.messages(session)
        name = session.id
    listed = git("ls-tree", "-l", refs(remote)[name], cwd=remote).splitlines()
    sizes = {line.split()[4]: int(line.split()[3]) for line in listed}
    assert max(sizes.values()) == LARGEST
    assert {path[:6] for path in sizes} == {"000001", "000002"}
    assert len(sizes) > 8
    async with away(world).daemon() as desk:
        (came,) = (await synced(desk, remote, name)).received
        assert inside.messages(await desk.sessions.get(came.session_id)) == messages
        assert (await desk.store.verify()).problems == ()


@pytest.mark.parametrize("way", ["lost", "closes"])
async def test_a_window_that_goes_amid_a_sync_is_given_no_session_back(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    remote = bare(tmp_path / "remote.git")
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("one"))
        await desk.ask(session)
        await gone_on(world, desk, remote, session.id)
        took = syncing.take_on

        async def leave(*given: Any, **more: Any) -> Any:
            if way == "lost":
                desk.sessions.open.detach(desk.watch)
            else:
                await desk.sessions.close(session.id, desk.watch)
            return await took(*given, **more)

        monkeypatch.setattr(syncing, "take_on", leave)
        assert len((await synced(desk, remote)).received) == 1
        found = desk.sessions.open.find(session.id)
        assert found is None or found.audience.watchers() == ()


async def test_what_is_always_rejected_stays_so_when_a_sync_brings_a_turn(
    world: World, tmp_path: Path
) -> None:
    remote = bare(tmp_path / "remote.git")
    async with world.daemon() as desk:
        session = await desk.open()
        desk.editor.permission = "reject_always"
        desk.script(calls(write("lib/a.py", "x")))
        await desk.ask(session)
        await gone_on(world, desk, remote, session.id)
        assert len((await synced(desk, remote)).received) == 1
        desk.editor.permission = "allow_once"
        desk.script(calls(write("src/b.py", "x")), says("no"))
        await desk.ask(await desk.sessions.get(session.id))
    assert not (world.workspace / "src/b.py").exists()


@pytest.mark.parametrize("held", [True, False])
async def test_other_sessions_go_on_while_a_sync_takes_a_turn_on(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    remote = bare(tmp_path / "remote.git")
    async with world.daemon() as desk:
        session, other = await desk.open(), await desk.open()
        desk.script(says("one"))
        await desk.ask(session)
        await gone_on(world, desk, remote, session.id)
        if not held:
            await desk.sessions.close(session.id)
        took = syncing.take_on

        async def meanwhile(*given: Any, **more: Any) -> Any:
            desk.script(says("three"))
            await desk.ask(await desk.sessions.get(other.id))
            return await took(*given, **more)

        monkeypatch.setattr(syncing, "take_on", meanwhile)
        async with asyncio.timeout(20):
            assert len((await synced(desk, remote)).received) == 1
        assert len(inside.messages(await desk.sessions.get(session.id))) == 4
