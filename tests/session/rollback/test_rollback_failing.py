"""Going back where the store fails, or the daemon is killed: all of it, or nothing."""

import asyncio
import itertools
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.files.tree import SnapshotId
from sidecar.session.interface import Wish
from sidecar.store.format.log_records import OptionRecord
from sidecar.workspace.restore import restore as carrying_out
from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.fakes.scripted_model import calls, write
from tests.session import inside
from tests.session.changes.test_tracker import told
from tests.session.conftest import Desk, World
from tests.session.logged import logged
from tests.session.rollback.test_going_back import ids, said, tree, work

pytestmark = pytest.mark.usefixtures("following")


class Killed(BaseException):
    """Stands for the end of a process."""


async def test_a_restore_stands_and_is_nobodys_change_when_killed_right_after(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open()
        turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))

        async def dies(*_: object, **__: object) -> str:
            raise StorageFailed("killed", kind="io")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(carrying_out, "clean", dies)
            with pytest.raises(StorageFailed):
                await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        await work(desk, session, "more")
        turns = [one for one in session.checkpoints.timeline().checkpoints if one.kind == "turn"]
        assert [one.sets for one in turns] == [(), ()]
        assert set(tree(desk.workspace)) == {"notes.txt"}


async def test_it_is_taken_back_and_nobodys_change_when_killed_before_it_stands(
    world: World,
) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open()
        turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
        before, shown = tree(desk.workspace), said(session)

        async def dies(*_: object) -> None:
            assert not (desk.workspace / "a.txt").exists()
            (desk.workspace / "mine.txt").write_text("mine\n")
            raise Killed

        with pytest.MonkeyPatch.context() as patch:
            # The snapshot after it is stored by then.
            patch.setattr(desk.store.restores, "finish", dies)
            with pytest.raises(BaseExceptionGroup) as ended:
                await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
            assert ended.group_contains(Killed)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert said(session) == shown
        assert tree(desk.workspace) == {**before, "mine.txt": (0o100644, b"mine\n")}
        await work(desk, session, "more")
        assert told(session)[-1] == [("mine.txt", "created", "user")]
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        assert set(tree(desk.workspace)) == {"mine.txt", "notes.txt"}


async def test_nothing_stands_whose_outcome_cannot_be_remembered(desk: Desk) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
    before, shown, points = tree(desk.workspace), said(session), ids(session)
    snapshot = Snapshots.snapshot

    async def fails(self: Snapshots) -> SnapshotId:
        if not (desk.workspace / "a.txt").exists():
            raise StorageFailed("the disk is full", kind="full")
        return await snapshot(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Snapshots, "snapshot", fails)
        with pytest.raises(StorageFailed):
            await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    assert (tree(desk.workspace), said(session), ids(session)) == (before, shown, points)
    await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt"}


async def test_what_stands_is_in_the_log_though_nobody_could_be_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open()
        turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))

        def breaks(*_: object) -> None:
            raise RuntimeError("nobody listens")

        with monkeypatch.context() as patch:
            patch.setattr(session, "rewritten", breaks)
            with pytest.raises(RuntimeError, match="nobody listens"):
                await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        # Nothing is left of it on the disk, nor for a restart to end.
        assert not list(desk.workspace.glob(".sidecar-restore-*"))
        assert await desk.store.restores.roots() == ()
        kinds = [record.kind for record in inside.records(session)]
        shown, points = said(session), ids(session)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert [record.kind for record in inside.records(session)] == kinds
        assert (said(session), ids(session)) == (shown, points)
        assert set(tree(desk.workspace)) == {"notes.txt"}


async def test_what_else_was_written_meanwhile_stays_when_it_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
    log, points = inside.log(session), ids(session)
    before = list(logged(log))

    async def fails(*_: Any) -> None:
        await log.writer.commit(OptionRecord(config_id="mode"))
        raise StorageFailed("the disk is full", kind="full")

    with monkeypatch.context() as patch:
        patch.setattr(desk.store.restores, "finish", fails)
        with pytest.raises(StorageFailed, match="the disk is full"):
            await session.rollback.restore(Wish("files", before_message_id=turn.message_id))
    assert [record.kind for record in logged(log)[len(before) :]] == ["option"]
    assert ids(session) == points
    await session.rollback.restore(Wish("files", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt"}


@pytest.mark.parametrize("changes", [False, True])
async def test_a_price_is_kept_where_nothing_else_was_logged(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, changes: bool
) -> None:
    session = await desk.open()
    inside.plan_prices(monkeypatch, map(str, itertools.count()))
    turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
    planned = session.priced_meter().cost.compact_now
    assert planned is not None
    snapshot = Snapshots.snapshot

    async def changing(self: Snapshots) -> SnapshotId:
        if changes and not (desk.workspace / "a.txt").exists():
            await inside.commit(session)
        return await snapshot(self)

    with monkeypatch.context() as patch:
        patch.setattr(Snapshots, "snapshot", changing)
        await session.rollback.restore(Wish("files", before_message_id=turn.message_id))
    assert (session.meter().cost.compact_now == planned) is not changes


async def test_a_store_that_fails_leaves_everything_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
    before, shown, points = tree(desk.workspace), said(session), ids(session)

    async def fails(*_: Any) -> None:
        raise StorageFailed("the disk is full", kind="full")

    for scope in ("both", "conversation"):
        with monkeypatch.context() as patch:
            patch.setattr(desk.store.restores, "finish", fails)
            patch.setattr(desk.store, "write", lambda *_: asyncio.ensure_future(fails()))
            with pytest.raises(StorageFailed):
                await session.rollback.restore(Wish(scope, before_message_id=turn.message_id))
        assert (tree(desk.workspace), said(session), ids(session)) == (before, shown, points)
    await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt"}
