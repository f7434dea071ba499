"""Sessions put away into bundles, and taken back as they were."""

import asyncio
import stat
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.config.retention import DAY, Retention
from sidecar.core.errors import BadRequest, SessionOwned, StorageFailed, UnknownSession
from sidecar.core.parts import SessionId, ToolPart
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer import archive as archiving
from sidecar.session.transfer.archive import Archived, archive, bundles_of, settle
from sidecar.session.transfer.bundle_import import Imported, ImportSource, import_session
from sidecar.store.connection import bundle_file
from sidecar.store.format.bundles import read_lines
from sidecar.store.format.values import Stored
from tests.core.stated import stated
from tests.fakes.scripted_model import Hold, calls, says
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World
from tests.session.subtasks import TASK, hands, limited
from tests.session.work import TOOLS
from tests.store.holders import ground_beside, hold
from tests.store.on_disk import behind

KEY = "sk-ant-api03-" + "aB3_" * 20
LINES = "\n".join(f"line {n} of a long output" for n in range(20_000))


async def worked(desk: Desk) -> Session:
    """A session with a long output, a key in it, thinking, a rewrite and a fact."""
    session = await desk.open(tools=TOOLS, policy="manual")
    desk.editor.tools["look"] = lambda _: LINES
    desk.script(calls(("a", "look", {"path": "x"})), says(f"The key is {KEY}."))
    await desk.ask(session)
    fact = stated("We use tabs", source=inside.messages(session)[0].turn_id)
    await desk.store.facts.add(session.id, str(desk.workspace), [fact])
    return session


async def put_away(desk: Desk, session: Session) -> Archived:
    (done,) = await desk.sessions.archive(session.id)
    return done


async def bring_back(desk: Desk, path: Path) -> Imported:
    environment = await desk.sessions.shared.ready()
    return await import_session(
        environment, ImportSource(path=str(path)), str(desk.workspace), None
    )


def same(one: Stored, other: Stored) -> bool:
    """Whether two are the same, but for when they were last used."""
    return replace(one, session=replace(one.session, updated=other.session.updated)) == other


async def test_it_comes_back_whole_and_under_its_id(desk: Desk) -> None:
    session = await worked(desk)
    part = inside.parts(session, ToolPart)[0]
    await desk.sessions.close(session.id)
    before = await desk.store.logs.load(session.id)
    facts = await desk.store.facts.find(session_id=session.id, limit=9)
    done = await put_away(desk, session)
    with pytest.raises(UnknownSession):
        await desk.store.sessions.row(session.id)
    report = await desk.store.verify()
    assert (report.sessions, report.blobs, report.problems) == (0, 0, ())
    assert (done.size, stat.S_IMODE(done.path.stat().st_mode)) == (done.path.stat().st_size, 0o600)
    assert done.freed > done.size / 2
    made = await bring_back(desk, done.path)
    assert (made.session_id, made.format) == (session.id, "sidecar")
    assert same(await desk.store.logs.load(session.id), before)
    assert await desk.store.facts.find(session_id=session.id, limit=9) == facts
    again = await desk.sessions.get(session.id)
    assert "line 19000 of" in (await again.recall(part.id, 0, None, "line 19000 ")).content
    assert (await desk.store.verify()).problems == ()


async def test_opening_an_archived_session_says_how_it_comes_back(desk: Desk) -> None:
    session = await worked(desk)
    done = await put_away(desk, session)
    with pytest.raises(UnknownSession, match=f"sidecar import {done.path}"):
        await desk.sessions.get(session.id)
    with pytest.raises(UnknownSession, match="session/list"):
        await desk.sessions.get(SessionId("ses_none"))
    with pytest.raises(UnknownSession, match="was archived"):
        await desk.sessions.archive(session.id)


async def test_a_copy_of_the_bundle_elsewhere_is_not_trusted(desk: Desk, tmp_path: Path) -> None:
    session = await worked(desk)
    done = await put_away(desk, session)
    elsewhere = tmp_path / "copy.sidecar"
    elsewhere.write_bytes(done.path.read_bytes())
    made = await bring_back(desk, elsewhere)
    assert made.session_id != session.id
    # And one that is there already is not written over, but taken in as another.
    assert (await bring_back(desk, done.path)).session_id == session.id
    third = await bring_back(desk, done.path)
    assert third.session_id not in (session.id, made.session_id)


async def test_what_had_gone_before_is_known_afterwards(world: World) -> None:
    async with world.daemon() as desk:
        session = await worked(desk)
        part = inside.parts(session, ToolPart)[0]
        await desk.sessions.close(session.id)
        world.time += 8 * DAY
        plan = await desk.store.keeping.plan(Retention())
        await desk.store.outputs.let_go(plan.outputs)
        before = await desk.store.logs.load(session.id)
        done = await put_away(desk, session)
        await bring_back(desk, done.path)
        assert same(await desk.store.logs.load(session.id), before)
        again = await desk.sessions.get(session.id)
        assert "was removed on 2023-11-22" in (await again.recall(part.id, 0, 10, None)).content
        assert (await desk.store.verify()).problems == ()


async def test_a_session_that_works_or_is_open_elsewhere_stays(desk: Desk) -> None:
    session = await worked(desk)
    desk.script(Hold())
    asked = asyncio.get_running_loop().create_task(desk.ask(session))
    await desk.until(lambda: session.prompts.busy)
    with pytest.raises(BadRequest, match="a turn of this session runs"):
        await desk.sessions.archive(session.id)
    session.prompts.cancel()
    await asked
    with pytest.raises(SessionOwned, match="open in a window"):
        await archive(ground_beside(desk), session.id)
    assert bundles_of(desk.world.folder) == []
    assert (await desk.store.sessions.row(session.id)).id == session.id


async def test_a_fork_lives_on_without_its_origin(desk: Desk) -> None:
    session = await worked(desk)
    opened = await desk.sessions.fork(session.id, None, desk.editor, desk.watch)
    fork = await desk.sessions.get(opened.session_id)
    said = [message.parts for message in inside.conversation(fork)]
    await put_away(desk, session)
    await desk.sessions.close(fork.id)
    again = await desk.sessions.get(fork.id)
    assert [message.parts for message in inside.conversation(again)] == said
    part = inside.parts(again, ToolPart)[0]
    assert "line 19000 of" in (await again.recall(part.id, 0, None, "line 19000 ")).content
    assert (await desk.store.verify()).problems == ()


async def test_subtasks_go_with_the_session_that_began_them(world: World) -> None:
    async with limited(world).daemon() as desk:
        session = await desk.open()
        desk.script(hands(TASK), says("the report"), says("ok"))
        await desk.ask(session)
        page, _ = await desk.sessions.list(None, None, 9)
        (child,) = {one.session_id for one in page} - {session.id}
        opened = await desk.sessions.fork(session.id, None, desk.editor, desk.watch)
        # A fork knows of the subtask, too, but it is not its own.
        await desk.sessions.archive(opened.session_id)
        assert (await desk.store.sessions.row(child)).id == child
        done = await desk.sessions.archive(session.id)
        assert [one.session_id for one in done] == [child, session.id]
        for one in done:
            await bring_back(desk, one.path)
        assert (await desk.store.sessions.row(child)).settings["parent"] == session.id


async def test_facts_that_others_bear_out_stay_for_them(desk: Desk) -> None:
    cwd = str(desk.workspace)
    sessions = [await desk.open() for _ in range(3)]
    for n, session in enumerate(sessions):
        shared = stated("We use tabs", source=f"turn_{n}")
        own = stated(f"Only {n} knows", source=f"turn_{n}")
        await desk.store.facts.add(session.id, cwd, [shared, own])
    first, second, _ = sessions
    before = await desk.store.facts.candidates(second.id)
    await put_away(desk, first)
    # What three sessions bore out is borne out by three still.
    assert await desk.store.facts.candidates(second.id) == before
    left = await desk.store.facts.find(session_id=first.id, limit=9)
    assert [one.fact.content for one in left] == ["We use tabs"]
    assert await desk.store.facts.find(query="Only 0 knows", limit=9) == ()


async def test_a_damaged_session_is_not_put_away(desk: Desk) -> None:
    session = await worked(desk)
    await desk.sessions.close(session.id)
    await behind(desk.store, lambda con: con.execute("UPDATE part SET hash = 'x'") and None)
    with pytest.raises(StorageFailed, match="sidecar verify"):
        await archive(ground_beside(desk), session.id)
    assert bundles_of(desk.world.folder) == []


async def test_what_does_not_read_back_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await worked(desk)
    await desk.sessions.close(session.id)
    whole = archiving.lines_of

    def torn(bundle: archiving.Bundle) -> object:
        return whole(replace(bundle, session=replace(bundle.session, title="other")))

    monkeypatch.setattr(archiving, "lines_of", torn)
    with pytest.raises(StorageFailed, match="does not read back"):
        await archive(ground_beside(desk), session.id)
    assert bundles_of(desk.world.folder) == []
    assert (await desk.store.sessions.row(session.id)).id == session.id


@pytest.mark.parametrize("removed", [False, True])
async def test_what_was_begun_is_ended_by_whoever_comes_next(desk: Desk, removed: bool) -> None:
    session = await worked(desk)
    await desk.sessions.close(session.id)
    done = await put_away(desk, session)
    pending = done.path.rename(f"{done.path}{archiving.PENDING}")
    (done.path.parent / f".{done.path.name}.ab.tmp").write_bytes(b"half")
    if not removed:
        await bring_back(desk, pending)
    # Somebody who is still at it is let be.
    await hold(desk.store, session.id, "another")
    await settle(ground_beside(desk))
    assert pending.exists()
    await desk.store.leases.release(session.id, "another")
    await settle(ground_beside(desk))
    left = [path.name for path in done.path.parent.iterdir()]
    assert left == ([done.path.name] if removed else [])
    if removed:
        read_lines(bundle_file.read(done.path))
    else:
        await desk.store.sessions.row(session.id)


async def test_settling_leaves_alone_what_is_being_archived(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep of a daemon settles with the name under which the same daemon archives."""
    session = await worked(desk)
    await desk.sessions.close(session.id)
    written, settled = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slowly(path: Path, lines: Iterable[bytes], *, replace: bool) -> int:
        size = write(path, lines, replace=replace)
        loop.call_soon_threadsafe(written.set)
        assert settled.wait(LIMIT)
        return size

    write = bundle_file.write
    monkeypatch.setattr(bundle_file, "write", slowly)
    same_daemon = ground_beside(desk)
    putting = loop.create_task(archive(same_daemon, session.id))
    try:
        async with asyncio.timeout(LIMIT):
            await written.wait()
            await settle(same_daemon)
    finally:
        settled.set()
    (done,) = await putting
    assert done.path.exists()
    with pytest.raises(UnknownSession):
        await desk.store.sessions.row(session.id)
