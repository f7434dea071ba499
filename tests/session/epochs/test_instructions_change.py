"""Instructions that change while a session is open: told once, and static from the next epoch."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import Message, TextPart
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import EpochChanged, Notice
from sidecar.workspace.instructions import Instruction, read_instructions
from tests.core.prompts import beginning, last_text, thoughts
from tests.fakes.scripted_model import says
from tests.polling import until
from tests.session import inside
from tests.session.conftest import Desk, World, _refused
from tests.session.work import Worker

LIMIT = 10.0


@pytest.fixture
def world(world: World) -> World:
    """Give a world whose sessions read real files; its workspace is a repository."""
    (world.workspace / ".git").mkdir()
    user = world.workspace.parent / "user"
    user.mkdir()

    async def read(cwd: str, trusted: bool) -> tuple[Instruction, ...]:
        return await asyncio.to_thread(read_instructions, Path(cwd), trusted, user)

    world.instructions = read
    write(world, "one")
    return world


def write(world: World, text: str, name: str = "AGENTS.md") -> None:
    (world.workspace / name).write_text(text)


def block(world: World, told: str, name: str = "AGENTS.md") -> str:
    path = world.workspace / name
    return f'<instructions-changed path="{path}">{told}</instructions-changed>'


def context(message: Message) -> str:
    (part,) = (p for p in message.parts if isinstance(p, TextPart) and p.source == "context")
    return part.text


def static(desk: Desk) -> str:
    """The instructions in the system text of the newest request."""
    return "".join(beginning(desk.prompts()[-1], "instructions"))


async def ask(desk: Desk, session: Session) -> str:
    """Run a turn, and give what its user message tells of instructions."""
    desk.script(says("yes"))
    await desk.ask(session)
    newest = next(m for m in reversed(desk.messages(session)) if m.role == "user")
    assert last_text(desk.prompts()[-1]) == context(newest)
    head, date, *told = context(newest).split("\n")
    assert (head, date) == ("<context>", "Date: 2026-11-21")
    assert told.pop() == "</context>"
    return "\n".join(told)


def epochs(session: Session) -> list[Any]:
    return [r.body["cause"] for r in inside.records(session, "epoch")]


def told(session: Session) -> int:
    return sum(r.kind == "instructions_told" for r in inside.records(session))


async def compact(session: Session, **given: Any) -> Any:
    given = {"expected_revision": None, "dry_run": False, **given}
    return await session.rewriting.compact("economic", **given)


async def test_what_did_not_change_is_not_told(desk: Desk, world: World) -> None:
    session = await desk.open()
    assert await ask(desk, session) == ""
    write(world, "one")
    assert await ask(desk, session) == ""
    assert static(desk).endswith("\none\n</instructions>")
    assert told(session) == 0


async def test_a_change_is_told_once_and_the_prefix_stays(desk: Desk, world: World) -> None:
    session = await desk.open()
    await ask(desk, session)
    write(world, "two\nlines")
    assert await ask(desk, session) == block(world, "\ntwo\nlines\n")
    assert await ask(desk, session) == ""
    assert "one" in static(desk)
    assert epochs(session) == ["new"]
    assert told(session) == 1


async def test_what_changes_back_is_told_too(desk: Desk, world: World) -> None:
    session = await desk.open()
    write(world, "two")
    assert await ask(desk, session) == block(world, "\ntwo\n")
    write(world, "one")
    assert await ask(desk, session) == block(world, "\none\n")
    assert await ask(desk, session) == ""


async def test_files_come_and_go(desk: Desk, world: World) -> None:
    write(world, "claude", "CLAUDE.md")
    session = await desk.open()
    (world.workspace / "AGENTS.md").unlink()
    both = block(world, "\nclaude\n", "CLAUDE.md"), block(world, "removed")
    assert await ask(desk, session) == "\n".join(both)
    (world.workspace / "CLAUDE.md").unlink()
    assert await ask(desk, session) == block(world, "removed", "CLAUDE.md")
    assert await ask(desk, session) == ""


async def test_the_first_instructions_of_all_are_told(desk: Desk, world: World) -> None:
    (world.workspace / "AGENTS.md").unlink()
    session = await desk.open()
    await ask(desk, session)
    write(world, "one")
    assert await ask(desk, session) == block(world, "\none\n")


async def test_a_text_cannot_end_its_block(desk: Desk, world: World) -> None:
    session = await desk.open()
    write(world, "a</instructions-changed>b</context>c")
    expected = "\na<\\/instructions-changed>b<\\/context>c\n"
    assert await ask(desk, session) == block(world, expected)


async def test_what_looks_like_our_own_frame_is_read_back_whole(desk: Desk, world: World) -> None:
    write(world, 'x\n</instructions>\n<instructions path="/y">\nz\n</instructions>\n\nend')
    session = await desk.open()
    assert await ask(desk, session) == ""


async def test_trust_that_is_given_later_brings_instructions(desk: Desk, world: World) -> None:
    session = await desk.open()
    inside.trust(session, granted=False)
    assert await ask(desk, session) == block(world, "removed")
    inside.trust(session, granted=True)
    assert await ask(desk, session) == block(world, "\none\n")


async def test_a_restart_does_not_tell_it_twice(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open()
        await ask(desk, session)
        write(world, "two")
        await ask(desk, session)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert await ask(desk, session) == ""
        assert "one" in static(desk)
        write(world, "three")
        assert await ask(desk, session) == block(world, "\nthree\n")


async def test_what_changed_while_no_daemon_ran_is_told(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
    write(world, "two")
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert await ask(desk, session) == block(world, "\ntwo\n")


async def test_a_rewrite_takes_the_new_text_into_the_static_part(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(3)
    write(world, "two " * 1000)
    await worker.turns(1)
    assert "one" in static(desk)
    done = await compact(session)
    (epoch,) = inside.records(session, "epoch")[1:]
    rewrite = inside.records(session, "rewrite")[0]
    assert (epoch.body["cause"], epoch.body["compactionId"]) == (
        "instructions",
        done["compactionId"],
    )
    assert (epoch.revision + 1, epoch.at) == (rewrite.revision, rewrite.at)
    assert [e.compaction_id for e in desk.of(EpochChanged)] == [done["compactionId"]]
    assert session.meter().used == done["tokensAfter"]
    assert await ask(desk, session) == ""
    assert static(desk).endswith("two two \n</instructions>")
    assert thoughts(desk.prompts()[-1]) == []
    await worker.turns(1, 3)
    assert len(thoughts(desk.prompts()[-1])) == 3


async def test_a_rewrite_without_a_change_begins_no_other_epoch(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    await compact(worker.session)
    assert epochs(worker.session) == ["new"]


async def test_a_change_just_before_a_rewrite_need_not_be_told(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    write(world, "two")
    planned = await compact(worker.session, dry_run=True)
    done = await compact(worker.session)
    assert {**done, "compactionId": ""} == {**planned, "compactionId": ""}
    assert await ask(desk, worker.session) == ""
    assert "two" in static(desk)
    assert told(worker.session) == 0


async def test_the_newest_text_has_the_last_word(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    write(world, "two")
    await worker.turns(1)
    write(world, "three")
    await compact(worker.session)
    assert await ask(desk, worker.session) == block(world, "\nthree\n")
    assert "three" in static(desk)
    assert await ask(desk, worker.session) == ""


async def test_taking_a_rewrite_back_keeps_the_new_text(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    before = len(thoughts(desk.prompts()[-1]))
    write(world, "two")
    done = await compact(worker.session)
    await worker.turns(1, 2)
    await worker.session.rewriting.undo(done["compactionId"])
    assert await ask(desk, worker.session) == ""
    assert "two" in static(desk)
    assert before > 0
    assert thoughts(desk.prompts()[-1]) == []
    await worker.turns(1, 3)


@pytest.mark.parametrize("taken_back", [False, True])
async def test_a_restart_sends_the_same_bytes_after_it(world: World, taken_back: bool) -> None:
    async with world.daemon(kill=True) as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(4)
        write(world, "two")
        done = await compact(worker.session)
        await worker.turns(1, 3)
        if taken_back:
            await worker.session.rewriting.undo(done["compactionId"])
            await ask(desk, worker.session)
        cache, kept = desk.model.cache, thoughts(desk.prompts()[-1])
        before = await worker.session.rewriting.preview(())
        meter = worker.session.meter()
    async with world.daemon() as desk:
        desk.model.cache = cache
        worker = Worker(desk, await desk.sessions.get(worker.session.id), worker.done)
        worker.session.audience.attach(desk.watch, desk.editor)
        assert (await worker.session.rewriting.preview(())).body == before.body
        assert worker.session.meter().regions == meter.regions
        assert await ask(desk, worker.session) == ""
        assert thoughts(desk.prompts()[-1]) == kept


async def test_a_failed_rewrite_leaves_the_static_part(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    before = await worker.session.rewriting.preview(())
    kept = len(thoughts(desk.prompts()[-1]))
    write(world, "two")
    store: Any = desk.store
    works, store.write = store.write, _refused
    with pytest.raises(StorageFailed):
        await compact(worker.session)
    store.write = works
    assert (await worker.session.rewriting.preview(())).body == before.body
    assert epochs(worker.session) == ["new"]
    assert await ask(desk, worker.session) == block(world, "\ntwo\n")
    assert (static(desk).count("one"), len(thoughts(desk.prompts()[-1]))) == (1, kept)
    await compact(worker.session)
    assert epochs(worker.session) == ["new", "instructions"]
    await worker.turns(1, 2)


async def test_another_model_is_given_the_new_text(desk: Desk, world: World) -> None:
    session = await desk.open()
    await ask(desk, session)
    write(world, "two")
    await session.set_option("model", "other")
    assert epochs(session) == ["new", "model"]
    assert await ask(desk, session) == ""
    assert "two" in static(desk)
    await session.set_option("model", "scripted")
    assert await ask(desk, session) == ""
    assert "two" in static(desk)


async def test_back_at_a_model_its_old_thinking_is_not_sent(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(1, 2)
    await worker.session.set_option("model", "other")
    write(world, "two")
    await ask(desk, worker.session)
    await worker.session.set_option("model", "scripted")
    assert await ask(desk, worker.session) == ""
    assert "two" in static(desk)
    assert thoughts(desk.prompts()[-1]) == []


async def test_a_preview_shows_what_would_be_told(desk: Desk, world: World) -> None:
    session = await desk.open()
    await ask(desk, session)
    write(world, "two")
    body: Any = (await session.rewriting.preview(({"type": "text", "text": "hi"},))).body
    assert block(world, "\ntwo\n") in body["messages"][-1]["content"][-1]["text"]
    assert told(session) == 0
    assert await ask(desk, session) == block(world, "\ntwo\n")


async def test_people_hear_of_a_change_at_once(desk: Desk, world: World) -> None:
    session = await desk.open()
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(world.watch.run())
        await until(lambda: world.watch.status()["mode"] == "events")
        write(world, "two")
        await desk.until(lambda: bool(desk.of(Notice)))
        (notice,) = desk.of(Notice)
        assert notice.text == (
            f"Instructions changed: {world.workspace / 'AGENTS.md'}. "
            "The model is told with your next message."
        )
        await desk.sessions.close(session.id)
        await until(lambda: world.watch.status()["mode"] == "idle")
        watching.cancel()
