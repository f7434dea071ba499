"""Sessions that move to another store: written out, taken in, and gone on with."""

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, StorageFailed, UnknownSession
from sidecar.core.ledger.learned_markdown import is_worth_keeping
from sidecar.core.parts import ReasoningPart, SessionId
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer.bundle_export import FILES_LEFT_OUT, Exported, export_session
from sidecar.session.transfer.bundle_import import (
    FILES_STAY,
    TOOLS_ASK,
    Imported,
    ImportSource,
    import_session,
)
from sidecar.store.connection import bundle_file
from sidecar.store.format.log_records import OptionRecord
from tests.core.stated import stated
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.logged import logged
from tests.session.work import TOOLS
from tests.store.on_disk import allow_pages


async def export(desk: Desk, session: Session, path: Path | None = None) -> Exported:
    given = None if path is None else str(path)
    return await export_session(
        await desk.sessions.shared.ready(), session.id, given, overwrite=False
    )


async def take(desk: Desk, path: Path, cwd: Path | None = None) -> tuple[Session, Imported]:
    folder = str(cwd or desk.workspace)
    environment = await desk.sessions.shared.ready()
    made = await import_session(environment, ImportSource(path=str(path)), folder, None)
    session = await desk.sessions.get(made.session_id)
    session.audience.attach(desk.watch, desk.editor)
    return session, made


async def body(session: Session, words: str = "And now?") -> Any:
    return (await session.rewriting.preview(({"type": "text", "text": words},))).body


def away(world: World) -> World:
    """Another store, with the same clock and the same folder."""
    other = World(world.folder.with_name("other"), world.workspace, world.time + 1000)
    other.config = world.config
    other.minted = world.minted + 1000
    return other


async def test_a_session_is_the_same_in_another_store(world: World, tmp_path: Path) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(3, 4)
        await worker.session.rewriting.compact("economic", None, dry_run=False)
        await worker.turns(1, 2)
        written = await export(desk, worker.session, tmp_path / "a.sidecar")
        before = inside.log(worker.session)
    assert written.notes == (FILES_LEFT_OUT,)
    async with world.daemon() as desk:
        again = await desk.sessions.get(before.row.id)
        sent, view = await body(again), inside.view(again)
    async with away(world).daemon() as desk:
        made, about = await take(desk, written.path)
        log = inside.log(made)
        assert await body(made) == sent
        assert inside.view(made) == view
        assert log.messages == before.messages
        assert [r.kind for r in logged(log)] == [*(r.kind for r in logged(before)), "imported"]
        assert (log.row.title, log.row.turns) == (before.row.title, before.row.turns)
        assert log.row.cost == before.row.cost
        assert (about.format, about.revision) == ("sidecar", log.row.revision)
        assert set(about.notes) == {FILES_STAY, TOOLS_ASK}
        page, _ = await desk.sessions.list(None, None, 9)
        assert [one.session_id for one in page] == [made.id]
        assert made.id != before.row.id
        assert (await desk.store.verify()).problems == ()


async def test_it_goes_on_there(world: World, tmp_path: Path) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(calls(("a", "read_file", {"path": "notes.txt"})), says("alpha it is"))
        await desk.ask(session, "Read the notes.")
        written = await export(desk, session)
    async with away(world).daemon() as desk:
        made, _ = await take(desk, written.path)
        desk.script(says("Yes."))
        assert (await desk.ask(made, "Sure?")).stop_reason == "end_turn"
        assert "alpha it is" in str(desk.prompts()[-1])
        call = next(
            p for m in inside.conversation(made) for p in m.parts if p.id and hasattr(p, "call_id")
        )
        assert "alpha" in (await made.recall(call.id, 0, None, None)).content


async def test_twice_is_two_sessions(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("One."))
    await desk.ask(session)
    written = await export(desk, session)
    first, _ = await take(desk, written.path)
    second, _ = await take(desk, written.path)
    assert len({session.id, first.id, second.id}) == 3
    await desk.sessions.delete(first.id)
    assert inside.messages(second) == inside.messages(session)
    assert (await desk.store.verify()).problems == ()


async def test_what_is_imported_can_be_exported_and_forked(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("One."))
    await desk.ask(session)
    made, _ = await take(desk, (await export(desk, session)).path)
    again, _ = await take(desk, (await export(desk, made)).path)
    assert inside.messages(again) == inside.messages(session)
    forked = await desk.sessions.fork(again.id, None, desk.editor, desk.watch)
    fork = await desk.sessions.get(forked.session_id)
    assert await body(fork) == await body(again)


async def test_complete_outputs_come_along(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    lines = "\n".join(f"line {n} of a long output" for n in range(20_000))
    desk.editor.tools["look"] = lambda _: lines
    desk.script(calls(("a", "look", {"path": "x"})), says("Long."))
    await desk.ask(session)
    written = await export(desk, session)
    path = written.path.rename(written.path.with_name("kept"))
    await desk.sessions.delete(session.id)
    made, _ = await take(desk, path)
    part = next(p for m in inside.conversation(made) for p in m.parts if hasattr(p, "call_id"))
    found = await made.recall(part.id, 0, None, "line 10000 ")
    assert "line 10000 of a long output" in found.content
    assert (await desk.store.verify()).problems == ()


async def test_a_key_is_taken_out_of_what_is_exported(desk: Desk) -> None:
    key = "sk-ant-api03-" + "aB3_" * 20
    (desk.workspace / "notes.txt").write_text(f"KEY={key}\n")
    session = await desk.open()
    desk.script(calls(("a", "read_file", {"path": "notes.txt"})), says(f"It is {key}."))
    await desk.ask(session, f"My key is {key}")
    written = await export(desk, session)
    assert written.redacted >= 3
    assert "taken out" in written.notes[-1]
    assert key not in b"".join(bundle_file.read(written.path)).decode()
    made, about = await take(desk, written.path)
    assert key not in json.dumps(await body(made))
    assert "[redacted]" in json.dumps(await body(made))
    assert any("keys were taken out" in note for note in about.notes)


async def test_thinking_is_not_sent_back_where_something_was_taken_out(desk: Desk) -> None:
    for words, kept in (("Hello", True), ("It is sk-ant-api03-" + "aB3_" * 20, False)):
        worker = await desk.worker(policy="manual")
        await worker.turns(1, 2)
        desk.script(says("x"))
        await desk.ask(worker.session, words)
        made, _ = await take(desk, (await export(desk, worker.session)).path)
        thoughts = inside.parts(made, ReasoningPart)
        assert thoughts
        assert all(bool(thought.metadata) is kept for thought in thoughts)


async def test_bundles_are_for_their_user_alone(desk: Desk, tmp_path: Path) -> None:
    session = await desk.open()
    first, second = await export(desk, session), await export(desk, session)
    assert first.path != second.path
    assert first.path.parent == desk.world.folder / "exports"
    assert stat.S_IMODE(first.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert first.size == first.path.stat().st_size
    assert (await export(desk, session, tmp_path)).path.parent == tmp_path


async def test_what_cannot_be_written_is_said(desk: Desk, tmp_path: Path) -> None:
    session = await desk.open()
    environment = await desk.sessions.shared.ready()
    (tmp_path / "there").write_text("mine")
    for path, why in (
        ("a.sidecar", "no absolute path"),
        (str(tmp_path / "none" / "a"), "no folder"),
        (str(tmp_path / "there"), "there already"),
        (str(tmp_path / "there" / "a"), "no folder"),
        ("/proc/a.sidecar", "cannot be written"),
    ):
        with pytest.raises(BadRequest, match=why) as error:
            await export_session(environment, session.id, path, overwrite=False)
        assert error.value.data["path"] == "params.path"
    assert (tmp_path / "there").read_text() == "mine"
    done = await export_session(environment, session.id, str(tmp_path / "there"), overwrite=True)
    assert bundle_file.is_bundle(done.path)
    with pytest.raises(UnknownSession):
        await export_session(environment, SessionId("ses_x"), None, overwrite=False)


async def test_what_is_under_way_stays(desk: Desk) -> None:
    session, paths = await desk.open(tools=TOOLS), list[Path]()

    async def look(_: Any) -> str:
        paths.append((await export(desk, session)).path)
        return "seen"

    desk.editor.tools["look"] = look
    desk.script(calls(("a", "look", {"path": "x"})), says("Done."))
    await desk.ask(session)
    made, _ = await take(desk, paths[0])
    assert [m.role for m in inside.conversation(made)] == ["user"]


async def test_another_folder_is_said(desk: Desk, tmp_path: Path) -> None:
    session = await desk.open()
    written = await export(desk, session)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    made, about = await take(desk, written.path, elsewhere)
    assert inside.row(made).cwd == str(elsewhere)
    assert any(str(desk.workspace) in note and str(elsewhere) in note for note in about.notes)
    environment = await desk.sessions.shared.ready()
    source = ImportSource(path=str(written.path))
    with pytest.raises(BadRequest, match="cwd"):
        await import_session(environment, source, None, None)
    rooted = await import_session(environment, source, None, elsewhere)
    assert (await desk.store.sessions.row(rooted.session_id)).cwd == str(elsewhere)


async def test_a_pipe_that_nobody_writes_to_is_not_waited_for(desk: Desk, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    async with asyncio.timeout(20):
        with pytest.raises(BadRequest, match="no file"):
            await take(desk, tmp_path / "pipe")


@pytest.mark.parametrize("name", ["two\nlines", " "])
async def test_what_can_be_no_models_name_is_not_taken_over(desk: Desk, name: str) -> None:
    session = await desk.open()
    inside.configure(session, "model", name)
    await inside.log(session).writer.commit(OptionRecord(config_id="model"))
    made, _ = await take(desk, (await export(desk, session)).path)
    assert inside.settings(made).model_id == desk.world.config.model


async def test_files_of_before_do_not_come_back(world: World, tmp_path: Path) -> None:
    world.follows = True
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(
            calls(("a", "write_file", {"path": "new.txt", "content": "made"})), says("Made.")
        )
        await desk.ask(session, "Make a file.")
        assert inside.records(session)
        written = await export(desk, session, tmp_path / "a.sidecar")
        assert b"b2:" not in b"".join(list(bundle_file.read(written.path))[:-1])
    other = away(world)
    other.follows = True
    async with other.daemon() as desk:
        made, _ = await take(desk, written.path)
        listed = await made.checkpoints.listed()
        first = listed.checkpoints[0].checkpoint
        for scope in ("files", "both"):
            with pytest.raises(BadRequest, match="this session was imported"):
                await made.rollback.restore(Wish(scope, first.id))
        with pytest.raises(BadRequest, match="this session was imported"):
            await made.checkpoints.diff(first.id, None, None)
        done = await made.rollback.restore(Wish("conversation", first.id))
        assert done.prompt == "Make a file."
        assert (desk.workspace / "new.txt").read_text() == "made"
        desk.script(
            calls(("b", "write_file", {"path": "new.txt", "content": "again"})), says("Made.")
        )
        await desk.ask(made, "Make it again.")
        listed = await made.checkpoints.listed()
        turn = next(
            c.checkpoint
            for c in listed.checkpoints
            if c.checkpoint.kind == "turn" and c.checkpoint.title == "Make it again."
        )
        await made.rollback.restore(Wish("files", turn.id))
        assert (desk.workspace / "new.txt").read_text() == "made"
        again, _ = await take(desk, (await export(desk, made)).path)
        assert inside.log(again).left == inside.log(made).left
        await desk.sessions.close(made.id)
        assert await body(again) == await body(await desk.sessions.get(made.id))


async def test_facts_come_along_and_count_for_nothing_else(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("One."))
    await desk.ask(session)
    fact = stated("the tests need the database up", "learning")
    await desk.store.facts.add(session.id, inside.row(session).cwd, [fact])
    written = await export(desk, session)
    made, _ = await take(desk, written.path)
    (kept,) = await desk.store.facts.find(session_id=made.id, limit=9)
    assert (kept.fact.content, kept.fact.who) == (fact.content, "tool")
    other, _ = await take(desk, written.path)
    for one in (made, other):
        for candidate in await desk.store.facts.candidates(one.id):
            assert not is_worth_keeping(candidate.fact, candidate.sessions)


async def test_what_cannot_be_stored_leaves_nothing(desk: Desk) -> None:
    session = await desk.open()
    for turn in range(8):
        # Short enough to stand in rows of their own, so that a copy takes pages.
        desk.script(says(f"{turn}, one of many answers. " * 9))
        await desk.ask(session)
    written = await export(desk, session)
    # The file has room for a page more, and the unit needs several: the disk gets full within it.
    await allow_pages(desk.store, extra=1)
    with pytest.raises(StorageFailed, match="Free some space"):
        await take(desk, written.path)
    await allow_pages(desk.store, extra=100_000)
    page, _ = await desk.sessions.list(None, None, 9)
    assert [one.session_id for one in page] == [session.id]
    report = await desk.store.verify()
    assert (report.sessions, report.problems) == (1, ())
