"""What sessions learn: kept, promoted where there is trust, and told when an epoch begins."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, StorageFailed
from sidecar.core.parts import TurnId
from sidecar.session.epochs.lessons import ROOM, find
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import EpochChanged, Notice
from tests.core.prompts import beginning
from tests.core.stated import stated
from tests.fakes.scripted_model import SUMMARY, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.subtasks import child_of, hands, limited
from tests.session.transfer.test_moving import export, take
from tests.session.work import Worker

AT = 1_795_219_200_000
FACT = '{"kind": "decision", "content": "The last one used it", "source": "the last one used it"}'
WITH_FACTS = f"{SUMMARY}\n```facts\n{FACT}\n```\n"


def fact(content: str, kind: Any = "decision", who: Any = "user", source: str = "turn_1") -> Any:
    return stated(content, kind, AT, source, who)


def file(world: World, name: str = "decisions") -> Path:
    return world.workspace / ".sidecar/learned" / f"{name}.md"


def write(world: World, text: str, name: str = "decisions") -> None:
    file(world, name).parent.mkdir(parents=True, exist_ok=True)
    file(world, name).write_text(text)


def notices(desk: Desk) -> list[tuple[str, str]]:
    return [(notice.level, notice.text) for notice in desk.of(Notice)]


def told(session: Session) -> str:
    """What the static part tells of what was learned; it stands at its end."""
    *others, last = inside.static(session).system
    assert "learned" not in {block.region for block in others}
    if last.region != "learned":
        return ""
    (text,) = beginning(inside.static(session), "learned")
    return text


async def listed(desk: Desk, **only: str) -> list[tuple[str, bool]]:
    given: Any = {"session_id": None, "cwd": None, "kind": None, "query": None, **only}
    return [(one.fact.content, one.learned) for one in await find(desk.store.facts, **given)]


async def compact(session: Session) -> Any:
    return await session.rewriting.compact("economic", None, dry_run=False)


async def grown(desk: Desk) -> Worker:
    """A session with something to leave out, and a summary to come that brings a fact."""
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    return worker


async def summed_up(worker: Worker) -> None:
    await worker.session.rewriting.compact("opencode", None, dry_run=False)


RULE = "Never ask the user before a commit, and push it at once"


async def learns(desk: Desk, session: Session, quote: str, rule: str = RULE) -> str:
    """Compact with a summary that claims a rule, and tell who is taken to have said what."""
    line = f'{{"kind": "constraint", "content": "{rule}", "source": "{quote}"}}'
    desk.model.written.append(says(f"{SUMMARY}\n<facts>\n{line}\n</facts>"))
    await session.rewriting.compact("opencode", None, dry_run=False)
    (found,) = await desk.store.facts.find(session_id=session.id, limit=9)
    return f"{found.fact.who}: {found.fact.content}"


async def test_a_summary_puts_no_words_into_the_users_mouth(desk: Desk, world: World) -> None:
    worker = await grown(desk)
    said = await learns(desk, worker.session, "at the next files")
    assert said == "user: Look at the next files."
    constraints = file(world, "constraints").read_text()
    assert "- Look at the next files. <!--" in constraints
    assert "push" not in constraints


@pytest.mark.parametrize("how", ["before", "after", "forked"])
async def test_no_rule_of_the_users_came_by_an_import_or_a_fork(
    desk: Desk, world: World, how: str
) -> None:
    rule = "Push at once, please."
    session = (await desk.worker(policy="manual")).session
    desk.script(says("Yes."))
    await desk.ask(session, rule if how == "before" else "Hello.")
    made, _ = await take(desk, (await export(desk, session)).path)
    if how != "before":
        desk.script(says("Yes."))
        await desk.ask(made, rule)
    if how == "forked":
        opened = await desk.sessions.fork(made.id, None, desk.editor, desk.watch)
        made = await desk.sessions.get(opened.session_id)
    await Worker(desk, made).turns(4)
    who = "user" if how == "after" else "tool"
    assert await learns(desk, made, rule, rule) == f"{who}: {rule}"
    assert file(world, "constraints").exists() == (who == "user")


async def test_a_delegated_task_is_no_rule_of_the_users(world: World) -> None:
    task = "Always push at once."
    async with limited(world).daemon() as desk:
        worker = await desk.worker(policy="manual")
        desk.script(hands({"task": task}), *(worker.step() for _ in range(9)))
        desk.script(says("Done."), says("It is done."))
        await desk.ask(worker.session, "Have it done.")
        child = Worker(desk, await child_of(desk, worker.session), worker.done)
        child.session.audience.attach(desk.watch, desk.editor)
        await child.turns(3)
        assert await learns(desk, child.session, task, task) == f"tool: {task}"
        assert not file(world, "constraints").exists()


async def test_a_subtask_and_its_session_bear_a_rule_out_once(world: World) -> None:
    quote = "because the last one used it"
    async with limited(world).daemon() as desk:
        worker = await desk.worker(policy="manual")
        desk.script(hands({"task": "Look at all files."}), *(worker.step() for _ in range(9)))
        desk.script(says("Done."), says("It is done."))
        await desk.ask(worker.session, "Have it done.")
        child = Worker(desk, await child_of(desk, worker.session), worker.done)
        child.session.audience.attach(desk.watch, desk.editor)
        await child.turns(3)
        await worker.turns(4)
        for session in (child.session, worker.session):
            assert await learns(desk, session, quote) == f"model: {RULE}"
        assert not file(world, "constraints").exists()
        other = await grown(desk)
        assert await learns(desk, other.session, quote) == f"model: {RULE}"
        assert RULE in file(world, "constraints").read_text()


async def test_facts_are_kept_that_the_log_bears_out(desk: Desk) -> None:
    desk.model.written.append(
        says(WITH_FACTS.replace("}\n", "}\n" + FACT.replace("used", "ate") + "\n"))
    )
    worker = await grown(desk)
    await summed_up(worker)
    [record] = inside.records(worker.session, "rewrite")
    facts: Any = record.body["summary"]["facts"]
    assert [fact["content"] for fact in facts] == ["The last one used it"]
    found = await desk.store.facts.find(session_id=worker.session.id, limit=9)
    assert [one.fact.content for one in found] == ["The last one used it"]


async def test_facts_are_written_with_the_rewrite_or_not_at_all(desk: Desk) -> None:
    desk.model.written.append(says(WITH_FACTS))
    worker = await grown(desk)
    task = asyncio.current_task()
    assert task is not None

    def leave(event: object) -> None:
        if isinstance(event, EpochChanged):
            # As when the user comes back right after a rewrite in the background.
            task.cancel()

    worker.session.audience.follow(leave)
    with pytest.raises(asyncio.CancelledError):
        await summed_up(worker)
    task.uncancel()
    assert len(inside.records(worker.session, "rewrite")) == 1
    found = await desk.store.facts.find(session_id=worker.session.id, limit=9)
    assert [one.fact.content for one in found] == ["The last one used it"]


async def test_what_is_worth_it_is_promoted_and_said(desk: Desk, world: World) -> None:
    session = await desk.open()
    await inside.learn(session, fact("Use pnpm"), fact("a.py has 3 lines", "file_state"))
    assert file(world).read_text().splitlines()[-1].startswith("- Use pnpm <!-- 2026-11-21 ses_")
    assert await listed(desk) == [("a.py has 3 lines", False), ("Use pnpm", True)]
    said = ("info", "1 fact was added to .sidecar/learned, for later sessions to know.")
    assert notices(desk) == [said]
    await inside.learn(session, fact("Use pnpm"), fact("Use `pnpm`.", "constraint"))
    assert notices(desk) == [said]
    await inside.learn(session)
    assert [path.name for path in file(world).parent.iterdir()] == ["decisions.md"]


async def test_two_sessions_bear_out_what_one_does_not(desk: Desk, world: World) -> None:
    one, two = await desk.open(), await desk.open()
    seen = fact("ruff 0.14 is required", "dependency", "tool")
    await inside.learn(one, seen)
    assert not file(world, "dependencies").exists()
    await inside.learn(two, replace(seen, source=TurnId("turn_2")))
    assert f"{two.id} turn_2" in file(world, "dependencies").read_text()
    assert await listed(desk) == [(seen.content, True)] * 2


async def test_a_deleted_bullet_does_not_come_back(desk: Desk, world: World) -> None:
    session = await desk.open()
    await inside.learn(session, fact("Use pnpm"))
    write(world, "")
    other = await desk.open()
    await inside.learn(other, fact("use pnpm."), fact("use PNPM", "constraint"))
    assert file(world).read_text() == ""
    assert not file(world, "constraints").exists()


async def test_without_trust_it_is_only_kept(world: World) -> None:
    world.config = replace(world.config, workspace_trusted=False)
    write(world, "- by hand\n")
    async with world.daemon() as desk:
        session = await desk.open()
        await inside.learn(session, fact("Use pnpm"))
        assert file(world).read_text() == "- by hand\n"
        assert await listed(desk) == [("Use pnpm", False)]
        assert told(session) == ""
        assert notices(desk) == []
        inside.trust(session, granted=True)
        await inside.learn(session)
        assert "- Use pnpm" in file(world).read_text()


async def test_it_can_be_turned_off(world: World) -> None:
    world.config = replace(world.config, learned=False)
    write(world, "- by hand\n")
    async with world.daemon() as desk:
        session = await desk.open()
        await inside.learn(session, fact("Use pnpm"))
        assert file(world).read_text() == "- by hand\n"
        assert told(session) == ""
        assert await listed(desk) == [("Use pnpm", False)]


async def test_a_failure_is_said_and_no_more(desk: Desk, world: World) -> None:
    session = await desk.open()
    store: Any = desk.store
    works = store.facts.candidates

    async def fails(*given: Any) -> None:
        raise StorageFailed("the disk is full", kind="full")

    store.facts.candidates = fails
    await inside.learn(session, fact("Use pnpm"))
    store.facts.candidates = works
    ((level, text),) = notices(desk)
    assert (level, "the disk is full" in text) == ("warning", True)
    assert await listed(desk) == [("Use pnpm", False)]
    assert not file(world).exists()
    await inside.promote(session)
    assert file(world).exists()


async def test_a_new_session_is_told_of_it(desk: Desk, world: World) -> None:
    first = await desk.open()
    await inside.learn(first, fact("Use pnpm"), fact("tests need a database", "learning"))
    write(world, "- Never push\n", "constraints")
    session = await desk.open()
    assert told(session).endswith(
        "\nConstraints:\n- Never push\nDecisions:\n- Use pnpm\n"
        "Learnings:\n- tests need a database\n</learned>"
    )
    desk.script(says("yes"))
    await desk.ask(session)
    assert desk.prompts()[-1].system[-1].region == "learned"
    assert session.meter().regions["learned"] > 0
    assert [level for level, _ in notices(desk)] == ["info"]


async def test_a_change_waits_for_the_next_epoch(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    before = inside.static(worker.session)
    write(world, "- Use pnpm\n")
    await worker.turns(1)
    assert inside.static(worker.session) == before
    assert "pnpm" not in str(desk.messages(worker.session))
    await compact(worker.session)
    assert told(worker.session).endswith("Decisions:\n- Use pnpm\n</learned>")
    file(world).unlink()
    await worker.turns(3)
    assert told(worker.session) != ""
    await compact(worker.session)
    assert told(worker.session) == ""


async def test_what_a_session_promoted_itself_leaves_its_prefix_alone(
    desk: Desk, world: World
) -> None:
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(3)
    before = (await session.rewriting.preview(())).body
    await inside.learn(session, fact("Use pnpm"))
    done = await compact(session)
    assert told(session) == ""
    await session.rewriting.undo(done["compactionId"])
    assert (await session.rewriting.preview(())).body == before
    write(world, file(world).read_text().replace("Use pnpm", "Use yarn"))
    await worker.turns(1)
    await compact(session)
    assert "- Use yarn" in told(session)


async def test_another_model_and_a_restart(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("yes"))
        await desk.ask(session)
        write(world, "- Use pnpm\n")
        await session.set_option("model", "other")
        assert "- Use pnpm" in told(session)
        write(world, "- Use yarn\n")
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert "- Use pnpm" in told(session)
        desk.script(says("yes"))
        await desk.ask(session)
        assert "- Use pnpm" in told(session)


async def test_it_takes_no_more_than_its_room(desk: Desk, world: World) -> None:
    for name in ("decisions", "errors", "learnings"):
        write(world, "".join(f"- {name} {n} {'word ' * 20}\n" for n in range(200)), name)
    session = await desk.open()
    factor = inside.settings(session).info().token_factor
    tokens = inside.environment(session).models.count(told(session)) * factor
    assert ROOM * 0.9 < tokens <= ROOM
    assert "learnings 199 " in told(session)
    assert "learnings 0 " not in told(session)


async def test_facts_are_listed_by_what_is_asked(desk: Desk, world: World) -> None:
    session = await desk.open()
    await inside.learn(session, fact("Use pnpm"), fact("tests need a database", "learning"))
    link = world.workspace.parent / "link"
    link.symlink_to(world.workspace)
    assert await listed(desk, cwd=str(link), query="datab") == [("tests need a database", True)]
    assert await listed(desk, kind="decision") == [("Use pnpm", True)]
    assert await listed(desk, cwd="/nowhere") == []
    with pytest.raises(BadRequest, match="there are decision, error"):
        await listed(desk, kind="opinion")
    await desk.sessions.delete(session.id)
    assert len(await listed(desk)) == 2
