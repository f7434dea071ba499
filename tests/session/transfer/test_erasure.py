"""A deleted session leaves nothing: every byte of the data folder is searched for it."""

import os
from pathlib import Path

import pytest

from sidecar.config.retention import DAY, Retention
from sidecar.core.errors import UnknownSession
from sidecar.core.parts import SessionId
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer import erasure
from sidecar.session.transfer.archive import archive
from sidecar.session.transfer.bundle_export import export_session
from sidecar.session.transfer.erasure import erase
from sidecar.store.connection import free_pages
from sidecar.store.content.removal import DELETED
from sidecar.store.format.values import DeleteSession, PutPart
from tests.core.stated import stated
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.transfer.test_sweep import put
from tests.session.work import TOOLS
from tests.store.contents import noise
from tests.store.holders import ground_beside
from tests.store.on_disk import opened_beside, put_aside

pytestmark = pytest.mark.long

SECRET = "xylophone"
OTHER = "marimba"


def found(folder: Path, *needles: bytes) -> list[str]:
    """Search every byte below a folder, and the names of its files."""
    hits = []
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        hits += [f"{path.name}: {n[:20]!r}" for n in needles if n in content]
    return hits


def compressed(folder: Path, session_id: str) -> list[bytes]:
    """Give pieces of the session's blobs as they are on the disk, that no other blob has."""
    query = (
        "SELECT data, hash IN (SELECT hash FROM reference WHERE session_id = ?1) "
        "AND hash NOT IN (SELECT hash FROM reference WHERE session_id != ?1) FROM blob"
    )
    with opened_beside(folder) as con:
        rows = con.execute(query, (session_id,)).fetchall()
    mine = [data[len(data) // 2 :][:24] for data, own in rows if own and len(data) > 100]
    return [one for one in mine if not any(one in data for data, own in rows if not own)]


async def worked(desk: Desk, word: str, turns: int = 3) -> Session:
    """A session that says a word wherever it can: typed, thought, called, shown, noted."""
    session = await desk.open(tools=TOOLS, policy="manual", title=f"About the {word}")
    folder = desk.workspace
    desk.editor.tools["look"] = lambda given: (
        f"{given['path']}\n" + f"the {word} of {given['path']}\n" * 4000
    )
    for n in range(turns):
        desk.script(
            calls((f"a{n}", "look", {"path": f"{word}{n}"})),
            calls((f"b{n}", "write_file", {"path": str(folder / f"{word}{n}"), "content": word})),
            says(f"Short {word} {n}. " + f"and long: {word} {n} " * 200),
        )
        await desk.ask(session, f"Where is the {word} number {n}?")
        part = inside.messages(session)[-1].parts[0]
        where = inside.messages(session)[-1].id
        # As it is written while it streams, over and over, with its text in the row.
        desk.store.save(PutPart(session.id, where, 0, part, final=False))
        await desk.store.write(PutPart(session.id, where, 0, part))
        fact = stated(
            f"the {word} is number {n}",
            at=n,
            source=inside.messages(session)[0].turn_id,
            who="model",
        )
        await desk.store.facts.add(session.id, str(folder), [fact])
    return session


async def test_nothing_of_a_deleted_session_is_in_any_byte(world: World) -> None:
    async with world.daemon() as desk:
        first = await worked(desk, OTHER)
        session = await worked(desk, SECRET)
        await worked(desk, OTHER)
        environment = await desk.sessions.shared.ready()
        await export_session(environment, session.id, None, overwrite=False)
        (world.folder / "reports").mkdir()
        for name in (f"{session.id}.html", f".{session.id}.html.1f.tmp"):
            (world.folder / "reports" / name).write_text(f"The {SECRET}.")
        (world.folder / "reports" / f"{first.id}.html").write_text(f"The {OTHER}.")
        needles = [SECRET.encode(), *compressed(world.folder, session.id)]
        assert len(needles) > 2
        assert len({hit.partition(":")[0] for hit in found(world.folder, *needles)}) > 2
        assert await desk.sessions.delete(session.id) == ()
        assert found(world.folder, *needles) == []
        assert [path.name for path in (world.folder / "reports").iterdir()] == [f"{first.id}.html"]
        assert found(world.folder, OTHER.encode())
        assert (await desk.store.verify()).problems == ()
        assert await desk.store.facts.find(query=OTHER, limit=99)
        assert inside.messages(await desk.sessions.get(first.id))


async def test_a_damaged_store_that_may_hold_it_is_named(world: World) -> None:
    async with world.daemon() as desk:
        first, second, third = [await desk.open() for _ in range(3)]
        (put_aside(world.folder)).mkdir()
        assert await desk.sessions.delete(first.id) == ()
        for day in range(2):
            aside = put_aside(world.folder) / str(day)
            aside.mkdir()
            os.utime(aside, (day * 86_400, day * 86_400))
            if day == 0:
                [said] = await desk.sessions.delete(second.id)
                assert said == (
                    f"A damaged store put aside on 1970-01-01 may still hold it: delete {aside}."
                )
        desk.script(says("Yes."))
        await desk.ask(third)
        await desk.sessions.archive(third.id)
        [said] = await desk.sessions.delete(third.id)
        assert said == (
            "Damaged stores put aside from 1970-01-01 to 1970-01-02 may still hold it: "
            f"delete {put_aside(world.folder)}."
        )


def test_what_is_gone_meanwhile_is_no_error_of_what_was_deleted(tmp_path: Path) -> None:
    assert erasure.day_of(tmp_path / "gone") == "an unknown day"


@pytest.mark.parametrize("name", ["x" * 4_000, "é" * 200, "../data", "", "\0", "\ud800", "."])
async def test_a_name_that_no_session_has_is_unknown_and_removes_nothing(
    world: World, name: str
) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("Yes."))
        await desk.ask(session)
        await export_session(await desk.sessions.shared.ready(), session.id, None, overwrite=False)
        (world.folder / "checkpoints").mkdir(exist_ok=True)
        before = sorted(world.folder.rglob("*"))
        with pytest.raises(UnknownSession):
            await desk.sessions.delete(SessionId(name))
        assert sorted(world.folder.rglob("*")) == before


async def test_the_last_session_of_a_folder_takes_its_snapshots_along(world: World) -> None:
    world.follows = True
    async with world.daemon() as desk:
        session = await worked(desk, SECRET, turns=1)
        await desk.sessions.delete(session.id)
        assert found(world.folder, SECRET.encode()) == []
        # The folder is followed on: from what its files hold now.
        again = await desk.open(policy="manual")
        path = str(desk.workspace / "new.txt")
        desk.script(calls(("a", "write_file", {"path": path, "content": "new"})), says("ok"))
        await desk.ask(again)
        listed = await again.checkpoints.listed()
        assert [file["path"] for one in listed.checkpoints for file in one.files] == ["new.txt"]
        assert (await desk.store.verify()).problems == ()


async def test_what_two_sessions_hold_stays_for_the_other(world: World) -> None:
    async with world.daemon() as desk:
        session = await worked(desk, SECRET, turns=2)
        opened = await desk.sessions.fork(session.id, None, desk.editor, desk.watch)
        said = [m.parts for m in inside.conversation(await desk.sessions.get(opened.session_id))]
        await desk.sessions.delete(session.id)
        assert found(world.folder, SECRET.encode())
        await desk.sessions.close(opened.session_id)
        fork = await desk.sessions.get(opened.session_id)
        assert [m.parts for m in inside.conversation(fork)] == said
        await desk.sessions.delete(fork.id)
        assert found(world.folder, SECRET.encode()) == []


async def test_what_was_let_go_and_archived_before_is_not_left_either(world: World) -> None:
    async with world.daemon() as desk:
        session = await worked(desk, SECRET, turns=3)
        await worked(desk, OTHER, turns=1)
        needles = [SECRET.encode(), *compressed(world.folder, session.id)]
        await desk.sessions.close(session.id)
        world.time += 8 * DAY
        plan = await desk.store.keeping.plan(Retention())
        assert (await desk.store.outputs.let_go(plan.outputs)).count == 3
        await archive(ground_beside(desk), session.id)
        await desk.sessions.delete(session.id)
        # Its rows had left before, unseen; deleting another overwrites what they left.
        (other, *_), _ = await desk.sessions.list(None, None, 9)
        await desk.sessions.delete(other.session_id)
        assert found(world.folder, *needles) == []


async def test_pages_that_were_free_before_are_given_back_or_overwritten(world: World) -> None:
    async with world.daemon() as desk:
        await put(desk, "ses_1", 60_000)
        await put(desk, "ses_2", 60_000, ago=0)
        piece = noise("ses_1", 60_000)[30_000:30_040]
        plan = await desk.store.keeping.plan(Retention())
        assert (await desk.store.outputs.let_go(plan.outputs)).count == 1
        await desk.store.pages.empty_log()
        assert found(world.folder, piece)
        await desk.sessions.delete(SessionId("ses_2"))
        assert found(world.folder, piece) == []


@pytest.mark.parametrize("shrinks", [True, False])
async def test_a_kill_after_the_rows_are_gone_is_made_up_for(world: World, shrinks: bool) -> None:
    async with world.daemon(kill=True) as desk:
        session = await worked(desk, SECRET, turns=3)
        await export_session(await desk.sessions.shared.ready(), session.id, None, overwrite=False)
        if not shrinks:
            with opened_beside(world.folder) as con:
                await desk.store.pages.empty_log()
                con.execute("PRAGMA auto_vacuum = NONE")
                con.execute("VACUUM")
        needles = [SECRET.encode(), *compressed(world.folder, session.id)]
        await desk.store.write(DeleteSession(session.id))
    assert found(world.folder, *needles)
    async with world.daemon() as desk:
        assert (await desk.store.pages.space()).shrinks == shrinks
        assert await erase(ground_beside(desk))
        assert found(world.folder, *needles) == []
        assert await desk.store.leaving.unfinished() == {}
        assert (await desk.store.verify()).problems == ()


async def test_while_somebody_reads_the_log_stays_and_goes_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_pages, "TRIES", 2)
    async with world.daemon() as desk:
        session = await worked(desk, SECRET, turns=1)
        with opened_beside(world.folder) as con:
            con.execute("BEGIN")
            con.execute("SELECT count(*) FROM part").fetchone()
            await desk.sessions.delete(session.id)
            assert await desk.store.leaving.unfinished() == {session.id: DELETED}
        assert await erase(ground_beside(desk))
        assert found(world.folder, SECRET.encode()) == []
