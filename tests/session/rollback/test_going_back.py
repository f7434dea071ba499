"""Going back and forth again: conversation, files or both, whatever happened in between."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, NothingToDo, RestoreConflict
from sidecar.core.files.restore_plan import RestorePlan
from sidecar.core.prompt.prompt import flat
from sidecar.session.interface import Done, Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import EpochChanged, TextChunk
from sidecar.session.rollback import file_restore
from tests.core.prompts import texts
from tests.fakes.scripted_model import Hold, calls, says, shell, started, write
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World

pytestmark = pytest.mark.usefixtures("following")


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its mode and content."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def ids(session: Session) -> list[str]:
    return [one.id for one in session.checkpoints.timeline().checkpoints]


def said(session: Session) -> str:
    """The request as it would be sent now."""
    prompt = inside.model_view(session).prompt(inside.conversation(session))
    return repr(flat(prompt))


def fates(done: Done) -> dict[str, str]:
    return {fate.path.decode(): fate.fate for fate in done.fates}


async def work(desk: Desk, session: Session, words: str, *steps: Any) -> Any:
    desk.script(*steps, says("done"))
    return await desk.ask(session, words)


async def test_files_and_conversation_go_back_and_forth_again(desk: Desk) -> None:
    session = await desk.open()
    before = tree(desk.workspace)
    await work(desk, session, "look")
    shown = said(session)
    second = await work(
        desk,
        session,
        "change it",
        calls(write("notes.txt", "beta\n")),
        calls(shell("mkdir -p sub && echo x > sub/x && chmod 755 sub/x")),
    )
    after, shown_after = tree(desk.workspace), said(session)
    for _ in range(2):
        wish = Wish("both", before_message_id=second.message_id)
        foreseen = await session.rollback.restore(
            Wish("both", before_message_id=second.message_id, dry_run=True)
        )
        assert tree(desk.workspace) == after
        done = await session.rollback.restore(wish)
        assert done.fates == foreseen.fates
        assert done.prompt == foreseen.prompt == "change it"
        assert tree(desk.workspace) == before
        assert not (desk.workspace / "sub").exists()
        assert said(session) == shown
        again = await session.rollback.redo(Wish("both"))
        assert set(fates(again).values()) == {"restored"}
        assert tree(desk.workspace) == after
        assert said(session) == shown_after
    with pytest.raises(NothingToDo):
        await session.rollback.redo(Wish("both"))
    assert [e.cause for e in desk.of(EpochChanged)] == ["restore"] * 4


async def test_it_works_after_restarts_too(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        before = tree(desk.workspace)
        turn = await work(desk, session, "change it", calls(write("notes.txt", "beta\n")))
        after, shown = tree(desk.workspace), said(session)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert said(session) == shown
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        assert tree(desk.workspace) == before
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert inside.conversation(session) == []
        await session.rollback.redo(Wish("both"))
        assert (tree(desk.workspace), said(session)) == (after, shown)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert said(session) == shown
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        assert tree(desk.workspace) == before


async def test_the_middle_of_a_turn_keeps_pairs_whole_and_the_next_prompt_goes_on(
    desk: Desk,
) -> None:
    session = await desk.open()
    await work(
        desk,
        session,
        "both",
        calls(write("a.txt", "a\n")),
        calls(write("b.txt", "b\n")),
    )
    first_step = session.checkpoints.timeline().checkpoints[1]
    done = await session.rollback.restore(Wish("both", first_step.id))
    assert done.prompt is None
    assert fates(done) == {"b.txt": "restored"}
    assert set(tree(desk.workspace)) == {"notes.txt", "a.txt"}
    assert session.checkpoints.timeline().head == first_step.id
    await work(desk, session, "now c", calls(write("c.txt", "c\n")))
    assert set(tree(desk.workspace)) == {"notes.txt", "a.txt", "c.txt"}
    told = [text for text in texts(desk.prompts()[-1]) if "rolled back" in text]
    assert len(told) == 1
    assert "2 messages are no longer part of this conversation" in told[0]
    assert 'these files are as they were before: "b.txt"' in told[0]
    await work(desk, session, "more")
    assert sum("rolled back" in text for text in texts(desk.prompts()[-1])) == 1


async def test_a_branch_that_was_left_stays_listed_and_can_be_reached(desk: Desk) -> None:
    session = await desk.open()
    left = await work(desk, session, "one way", calls(write("a.txt", "a\n")))
    shown, kept = said(session), tree(desk.workspace)
    end = ids(session)[-1]
    await session.rollback.restore(Wish("both", before_message_id=left.message_id))
    await work(desk, session, "another way", calls(write("b.txt", "b\n")))
    assert end in ids(session)
    await session.rollback.restore(Wish("both", end))
    assert tree(desk.workspace) == kept
    # The answer that ended the turn came after its last checkpoint.
    assert said(session) in shown or shown.startswith(said(session)[:-1])
    assert "another way" not in said(session)
    assert session.checkpoints.timeline().head == end


async def test_the_users_own_work_survives(desk: Desk) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("notes.txt", "agent\n")))
    (desk.workspace / "mine.txt").write_text("mine\n")
    (desk.workspace / "notes.txt").write_text("agent\nand mine\n")
    before = tree(desk.workspace)
    wish = Wish("both", before_message_id=turn.message_id)
    with pytest.raises(RestoreConflict) as refused:
        await session.rollback.restore(wish)
    (conflict,) = refused.value.data["conflicts"]
    assert conflict["path"] == "notes.txt"
    assert conflict["agentDiff"].endswith("-alpha\n+agent\n")
    assert conflict["userDiff"].endswith(" agent\n+and mine\n")
    assert tree(desk.workspace) == before
    assert len(inside.conversation(session)) == 3
    kept = await session.rollback.restore(
        Wish("both", before_message_id=turn.message_id, on_conflict="keep")
    )
    assert fates(kept)["notes.txt"] == "skipped"
    assert tree(desk.workspace) == before
    assert inside.conversation(session) == []


async def test_overwrite_and_merge_do_what_they_say(desk: Desk) -> None:
    (desk.workspace / "notes.txt").write_text("1\n2\n3\n4\n5\n6\n7\n")
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("notes.txt", "one\n2\n3\n4\n5\n6\n7\n")))
    (desk.workspace / "notes.txt").write_text("one\n2\n3\n4\n5\n6\nseven\n")
    merged = await session.rollback.restore(
        Wish("files", before_message_id=turn.message_id, on_conflict="merge")
    )
    assert fates(merged) == {"notes.txt": "merged"}
    assert (desk.workspace / "notes.txt").read_text() == "1\n2\n3\n4\n5\n6\nseven\n"
    assert len(inside.conversation(session)) == 3
    await session.rollback.redo(Wish("both"))
    assert (desk.workspace / "notes.txt").read_text() == "one\n2\n3\n4\n5\n6\nseven\n"
    await session.rollback.restore(
        Wish("files", before_message_id=turn.message_id, on_conflict="overwrite")
    )
    assert (desk.workspace / "notes.txt").read_text() == "1\n2\n3\n4\n5\n6\n7\n"


async def test_unsaved_text_is_in_the_way_and_open_documents_are_updated(desk: Desk) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("notes.txt", "agent\n")))
    notes = desk.workspace / "notes.txt"
    desk.sessions.documents.open(str(notes), "typed, not saved\n", 1)
    wish = Wish("files", before_message_id=turn.message_id)
    with pytest.raises(RestoreConflict) as refused:
        await session.rollback.restore(wish)
    assert "not saved" in refused.value.data["conflicts"][0]["reason"]
    desk.sessions.documents.open(str(notes), "agent\n", 2)
    desk.editor.can_apply_edits = True
    desk.sessions.documents.editor = desk.editor
    await session.rollback.restore(wish)
    assert desk.editor.applied == [(str(notes), "alpha\n")]
    assert notes.read_text() == "alpha\n"


async def test_only_some_paths_or_only_the_conversation(desk: Desk) -> None:
    session = await desk.open()
    turn = await work(
        desk, session, "go", calls(write("sub/a.txt", "a\n")), calls(write("b.txt", "b\n"))
    )
    await session.rollback.restore(Wish("files", before_message_id=turn.message_id, paths=("sub",)))
    assert set(tree(desk.workspace)) == {"notes.txt", "b.txt"}
    assert len(inside.conversation(session)) == 4
    await session.rollback.restore(Wish("conversation", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt", "b.txt"}
    assert inside.conversation(session) == []
    with pytest.raises(NothingToDo):
        await session.rollback.restore(Wish("conversation", before_message_id=turn.message_id))
    await session.rollback.restore(Wish("files", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt"}


async def test_a_running_turn_must_be_cancelled_first(desk: Desk) -> None:
    session = await desk.open()
    turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
    hold = Hold()
    desk.script([started(), hold])
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        running = group.create_task(desk.ask(session, "more"))
        await hold.reached.wait()
        with pytest.raises(BadRequest, match="cancel"):
            await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        session.prompts.cancel()
        await running
    await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    assert set(tree(desk.workspace)) == {"notes.txt"}


async def test_past_a_compaction_and_back(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(4)
    shown, used = said(session), session.meter().used
    target = [one for one in session.checkpoints.timeline().checkpoints if one.kind == "turn"][3]
    body = await session.rewriting.compact("evict-lru", None, dry_run=False)
    assert body["compactionId"]
    compacted = said(session)
    assert compacted != shown
    await worker.turns(1)
    later, meter = said(session), session.meter()
    await session.rollback.restore(Wish("conversation", target.id))
    assert shown.startswith(said(session)[:-1])
    assert session.meter().used < used
    assert session.meter().accuracy == "exact"
    await session.rollback.redo(Wish("both"))
    assert said(session) == later
    assert (session.meter().used, session.meter().accuracy) == (meter.used, meter.accuracy)


async def test_an_answer_of_another_view_says_nothing_of_the_size_gone_back_to(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(4)
    await session.rewriting.compact("evict-lru", None, dry_run=False)
    compacted = said(session)
    await worker.turns(1)
    target = session.checkpoints.timeline().checkpoints[-1]
    await session.rollback.restore(Wish("conversation", target.id))
    assert compacted.startswith(said(session)[:-1])
    assert session.meter().accuracy == "estimated"


async def test_names_that_are_not_there(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session, "go")
    for wish in (
        Wish("both", "cp_none"),
        Wish("both", before_message_id="msg_none"),
        Wish("both"),
    ):
        with pytest.raises(BadRequest):
            await session.rollback.restore(wish)
    with pytest.raises(NothingToDo):
        await session.rollback.redo(Wish("both"))


async def test_thinking_and_the_cached_prefix_stand_up_to_it(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(3, steps=4)
    points = session.checkpoints.timeline().checkpoints
    for wish in (Wish("conversation", points[1].id), Wish("conversation", points[2].id)):
        await session.rollback.restore(wish)
        await worker.turns(1, steps=2)
    # Each prompt was looked at by the net: pairs, thinking and what the provider accepts.
    middle = next(m for m in reversed(inside.messages(session)) if m.role == "assistant")
    await session.rollback.restore(Wish("conversation", before_message_id=middle.id))
    await worker.turns(1, steps=2)
    newest = desk.model.cache
    assert newest is not None
    await session.rollback.redo(Wish("conversation"))
    await worker.turns(1, steps=1)


async def test_a_fork_and_a_reload_begin_as_the_conversation_stands(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        await work(desk, session, "keep this")
        turn = await work(desk, session, "drop this", calls(write("a.txt", "a\n")))
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
        shown = said(session)
        fork = await desk.sessions.fork(session.id, None, desk.editor, desk.watch)
        assert said(await desk.sessions.get(fork.session_id)) == shown
        told: list[Any] = []

        async def emit(event: Any) -> None:
            told.append(event)

        await desk.sessions.load(
            session.id, desk.editor, desk.watch, replay=True, after=None, emit=emit
        )
        assert [e.text for e in told if isinstance(e, TextChunk)] == ["keep this", "done"]
        draft = await desk.sessions.handoff(
            session.id, "go on", desk.editor, desk.watch, go_on=False
        )
        assert "a.txt" not in draft.files


async def test_what_a_restore_did_is_nobodys_change_afterwards(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        turn = await work(desk, session, "go", calls(write("a.txt", "a\n")))
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        await work(desk, session, "more")
        assert [
            one.sets for one in session.checkpoints.timeline().checkpoints if one.kind == "turn"
        ] == [
            (),
            (),
        ]


async def test_a_file_that_changed_often_is_not_planned_on_the_event_loop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    really = file_restore.plan_restore

    def plan(*given: Any) -> RestorePlan:
        threads.append(threading.get_ident())
        return really(*given)

    monkeypatch.setattr(file_restore, "plan_restore", plan)
    monkeypatch.setattr(file_restore, "INLINE_CHANGES", 1)
    session = await desk.open()
    first = await work(desk, session, "one", calls(write("notes.txt", "one\n")))
    await session.rollback.restore(Wish("files", before_message_id=first.message_id, dry_run=True))
    await work(desk, session, "two", calls(write("notes.txt", "two\n")))
    await session.rollback.restore(Wish("files", before_message_id=first.message_id, dry_run=True))
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [True, False]
