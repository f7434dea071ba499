"""Handing work on: a draft that says how it stands, from any session that can be read."""

import json
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, UnknownSession
from sidecar.core.parts import FilePart, JsonObject, SessionId
from sidecar.session.compaction.session_handoff import handoff
from sidecar.session.interface import NewSession, PromptRequest
from sidecar.session.lifecycle.session import Session
from sidecar.store.format.log_records import LinkedRecord
from tests.core.stated import stated
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World

LIST = [("Find it", "completed"), ("Fix it", "in_progress"), ("Test it", "pending")]
TODO = {"items": [{"content": what, "status": how} for what, how in LIST]}


async def work(desk: Desk, session: Session, words: str = "Fix the parser") -> None:
    """A turn that plans, reads, fails and writes."""
    desk.script(
        calls(("todo", "todo", TODO), ("read", "read_file", {"path": "notes.txt"})),
        calls(("gone", "read_file", {"path": "parser.py"})),
        calls(("made", "write_file", {"path": "src/parser.py", "content": "x = 1\n"})),
        calls(("run", "shell", {"command": "sh -c 'echo no such luck >&2; exit 3'"})),
        says("We chose a table because `parse_line` is called in a loop."),
    )
    result = await desk.ask(session, words)
    assert result.stop_reason == "end_turn", result.error


async def given(desk: Desk, session: Session, goal: str) -> tuple[str, tuple[str, ...]]:
    return await handoff(desk.store, inside.clock(session), session.id, goal)


async def test_a_draft_tells_how_the_work_stands(desk: Desk) -> None:
    session = await desk.open(title="The parser")
    await work(desk, session)
    desk.script(says("Yes."))
    await desk.ask(session, "Use tabs, please.")
    fact = stated("Tables, not regular expressions.", source="t", who="model")
    await desk.store.facts.add(session.id, str(desk.workspace), [fact])
    told, files = await given(desk, session, "Test the parser")
    for words in (
        "# Goal\n\nTest the parser",
        "“The parser”",
        "> Fix the parser",
        "> Use tabs, please.",
        "# Done\n\n- [x] Find it",
        "# In progress\n\n- [ ] Fix it",
        "# Planned\n\n- [ ] Test it",
        "- decision: Tables, not regular expressions.",
        "- We chose a table because",
        "- shell sh -c 'echo no such luck",
        "- src/parser.py (created",
    ):
        assert words in told
    assert files == ("src/parser.py", "notes.txt")
    assert (await given(desk, session, "What of notes.txt?"))[1][0] == "notes.txt"
    assert await given(desk, session, "Test the parser") == (told, files)


async def test_no_model_is_asked_and_nothing_is_written(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    asked, revision = len(desk.model.requests), session.opened().revision
    await given(desk, session, "Test it")
    assert (len(desk.model.requests), session.opened().revision) == (asked, revision)


async def test_compaction_takes_nothing_from_it(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3, 6)
    before = await given(desk, worker.session, "Go on")
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    assert await given(desk, worker.session, "Go on") == before


async def test_a_link_to_a_session_in_a_prompt_becomes_a_digest_of_it(desk: Desk) -> None:
    session = await desk.open(title="The parser")
    await work(desk, session)
    other = await desk.open()
    link: JsonObject = {"type": "resource_link", "uri": f"sidecar:session/{session.id}"}
    text: JsonObject = {"type": "text", "text": "Do it as there"}
    desk.script(says("As there."))
    seen = await other.rewriting.preview((text, link))
    await other.prompt(PromptRequest((text, {**link, "name": "The parser"})))
    _, told = desk.messages(other)[0].parts[:2]
    assert isinstance(told, FilePart)
    assert told.uri == f"sidecar:session/{session.id}#The%20parser"
    for words in (
        "What became of the session “The parser” in ",
        "> Fix the parser",
        "# Done\n\n- [x] Find it",
        "# Files changed\n\n- src/parser.py (created",
        "# Its last answer\n\n> We chose a table because",
    ):
        assert words in (told.text or "")
    for shown in (str(seen.body), str(desk.prompts()[-1])):
        assert "What became of the session" in shown
    desk.script(says("There, too."))
    odd = await desk.open(title="\ud800 odd")
    about = {**link, "uri": f"sidecar:session/{odd.id}"}
    assert (await other.prompt(PromptRequest((text, about)))).stop_reason == "end_turn"
    before = other.opened().revision
    with pytest.raises(UnknownSession):
        await other.prompt(PromptRequest((text, {**link, "uri": "sidecar:session/no"})))
    assert other.opened().revision == before


async def test_what_another_daemon_writes_is_handed_on(world: World) -> None:
    async with world.daemon(name="one") as one:
        session = await one.open()
        await work(one, session)
        async with world.daemon(name="two") as two:
            read = await two.sessions.get(session.id)
            assert read.opened().read_only
            assert await given(two, read, "Test it") == await given(one, session, "Test it")


async def test_the_next_session_is_linked(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session)
    told, _ = await given(desk, session, "Test it")
    request = NewSession(cwd=str(desk.workspace), parent=session.id)
    editor: Any = desk.editor
    opened = await desk.sessions.new(request, editor, desk.watch)
    made = await desk.sessions.get(opened.session_id)
    link = inside.log(made).last_record(LinkedRecord)
    assert link is not None
    assert link.source == session.id
    page, _ = await desk.sessions.list(None, None, 9)
    assert {line.session_id: line.parent for line in page} == {
        made.id: session.id,
        session.id: None,
    }
    desk.script(says("At once."))
    await desk.ask(made, told)
    assert json.dumps("> Fix the parser")[1:-1] in json.dumps(
        desk.model.body(desk.model.requests[-1])
    )


async def test_what_cannot_be_handed_on_is_told(desk: Desk) -> None:
    session = await desk.open()
    with pytest.raises(BadRequest) as error:
        await given(desk, session, " \n")
    assert error.value.data["path"] == "params.goal"
    with pytest.raises(UnknownSession):
        await handoff(desk.store, inside.clock(session), SessionId("ses_x"), "Go on")
    editor: Any = desk.editor
    request = NewSession(cwd=str(desk.workspace), parent=SessionId("ses_x"))
    with pytest.raises(UnknownSession):
        await desk.sessions.new(request, editor, desk.watch)
    told, files = await given(desk, session, "Begin")
    assert "# Goal\n\nBegin" in told
    assert files == ()
