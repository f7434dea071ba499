"""Fresh windows that know how the work stands, and sessions that see what drifted meanwhile."""

import shutil
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, UnknownSession
from sidecar.core.parts import SessionId, TextPart
from sidecar.session.compaction.session_handoff import inherited, ledger_of
from sidecar.session.lifecycle import work_news
from sidecar.session.lifecycle.session import Session
from sidecar.workspace.instructions import Instruction
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.compaction.test_session_handoff import work
from tests.session.conftest import Desk, World
from tests.session.work import TOOLS

pytestmark = pytest.mark.long

CONTEXT = "<context>\nDate: 2026-11-21\n</context>"


async def go_on(desk: Desk, session: Session, goal: str = "") -> Session:
    editor: Any = desk.editor
    made = await desk.sessions.handoff(session.id, goal, editor, desk.watch, go_on=True)
    assert made.session_id is not None
    return await desk.sessions.get(made.session_id)


async def told(session: Session, context: str = CONTEXT) -> str:
    """What the next message tells once; logged as the session would."""
    foreseen = await session.starts.news.foresee(context)
    parts = await session.starts.news.tell(context)
    await inside.commit(session)
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert texts == [part.text for part in foreseen if isinstance(part, TextPart)]
    assert all(part.source == "context" for part in parts if isinstance(part, TextPart))
    return "\n".join(texts)


async def again(desk: Desk, session: Session) -> Session:
    """Close a session and open it again."""
    editor: Any = desk.editor
    await desk.sessions.close(session.id)
    opened = await desk.sessions.get(session.id)
    opened.audience.attach(desk.watch, editor)
    return opened


async def test_a_fresh_window_is_like_the_old_one_but_empty(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS, system="Be brief.", window=90_000, title="The parser")
    await session.set_option("effort", "high")
    await work(desk, session)
    made = await go_on(desk, session)
    assert inside.messages(made) == ()
    assert inside.static(made) == inside.static(session)
    assert made.row.cwd == session.row.cwd
    assert {**session.row.settings, "parent": session.id} == made.row.settings
    assert (made.row.title, made.row.cost) == ("The parser (continued)", "0")
    assert made.audience.watchers()


async def test_it_is_told_once_how_the_work_stands(desk: Desk) -> None:
    session = await desk.open(title="The parser")
    await work(desk, session)
    made = await go_on(desk, session, "Test the parser")
    text = await told(made)
    for words in (
        "Goal now: Test the parser", "Fix the parser", "[~] Fix it", "[x] Find it",
        "- shell sh -c 'echo no such", "- src/parser.py (created", "Resume with: Fix it",
        "- We chose a table because", "nothing that is known of it has changed",
    ):  # fmt: skip
        assert words in text, words
    assert text.startswith("<context>\n")
    assert text.endswith("\n</context>")
    assert await told(made) == ""


async def test_what_it_is_told_is_pinned(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    made = await go_on(desk, session)
    [part] = await made.starts.news.tell(CONTEXT)
    assert inside.pinned(made) == {part.id}
    assert inside.records(made, "pin")


async def test_it_is_told_what_has_drifted_meanwhile(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    made = await go_on(desk, session)
    (desk.workspace / "src/parser.py").write_text("x = 2\n")
    (desk.workspace / "notes.txt").unlink()
    text = await told(made)
    assert "src/parser.py is not as it was when you changed it" in text
    assert "notes.txt is gone; it was read before." in text


async def test_a_kill_before_the_first_prompt_loses_nothing(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open()
        await work(desk, session)
        made = await go_on(desk, session)
        parent, child = session.id, made.id
    async with world.daemon() as desk:
        await desk.sessions.delete(parent)
        assert "[~] Fix it" in await told(await desk.sessions.get(child))
        assert (await desk.store.verify()).problems == ()


async def test_windows_follow_windows_and_nothing_is_lost(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    second = await go_on(desk, session, "Then test it")
    desk.script(
        calls(("one", "shell", {"command": "make nothing"})),
        calls(("two", "write_file", {"path": "tests.py", "content": "y\n"})),
        says("Done."),
    )
    await desk.ask(second, "Use tabs")
    third = await go_on(desk, second)
    text = await told(third)
    for words in (
        "Fix the parser", "Then test it", "Use tabs", "- shell make nothing →",
        "- shell sh -c 'echo no such", "- src/parser.py (created", "- tests.py (created",
        "[~] Fix it", "We chose a table",
    ):  # fmt: skip
        assert words in text, words
    log = inside.log(third)
    before = inherited(log.records)
    assert before is not None
    assert ledger_of(log.messages, log.records) == before.checkpoint.ledger


async def test_instructions_are_those_of_now(world: World) -> None:
    says_now = "Use tabs."

    async def read(cwd: str, trusted: bool) -> tuple[Instruction, ...]:
        return (Instruction("AGENTS.md", says_now),)

    world.instructions = read
    async with world.daemon() as desk:
        session = await desk.open()
        says_now = "Use spaces."
        made = await go_on(desk, session)
        assert "Use spaces." in str(inside.static(made).system)
        assert "Use tabs." not in str(inside.static(made).system)


async def test_what_cannot_go_on_is_told(desk: Desk) -> None:
    session = await desk.open()
    editor: Any = desk.editor
    with pytest.raises(UnknownSession):
        await desk.sessions.handoff(SessionId("ses_x"), "", editor, desk.watch, go_on=True)
    shutil.rmtree(desk.workspace)
    with pytest.raises(BadRequest) as error:
        await go_on(desk, session)
    assert error.value.data["path"] == "params.sessionId"


# --- a session that is opened again ------------------------------------------------------------


async def test_a_session_opened_again_is_told_once_what_changed(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    assert await told(session) == ""
    (desk.workspace / "src/parser.py").write_text("x = 2\n")
    (desk.workspace / "notes.txt").write_text("only read\n")
    assert await told(session) == ""
    session = await again(desk, session)
    text = await told(session)
    assert text.count("\n- ") == 1
    assert "- src/parser.py is not as it was when you changed it" in text
    assert await told(session) == ""
    session = await again(desk, session)
    assert await told(session) == ""
    (desk.workspace / "src/parser.py").unlink()
    session = await again(desk, session)
    assert "src/parser.py is gone" in await told(session)


async def test_what_the_agent_changed_again_is_compared_anew(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    (desk.workspace / "src/parser.py").write_text("x = 2\n")
    session = await again(desk, session)
    assert "src/parser.py" in await told(session)
    desk.script(
        calls(("w", "write_file", {"path": "src/parser.py", "content": "x = 3\n"})), says("Done.")
    )
    await desk.ask(session)
    session = await again(desk, session)
    assert await told(session) == ""
    (desk.workspace / "src/parser.py").write_text("x = 2\n")
    session = await again(desk, session)
    assert "src/parser.py" in await told(session)


async def test_many_changes_are_a_few_lines(desk: Desk) -> None:
    session = await desk.open()
    names = [f"file{n}.py" for n in range(60)]
    made = [
        (f"call{n}", "write_file", {"path": name, "content": "x\n"}) for n, name in enumerate(names)
    ]
    desk.script(calls(*made), says("Done."))
    await desk.ask(session)
    for name in names:
        (desk.workspace / name).write_text("y\n")
    text = await told(await again(desk, session))
    assert text.count("\n- ") == work_news.MOST_LINES + 1
    assert f"… and {60 - work_news.MOST_LINES} more files" in text


async def test_another_branch_is_told(desk: Desk) -> None:
    git = desk.workspace / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    session = await desk.open()
    await work(desk, session)
    # The turn is concluded, and saved, by its session's end at the latest.
    await desk.sessions.close(session.id)
    (git / "HEAD").write_text("ref: refs/heads/wip\n")
    session = await again(desk, session)
    assert "The git branch was main and is wip now." in await told(session)


async def test_the_branch_that_was_told_last_counts(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    last = desk.messages(session)[0]
    context = next(p for p in last.parts if isinstance(p, TextPart) and p.source == "context")
    main = TextPart(context.id, "<context>\nGit branch: main\n</context>", "context")
    inside.log(session).writer.put_part(last.id, main)
    await inside.commit(session)
    session = await again(desk, session)
    same = await session.starts.news.foresee("<context>\nGit branch: main\n</context>")
    assert same == ()
    text = await told(session, "<context>\nGit branch: wip\n</context>")
    assert "The git branch was main and is wip now." in text


async def test_a_fork_is_told_what_its_parent_changed_since(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    cut = desk.messages(session)[-1]
    desk.script(
        calls(("w", "write_file", {"path": "src/parser.py", "content": "x = 9\n"})), says("Done.")
    )
    await desk.ask(session)
    editor: Any = desk.editor
    opened = await desk.sessions.fork(session.id, cut.id, editor, desk.watch)
    made = await desk.sessions.get(opened.session_id)
    assert "src/parser.py is not as it was when you changed it" in await told(made)
