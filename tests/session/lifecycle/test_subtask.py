"""How subtasks end: with a report, at a limit, in failure, by a cancel, with the daemon."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from sidecar.core.conversation.turns import is_settled
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import ToolCompleted, ToolError
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import Hold, calls, says, started, stop, text
from tests.session import inside
from tests.session.conftest import Desk, World, prompt_of
from tests.session.subtasks import LOOK, TASK, ByTask, child_of, hands, limited, made, results, told


@pytest.fixture
def allowed(world: World) -> World:
    """A world in which nobody is asked about subtasks."""
    return limited(world)


async def test_a_long_report_is_cut_and_can_be_recalled(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open()
        report = "\n".join(f"line {n} of the report, with something in it" for n in range(900))
        desk.script(hands(TASK), says(report), says("ok"))
        await desk.ask(session)
        (answered,) = results(desk)
        (call,) = made(desk, session)
        assert inside.model_view(session).tokens(answered.text) <= 2_000
        assert len(answered.text) > 3_000
        assert answered.text.startswith("line 0 ")
        assert answered.text.endswith("line 899 of the report, with something in it")
        assert f'recall {{"id": "{call.id}", "offset": ' in answered.text
        recalled = await session.recall(call.id, 0, None, None)
        assert recalled.content == report


@pytest.mark.parametrize("reports", [True, False])
async def test_before_its_last_step_it_is_asked_for_its_report(world: World, reports: bool) -> None:
    async with limited(world, steps=3).daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda given: f"seen {given['n']}"
        looks = [calls((f"c{n}", "look", {"n": n}), words=f"I look at {n}.") for n in range(3)]
        last = says("Three, I think.") if reports else looks[2]
        desk.script(hands(TASK), *looks[:2], last, says("ok"))
        assert (await desk.ask(session)).stop_reason == "end_turn"
        assert not any("this is your last step" in words for words in told(desk.model.requests[2]))
        assert "this is your last step" in told(desk.model.requests[3])[-1]
        (answered,) = results(desk)
        assert answered.is_error is not reports
        if reports:
            assert answered.text == "Three, I think."
        else:
            first, _, rest = answered.text.partition("\n\n")
            assert first == (
                "The subtask did not end well: its 3 steps were used up before it was done"
            )
            assert "seen 2" not in rest
            assert "Cancelled" not in rest
            assert "- look  · ok · seen 0" in rest
            assert rest.endswith("It said:\nI look at 0.\nI look at 1.\nI look at 2.")
        (call,) = made(desk, session)
        assert isinstance(call.state, ToolCompleted | ToolError)
        assert call.state.metadata["steps"] == 3


async def test_a_single_step_is_the_last(world: World) -> None:
    async with limited(world, steps=1).daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda given: "seen"
        desk.script(hands(TASK), calls(("c", "look", {})), says("ok"))
        assert (await desk.ask(session)).stop_reason == "end_turn"
        (answered,) = results(desk)
        assert "its 1 step was used up before it was done" in answered.text


@pytest.mark.parametrize(
    ("limits", "said"),
    [({"tokens": 350}, "its 350 tokens"), ({"cost": Decimal("0.0015")}, "its 0.0015 USD")],
)
async def test_tokens_and_cost_are_limited_too(
    world: World, limits: dict[str, Any], said: str
) -> None:
    # Each step of the script has 110 tokens and costs 0.00045 USD.
    async with limited(world, **limits).daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda given: f"seen {given['n']}"
        looks = [calls((f"c{n}", "look", {"n": n})) for n in range(3)]
        desk.script(hands(TASK), *looks, says("ok"))
        assert (await desk.ask(session)).stop_reason == "end_turn"
        assert "this is your last step" in told(desk.model.requests[3])[-1]
        (answered,) = results(desk)
        assert f"{said} were used up" in answered.text


async def broken(desk: Desk) -> None:
    late = ModelFailed("overloaded; later", kind="overloaded", status=529, retryable=True)
    desk.script([started(), *text("and"), late])


async def refuses(desk: Desk) -> None:
    desk.script([started(), *text("No."), stop("refusal")])


async def overlong(desk: Desk) -> None:
    desk.script([started(), *text("On and on"), stop("max_tokens")])


async def silent(desk: Desk) -> None:
    desk.script([started(), stop()])


@pytest.mark.parametrize(
    ("fails", "why"),
    [
        (broken, "overloaded; later"),
        (refuses, "the model refused to do it"),
        (overlong, "its answer was longer than one may be"),
        (silent, "it ended without a report"),
    ],
)
async def test_a_failure_is_told_with_what_was_found(allowed: World, fails: Any, why: str) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda given: "seen a.py"
        desk.script(hands(TASK), calls(("c", "look", {"path": "src"}), words="I look."))
        await fails(desk)
        desk.script(says("ok"))
        assert (await desk.ask(session)).stop_reason == "end_turn"
        (answered,) = results(desk)
        assert answered.is_error
        assert answered.text.startswith(f"The subtask did not end well: {why}\n\n")
        assert "- look src · ok · seen a.py" in answered.text
        assert "It said:\nI look." in answered.text


async def test_what_is_too_long_to_begin_with_is_told(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(window=60_000)
        task = {"task": "Count.", "context": "x " * 60_000}
        desk.script(hands(task), says("ok"))
        await desk.ask(session)
        (answered,) = results(desk)
        assert "this message alone is about" in answered.text
        (call,) = made(desk, session)
        assert isinstance(call.state, ToolError)
        assert call.state.metadata["sessionId"] == (await child_of(desk, session)).id


async def test_one_that_fails_leaves_the_others(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open()
        broken = ModelFailed("no", kind="bad_request")
        go = [hands({"task": "one"}, {"task": "two"}), says("ok")]
        ByTask(desk, go=go, one=[[broken]], two=[says("Two.")])
        assert (await desk.ask(session)).stop_reason == "end_turn"
        first, second = results(desk)
        assert (first.is_error, second.text) == (True, "Two.")


async def held(desk: Desk, session: Session, before: int) -> "asyncio.Future[Any]":
    """Begin a subtask that waits in the middle of its second answer."""
    hold = Hold()
    answer = [started(), *text("some words"), stop()]
    desk.script(hands(TASK), calls(("c", "look", {}), words="I look."))
    desk.script([*answer[:before], hold, *answer[before:]])
    desk.editor.tools["look"] = lambda given: "seen"
    running = asyncio.ensure_future(session.prompt(prompt_of("go")))
    async with asyncio.timeout(10):
        await hold.reached.wait()
    return running


@pytest.mark.parametrize("before", range(5))
async def test_a_cancel_is_passed_on(allowed: World, before: int) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, before)
        session.prompts.cancel()
        async with asyncio.timeout(10):
            result = await running
        assert result.stop_reason == "cancelled"
        child = await child_of(desk, session)
        for one in (session, child):
            assert all(is_settled(m) for m in desk.messages(one))
        assert [m.status for m in desk.messages(child)] == ["complete", "complete", "cut"]
        (call,) = made(desk, session)
        assert isinstance(call.state, ToolError)
        assert call.state.failure == "cancelled"
        # What it had cost until then is paid by both.
        assert inside.cost(child) == Decimal("0.00045")
        assert inside.cost(session) == Decimal("0.0009")
        assert Decimal(result.cost or 0) == Decimal("0.0009")
        desk.script(says("after"))
        assert (await desk.ask(session)).stop_reason == "end_turn"


async def test_a_turn_goes_on_where_only_its_subtask_is_cancelled(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, 3)
        (await child_of(desk, session)).prompts.cancel()
        desk.script(says("ok"))
        async with asyncio.timeout(10):
            assert (await running).stop_reason == "end_turn"
        (answered,) = results(desk)
        assert "it was stopped by the user" in answered.text
        assert "It said:\nI look." in answered.text


async def test_one_that_somebody_watches_stays_open(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, 3)
        child = await child_of(desk, session)
        seen: list[Any] = []
        child.audience.attach(seen.append, desk.editor)  # type: ignore[arg-type]
        session.prompts.cancel()
        async with asyncio.timeout(10):
            await running
        assert seen
        assert (await desk.sessions.get(child.id)) is child
        desk.script(says("Here."))
        assert (await desk.ask(child, "go on")).stop_reason == "end_turn"
        assert desk.model.requests[-1].purpose == "turn"


@pytest.mark.parametrize("before", range(5))
async def test_a_killed_daemon_leaves_both_logs_whole(allowed: World, before: int) -> None:
    async with allowed.daemon(kill=True) as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, before)
    running.cancel()
    async with allowed.daemon() as again:
        parent = await again.sessions.get(session.id)
        child = await child_of(again, parent)
        for one in (parent, child):
            assert all(is_settled(m) for m in again.messages(one))
            again.script(says("after"))
            assert (await again.ask(one)).stop_reason == "end_turn"
        (call,) = made(again, parent)
        assert isinstance(call.state, ToolError)
        assert call.state.failure == "interrupted"
        assert [p.name for p in made(again, child)] == ["look"]
        # What the child's first answer cost was its parent's already.
        assert inside.cost(parent) == Decimal("0.00135")


async def test_a_daemon_stops_in_the_middle(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, 3)
    async with asyncio.timeout(10):
        assert (await running).stop_reason == "cancelled"
    async with allowed.daemon() as again:
        parent = await again.sessions.get(session.id)
        assert (await child_of(again, parent)).opened().read_only is False
        assert all(is_settled(m) for m in again.messages(parent))


async def test_one_that_ends_while_somebody_opens_it_is_open(allowed: World) -> None:
    async with allowed.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        running = await held(desk, session, 3)
        child = await child_of(desk, session)

        async def emit(event: Any) -> None:
            if not running.done():
                session.prompts.cancel()
                await running

        editor: Any = desk.editor
        seen: list[Any] = []
        given = {"replay": True, "after": None, "emit": emit}
        async with asyncio.timeout(10):
            await desk.sessions.load(child.id, editor, seen.append, **given)
        opened = await desk.sessions.get(child.id)
        assert opened is not child
        seen.clear()
        desk.script(says("Here."))
        assert (await desk.ask(opened, "go on")).stop_reason == "end_turn"
        assert seen
