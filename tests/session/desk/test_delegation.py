"""Subtasks: what a child session begins with, what it may do, and what its parent pays."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sidecar.core.parts import ToolCompleted, ToolError
from sidecar.session.log.events import SessionChanged, ToolOutputChunk
from sidecar.store.format.log_records import DelegatedRecord
from tests.core import prompts
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.subtasks import LOOK, TASK, ByTask, child_of, hands, limited, made, results, told


@pytest.fixture
def allowed(world: World) -> World:
    """A world in which nobody is asked about subtasks."""
    return limited(world)


async def test_a_child_begins_with_nothing_but_its_task(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,), system="Be brief.")
        desk.script(says("the secret is 17"), hands(TASK), says("There are 3."), says("Three."))
        await desk.ask(session, "remember the secret")
        result = await desk.ask(session, "count them")
        assert result.stop_reason == "end_turn"
        _, asks, child, after = desk.model.requests
        assert told(child) == ["Count the files.\n\nWhat is known already:\nThey lie in src."]
        assert [r.purpose for r in desk.model.requests] == ["turn", "turn", "subtask", "turn"]
        offered = [tool.name for tool in child.prompt.tools]
        assert offered == [t.name for t in asks.prompt.tools if t.name != "delegate"]
        brief, limits = prompts.beginning(child.prompt)
        assert brief.startswith("Be brief.")
        assert "at most 50 steps" in limits
        assert after.prompt.tools == asks.prompt.tools
        (answered,) = results(desk)
        assert (answered.text, answered.is_error) == ("There are 3.", False)
        (call,) = made(desk, session)
        assert isinstance(call.state, ToolCompleted)
        assert call.state.title == "Delegate Count the files."
        opened = await child_of(desk, session)
        assert call.state.metadata == {
            "sessionId": opened.id,
            "cost": inside.row(opened).cost,
            "steps": 1,
        }
        linked = inside.log(session).last_record(DelegatedRecord)
        assert linked is not None
        assert (linked.session_id, linked.call_id) == (opened.id, "d0")


@pytest.mark.parametrize(
    ("names", "offered"),
    [(["look", "read_file"], {"look", "read_file"}), (["delegate"], set()), ([], set())],
)
async def test_tools_can_only_be_left_out(
    allowed: World, names: list[str], offered: set[str]
) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        again = calls(("c", "delegate", TASK))
        desk.script(hands({**TASK, "tools": names}), again, says("Alone."), says("ok"))
        await desk.ask(session)
        assert {t.name for t in desk.model.requests[1].prompt.tools} == offered
        # A child that calls what it was not offered is told so.
        (refusal,) = prompts.results(desk.model.requests[2].prompt)
        assert "There is no tool named delegate" in refusal.text


async def test_a_tool_that_the_parent_lacks_begins_nothing(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open()
        desk.script(hands({**TASK, "tools": ["look", "search"]}), says("ok"))
        await desk.ask(session)
        (answered,) = results(desk)
        assert answered.is_error
        assert "You have no tool look. You have delegate, edit_file" in answered.text
        listed, _ = await desk.sessions.list(None, None, 10)
        assert [line.session_id for line in listed] == [session.id]


async def test_its_cost_is_its_parents_too(allowed: World) -> None:
    async with allowed.daemon() as desk:
        worker = await desk.worker()
        session = worker.session
        desk.script(hands(TASK), worker.step(), says("Three."), says("ok"))
        result = await desk.ask(session)
        child = inside.row(await child_of(desk, session)).cost
        own = [p.cost for m in desk.messages(session) for p in m.parts if hasattr(p, "cost")]
        assert child is not None
        assert Decimal(child) > 0
        total = sum((Decimal(cost) for cost in own), Decimal(child))
        assert Decimal(result.cost or 0) == total
        assert inside.cost(session) == total
        assert Decimal(result.meter.cost.last_turn or 0) == total
        assert result.usage.requests == 4
        # It grows as the child works, not only at its end.
        assert [e.cause for e in desk.of(SessionChanged)].count("subtask") == 2
    async with allowed.daemon() as again:
        opened = await again.sessions.get(session.id)
        assert Decimal(opened.meter().cost.session or 0) == total
        assert Decimal(opened.meter().cost.last_turn or 0) == total


async def test_its_log_is_kept_and_can_be_opened(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda given: "seen"
        desk.script(hands(TASK), calls(("c", "look", {})), says("Three."), says("ok"))
        await desk.ask(session)
        # Nobody works with it now, so it is not kept open.
        assert [s["sessionId"] for s in desk.sessions.status()["sessions"]] == [session.id]
        child = await child_of(desk, session)
        assert [m.role for m in desk.messages(child)] == ["user", "assistant", "assistant"]
        assert inside.row(child).title == "Count the files."
        assert (await desk.sessions.list(None, None, 10))[0][0].turns == 1
        # From now on it is a session as any other.
        desk.script(says("Sure."))
        assert (await desk.ask(child, "Are you sure?")).stop_reason == "end_turn"
        assert desk.model.requests[-1].purpose == "turn"
        assert inside.row(session).cost is not None


async def test_what_it_does_is_shown_with_its_parents_call(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open()
        acts = calls(("a", "read_file", {"path": "notes.txt"}), ("b", "read_file", {"path": "no"}))
        desk.script(hands(TASK), acts, says("Three."), says("ok"))
        await desk.ask(session)
        assert {e.call_id for e in desk.of(ToolOutputChunk)} == {"d0"}
        shown = "".join(e.text for e in desk.of(ToolOutputChunk))
        failed, *titles = sorted(shown.splitlines())
        assert failed.startswith("  failed: There is no file no.")
        assert titles == ["Read no", "Read notes.txt"]
        # The editor is told of no session that it has not opened.
        assert {e.session_id for e in desk.of(SessionChanged)} == {session.id}


class Asked:
    """An editor's user who is asked, in whose name, and answers by what is asked."""

    def __init__(self, desk: Desk, **answers: str) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.answers = answers
        editor: Any = desk.editor
        editor.request_permission = self.ask

    async def ask(self, session_id: str, tool_call: Any, options: Any) -> str | None:
        self.seen.append((session_id, tool_call))
        return next(a for word, a in self.answers.items() if word in tool_call["title"])


async def test_a_tasks_words_do_not_pass_for_the_question(desk: Desk) -> None:
    asked = Asked(desk, Delegate="allow_once", make="reject_once")
    session = await desk.open()
    task = {**TASK, "task": "a”: Run git status # ″"}
    desk.script(hands(task), calls(("c", "shell", {"command": "make"})), says("Done."), says("ok"))
    await desk.ask(session)
    assert asked.seen[1][1]["title"] == "Subtask “a Run git status”: Run make"


async def test_it_asks_in_its_parents_name(desk: Desk) -> None:
    asked = Asked(desk, Delegate="allow_once", Run="allow_always")
    session = await desk.open()
    runs = [calls((f"c{n}", "shell", {"command": "true"})) for n in range(3)]
    desk.script(hands(TASK), *runs[:2], says("Done."), runs[2], says("ok"))
    await desk.ask(session)
    assert [name for name, _ in asked.seen] == [session.id, session.id]
    first, second = (question for _, question in asked.seen)
    assert first["title"] == "Delegate Count the files."
    assert second["title"] == "Subtask “Count the files.”: Run true"
    about = second["_meta"]["sidecar"]["subtask"]
    child = await child_of(desk, session)
    assert about == {"sessionId": child.id, "callId": "d0"}
    # An `always` holds for both, since the user was asked in the parent's name.
    assert [p.state for p in made(desk, session) if isinstance(p.state, ToolError)] == []


async def test_what_is_refused_there_does_not_end_the_parents_turn(desk: Desk) -> None:
    Asked(desk, Delegate="allow_once", Run="reject_once")
    session = await desk.open()
    desk.script(hands(TASK), calls(("c", "shell", {"command": "rm x"})), says("ok"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    (answered,) = results(desk)
    assert "the user or a rule of theirs did not allow shell rm x" in answered.text


async def test_a_subtask_that_is_not_allowed_does_not_begin(desk: Desk) -> None:
    Asked(desk, Delegate="reject_once")
    session = await desk.open()
    desk.script(hands(TASK))
    assert (await desk.ask(session)).stop_reason == "blocked"
    assert len((await desk.sessions.list(None, None, 10))[0]) == 1


async def test_it_is_trusted_no_more_than_its_parent(world: World) -> None:
    world.config = replace(world.config, workspace_trusted=False)
    async with limited(world).daemon() as desk:
        session = await desk.open()
        desk.script(hands(TASK), calls(("c", "shell", {"command": "touch x"})), says("No."))
        desk.script(says("ok"))
        await desk.ask(session)
        (denied,) = made(desk, await child_of(desk, session))
        assert isinstance(denied.state, ToolError)
        assert "not trusted" in denied.state.message


async def test_trust_that_was_given_holds_in_it(world: World) -> None:
    world.config = replace(world.config, workspace_trusted=None)
    async with limited(world).daemon() as desk:
        asked = Asked(desk, Trust="trust_once", Run="allow_once")
        session = await desk.open()
        runs = [calls((f"c{n}", "shell", {"command": f"echo {n}"})) for n in range(2)]
        desk.script(runs[0], hands(TASK), runs[1], says("Done."), says("ok"))
        await desk.ask(session)
        titles = [question["title"] for _, question in asked.seen]
        assert [title.startswith("Trust") for title in titles] == [True, False, False]


async def test_rules_that_reject_hold_in_it(world: World) -> None:
    limited(world)
    rules = replace(world.config.permissions, allow=("delegate", "shell"), reject=("shell:rm*",))
    world.config = replace(world.config, permissions=rules)
    async with world.daemon() as desk:
        session = await desk.open()
        runs = calls(("a", "shell", {"command": "rm x"}), ("b", "shell", {"command": "true"}))
        desk.script(hands(TASK), runs, says("Done."), says("ok"))
        await desk.ask(session)
        denied, done = made(desk, await child_of(desk, session))
        assert isinstance(denied.state, ToolError)
        assert isinstance(done.state, ToolCompleted)


async def test_several_run_side_by_side(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        both = asyncio.Barrier(3)

        async def meet(given: Any) -> str:
            await both.wait()
            return f"met {given['n']}"

        desk.editor.tools["look"] = meet
        names = ("one", "two", "three")
        ByTask(
            desk,
            go=[hands(*({"task": name} for name in names)), says("ok")],
            **{n: [calls(("c", "look", {"n": n})), says(f"I am {n}.")] for n in names},
        )
        result = await desk.ask(session)
        assert result.usage.requests == 8
        assert [r.text for r in results(desk)] == [f"I am {name}." for name in names]
        listed, _ = await desk.sessions.list(None, None, 10)
        assert {s.title for s in listed if s.parent == session.id} == set(names)
        costs = [Decimal(s.cost or 0) for s in listed]
        (whole,) = [Decimal(s.cost or 0) for s in listed if s.session_id == session.id]
        assert whole == sum(costs) - whole + Decimal("0.00045") * 2
