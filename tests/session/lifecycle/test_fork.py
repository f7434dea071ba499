"""Forks: the parent's log and its cached prefix up to a message, and then a way of its own."""

import asyncio
import json
from typing import Any

import pytest

from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.conversation.turns import is_settled
from sidecar.core.errors import BadRequest, UnknownSession
from sidecar.core.parts import Message, MessageId, SessionId, ToolPart
from sidecar.session.interface import SessionSummary
from sidecar.session.lifecycle.session import Session
from sidecar.workspace.instructions import Instruction
from tests.fakes.scripted_model import Hold, calls, says, started
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World


async def fork(desk: Desk, session: Session, at: str | None = None) -> Session:
    at_message = None if at is None else MessageId(at)
    opened = await desk.sessions.fork(session.id, at_message, desk.editor, desk.watch)
    made = await desk.sessions.get(opened.session_id)
    assert made.opened() == opened
    return made


async def body(session: Session, words: str = "") -> Any:
    blocks = ({"type": "text", "text": words},) if words else ()
    return (await session.rewriting.preview(blocks)).body


def unmarked(request: Any) -> str:
    """A request without its cache markers."""
    return json.dumps(request).replace(', "cache_control": {"type": "ephemeral"}', "")


def extends(longer: Any, shorter: Any) -> bool:
    """Whether one request begins as another, cache markers aside."""
    new, old = json.loads(unmarked(longer)), json.loads(unmarked(shorter))
    static = all(new.get(key) == old.get(key) for key in ("tools", "system", "model"))
    *whole, last = old["messages"]
    following = new["messages"][len(whole)]
    return (
        static
        and new["messages"][: len(whole)] == whole
        and following["content"][: len(last["content"])] == last["content"]
    )


def steps(session: Session) -> list[Message]:
    return [m for m in inside.messages(session) if m.role == "assistant"]


async def line(desk: Desk, session: Session) -> SessionSummary:
    page, _ = await desk.sessions.list(None, None, 50)
    return next(one for one in page if one.session_id == session.id)


async def test_a_fork_begins_as_its_parent_is(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 4)
    parent = worker.session
    made = await fork(desk, parent)
    assert inside.messages(made) == inside.messages(parent)
    assert await body(made) == await body(parent)
    assert made.meter().used == parent.meter().used
    assert inside.model_view(made).calibration == inside.model_view(parent).calibration
    assert made.opened().config_options == parent.opened().config_options
    record = inside.records(made)[-1]
    assert (record.kind, record.body["from"]) == ("forked", parent.id)
    assert record.revision == made.opened().revision


async def test_a_fork_reads_what_its_parent_wrote(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 4)
    parent = worker.session
    before = worker.results[-1].meter.used
    made = await fork(desk, parent)
    desk.script(says("Done."))
    result = await desk.ask(made, "Go another way.")
    step = desk.messages(made)[-1].parts[-1]
    assert step.usage.cache_read > 0.9 * before  # type: ignore[union-attr] # the step's end
    assert made.meter().cache.last_break is None
    assert result.stop_reason == "end_turn"
    assert len(inside.messages(parent)) == len(inside.messages(made)) - 2


async def test_its_costs_and_numbers_begin_anew(desk: Desk) -> None:
    worker = await desk.worker(policy="manual", title="The work")
    await worker.turns(2, 3)
    parent = await line(desk, worker.session)
    made = await fork(desk, worker.session)
    told, cost = await line(desk, made), made.meter().cost
    assert (told.title, told.turns, told.cost) == ("The work (fork)", 2, "0")
    assert (told.parent, parent.parent, told.cwd) == (parent.session_id, None, parent.cwd)
    assert (cost.session, cost.last_turn, made.meter().burn_rate) == ("0", None, None)
    desk.script(says("Done."))
    result = await desk.ask(made, "Go another way.")
    assert result.meter.cost.session == result.meter.cost.last_turn == result.cost
    assert await line(desk, worker.session) == parent
    again = await fork(desk, made)
    assert (await line(desk, again)).title == "The work (fork)"


@pytest.mark.parametrize("index", range(6))
async def test_it_is_cut_at_any_message_with_whole_pairs(desk: Desk, index: int) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 2)
    parent = worker.session
    sent = [desk.model.body(request) for request in desk.model.requests]
    at = desk.messages(parent)[index]
    made = await fork(desk, parent, at.id)
    assert desk.messages(made) == desk.messages(parent)[: index + 1]
    # Up to message `index` as many requests were made as it has answers before it.
    asked = sum(m.role == "assistant" for m in desk.messages(made)[:-1])
    desk.script(says("Done."))
    await desk.ask(made, "Go another way.")
    assert extends(desk.model.body(desk.model.requests[-1]), sent[asked])
    assert made.meter().cost.session == made.meter().cost.last_turn


async def test_rewrites_of_before_are_taken_over_and_later_ones_are_not(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3, 6)
    parent = worker.session
    whole, middle = unmarked(await body(parent)), desk.messages(parent)[-1]
    await parent.rewriting.compact("economic", None, dry_run=False)
    short, after = unmarked(await body(parent)), None
    assert len(short) < len(whole)
    await worker.turn(2)
    after = desk.messages(parent)[-1]
    await worker.turn(2)
    early, late = await fork(desk, parent, middle.id), await fork(desk, parent, after.id)
    newest = await fork(desk, parent)
    # A rewrite between two turns stands before what follows it.
    assert unmarked(await body(early)) == short
    assert extends(await body(late), json.loads(short))
    assert unmarked(await body(newest)) == unmarked(await body(parent))
    first = await fork(desk, parent, steps(parent)[4].id)
    assert extends(json.loads(whole), await body(first))
    for one in (early, late, newest, first):
        desk.script(says("Done."))
        assert (await desk.ask(one, "Go on.")).stop_reason == "end_turn"


async def test_a_rewrite_is_taken_back_in_the_fork_alone(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3, 6)
    parent = worker.session
    whole = unmarked(await body(parent))
    done = await parent.rewriting.compact("economic", None, dry_run=False)
    made = await fork(desk, parent)
    short = unmarked(await body(parent))
    await made.rewriting.undo(str(done["compactionId"]))
    assert len(unmarked(await body(made))) > len(short)
    assert unmarked(await body(parent)) == short
    left = next(iter(inside.view(parent).shown))
    assert await made.recall(left, 0, None, None) == await parent.recall(left, 0, None, None)
    assert len(whole) > len(short)


async def test_pins_of_before_hold(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(2, 3)
    parent = worker.session
    calls_made = [p for m in desk.messages(parent) for p in m.parts if isinstance(p, ToolPart)]
    await parent.rewriting.pin(calls_made[0].id, pinned=True)
    cut = desk.messages(parent)[-1]
    await worker.turn(2)
    await parent.rewriting.pin(calls_made[1].id, pinned=True)
    made = await fork(desk, parent, cut.id)
    assert inside.pinned(made) == {calls_made[0].id}


async def test_a_running_parent_is_forked_as_far_as_it_is_settled(desk: Desk) -> None:
    held, worker = Hold(), await desk.worker(policy="manual")

    async def slow(_: Any) -> str:
        held.reached.set()
        await held.released.wait()
        return "late"

    await worker.turn(1)
    settled = desk.messages(worker.session)
    desk.editor.tools["look"] = slow
    desk.script(worker.step(), says("Seen."))
    async with asyncio.timeout(LIMIT):
        turn = asyncio.create_task(desk.ask(worker.session, "Look again."))
        await held.reached.wait()
        running = desk.messages(worker.session)[-1]
        assert not is_settled(running)
        made = [await fork(desk, worker.session, at) for at in (None, running.id)]
        held.released.set()
        await turn
    for one in made:
        *before, asked = desk.messages(one)
        assert (tuple(before), asked.role) == (settled, "user")
        assert not any(r.kind == "cut" for r in inside.records(one))
        desk.script(says("Done."))
        assert (await desk.ask(one, "And now?")).stop_reason == "end_turn"


async def test_withdrawn_answers_do_not_stop_a_fork(desk: Desk) -> None:
    held, session = Hold(), await desk.open()
    begun = [started(), *calls(("a", "read_file", {"path": "notes.txt"}))[1:3]]
    again = calls(("b", "read_file", {"path": "notes.txt"}))
    desk.script([*begun, AttemptFailed(1, 3, 0, "broke", "network"), *again])
    desk.script([started(), held, *says("x")])
    async with asyncio.timeout(LIMIT):
        turn = asyncio.create_task(desk.ask(session))
        await held.reached.wait()
        made = await fork(desk, session)
        held.released.set()
        await turn
    assert [m.role for m in desk.messages(made)] == ["user", "assistant"]
    assert all(map(is_settled, desk.messages(made)))


async def test_what_the_next_message_told_is_not_known_to_the_fork(world: World) -> None:
    says_now = "Use tabs."

    async def read(cwd: str, trusted: bool) -> tuple[Instruction, ...]:
        return (Instruction("AGENTS.md", says_now),)

    world.instructions = read
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("One."), says("Two."), says("Three."), says("Three again."))
        await desk.ask(session)
        cut = desk.messages(session)[-1]
        says_now = "Use spaces."
        await desk.ask(session)
        assert "instructions-changed" in str(desk.prompts()[-1])
        early, late = await fork(desk, session, cut.id), await fork(desk, session)
        for made, told in ((early, True), (late, False)):
            await desk.ask(made)
            newest = desk.messages(made)[-2]
            assert ("Use spaces." in str(newest)) is told


async def test_the_model_is_the_one_of_that_time(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("One."), says("Two."))
    await desk.ask(session)
    cut = desk.messages(session)[-2]
    await session.set_option("model", "other")
    await desk.ask(session)
    early, late = await fork(desk, session, cut.id), await fork(desk, session)
    assert inside.settings(early).model_id == "scripted"
    assert inside.settings(late).model_id == "other"
    assert inside.static(early).model == "scripted"


async def test_forks_survive_a_restart_and_their_parents(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(2, 3)
        made = await fork(desk, worker.session)
        desk.script(says("Done."))
        await desk.ask(made, "Go another way.")
        parent, child, before = worker.session.id, made.id, await body(made)
    async with world.daemon() as desk:
        await desk.sessions.delete(parent)
        again = await desk.sessions.get(child)
        assert await body(again) == before
        assert (await line(desk, again)).parent == parent
        assert (await desk.store.verify()).problems == ()
        second = await fork(desk, again)
        await desk.sessions.delete(child)
        assert unmarked(await body(second)) == unmarked(before)
        assert (await desk.store.verify()).problems == ()


async def test_what_another_daemon_writes_can_be_forked(world: World) -> None:
    async with world.daemon(name="one") as one:
        session = await one.open()
        one.script(says("One."))
        await one.ask(session)
        async with world.daemon(name="two") as two:
            read = await two.sessions.get(session.id)
            assert read.opened().read_only
            made = await fork(two, read)
            assert not made.opened().read_only
            two.script(says("Two."))
            assert (await two.ask(made)).stop_reason == "end_turn"
        assert len(one.messages(session)) == 2


async def test_an_empty_session_is_forked(desk: Desk) -> None:
    made = await fork(desk, await desk.open())
    desk.script(says("Hello."))
    await desk.ask(made, "Say hello")
    told = await line(desk, made)
    assert (told.title, told.turns) == ("Say hello", 1)


async def test_what_is_not_there_is_not_forked(desk: Desk) -> None:
    session = await desk.open()
    with pytest.raises(BadRequest) as error:
        await fork(desk, session, "msg_x")
    assert error.value.data["path"] == "params.atMessageId"
    with pytest.raises(UnknownSession):
        await desk.sessions.fork(SessionId("ses_x"), None, desk.editor, desk.watch)
    page, _ = await desk.sessions.list(None, None, 50)
    assert len(page) == 1
