"""Cancelling a turn at any point leaves a whole log, and the next prompt is valid."""

import asyncio
from collections.abc import Callable

import pytest

from sidecar.core.conversation.stream import BlockDelta, BlockStarted
from sidecar.core.conversation.turns import is_settled
from sidecar.core.parts import ToolError, ToolPart
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Notice
from sidecar.session.turn.tool_calls import UNANSWERED
from tests.fakes.scripted_model import Hold, Script, call, calls, says, started, stop, text
from tests.session.conftest import Desk, World, prompt_of

TOOLS = (ToolSpec("one", "one", {"type": "object"}, "read", origin="client"),)


async def cancelled(desk: Desk, session: Session, reached: asyncio.Event) -> str:
    running = asyncio.ensure_future(session.prompt(prompt_of("go")))
    async with asyncio.timeout(10):
        await reached.wait()
        session.prompts.cancel()
        session.prompts.cancel()
        result = await running
    assert all(is_settled(m) for m in desk.messages(session))
    desk.model.responses[:] = [says("after")]
    assert (await desk.ask(session, "next")).stop_reason == "end_turn"
    return result.stop_reason


def held(hold: Hold, before: int) -> Script:
    events = [
        started(),
        *text("some words"),
        *call("c", "one", {"long": "input"}),
        stop("tool_use"),
    ]
    return [*events[:before], hold, *events[before:]]


@pytest.mark.parametrize("before", range(1, 9))
async def test_a_turn_is_cancelled_while_its_answer_streams(desk: Desk, before: int) -> None:
    session = await desk.open(tools=TOOLS)
    hold = Hold()
    desk.script(held(hold, before))
    assert await cancelled(desk, session, hold.reached) == "cancelled"


async def test_a_turn_is_cancelled_before_the_model_answers(desk: Desk) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([hold, started()])
    assert await cancelled(desk, session, hold.reached) == "cancelled"


async def test_half_written_input_becomes_a_whole_pair(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    hold = Hold()
    desk.script([started(), BlockStarted(0, "tool", "c", "one"), BlockDelta(0, '{"a'), hold])
    await cancelled(desk, session, hold.reached)
    (tool,) = [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]
    assert isinstance(tool.state, ToolError)
    assert tool.state.failure == "cancelled"


async def while_a_tool_runs(desk: Desk) -> tuple[Session, asyncio.Event]:
    session = await desk.open(tools=TOOLS)
    reached = asyncio.Event()

    async def forever(given: object) -> str:
        reached.set()
        await asyncio.Event().wait()
        return "never"

    desk.editor.tools["one"] = forever
    desk.script(calls(("c", "one", {})))
    return session, reached


async def test_a_tool_of_the_editor_that_never_answers_is_told_once(
    desk: Desk, world: World
) -> None:
    session, reached = await while_a_tool_runs(desk)
    running = asyncio.ensure_future(session.prompt(prompt_of("go")))
    async with asyncio.timeout(10):
        await reached.wait()
    await world.let_pass(UNANSWERED * 1000 - 1000)
    assert desk.of(Notice) == []
    await world.let_pass(2000)
    await desk.until(lambda: bool(desk.of(Notice)))
    assert world.sleepers == [], "it would be told again"
    [told] = desk.of(Notice)
    assert told.text == (
        "The editor's tool one has not answered for 3 minutes. "
        "The turn waits for it; cancel the turn to go on without its answer."
    )
    session.prompts.cancel()
    async with asyncio.timeout(10):
        assert (await running).stop_reason == "cancelled"
    desk.script(says("after"))
    assert (await desk.ask(session, "next")).stop_reason == "end_turn"
    assert len(desk.of(Notice)) == 1


async def test_nobody_is_told_of_a_tool_that_answers(desk: Desk, world: World) -> None:
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["one"] = lambda given: "first"
    desk.script(calls(("c", "one", {})), says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert world.sleepers == [], "it would be told although it has answered"


async def while_asking(desk: Desk) -> tuple[Session, asyncio.Event]:
    session = await desk.open()
    reached = asyncio.Event()

    async def ask(*_: object) -> str:
        reached.set()
        await asyncio.Event().wait()
        return "never"

    desk.editor.request_permission = ask  # type: ignore[method-assign,assignment]
    desk.script(calls(("c", "shell", {"command": "true"})))
    return session, reached


async def while_a_command_runs(desk: Desk) -> tuple[Session, asyncio.Event]:
    session = await desk.open()
    desk.script(calls(("c", "shell", {"command": "echo up; sleep 100"})))
    reached = asyncio.Event()
    session.audience.attach(
        lambda event: reached.set() if "up" in str(getattr(event, "text", "")) else None,
        desk.editor,  # type: ignore[arg-type]
    )
    return session, reached


@pytest.mark.parametrize("when", [while_a_tool_runs, while_asking, while_a_command_runs])
async def test_while_a_call_is_under_way(desk: Desk, when: Callable) -> None:
    session, reached = await when(desk)
    assert await cancelled(desk, session, reached) == "cancelled"


async def test_at_once_and_in_line(desk: Desk) -> None:
    """A cancel that comes with the prompts: each keeps its message and ends as cancelled."""
    session = await desk.open()
    waiting = [asyncio.ensure_future(session.prompt(prompt_of(f"q{n}"))) for n in range(3)]
    await asyncio.sleep(0)
    session.prompts.cancel()
    async with asyncio.timeout(10):
        results = await asyncio.gather(*waiting)
    assert [r.stop_reason for r in results] == ["cancelled"] * 3
    assert desk.model.requests == []
    assert [m.role for m in desk.messages(session)] == ["user"] * 3
    desk.script(says("fine"))
    assert (await desk.ask(session)).stop_reason == "end_turn"


async def test_one_of_several_waiting_prompts_is_cancelled(desk: Desk) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([started(), hold, *text("a"), stop()], says("c"))
    tickets = [object() for _ in range(3)]
    waiting = [
        asyncio.ensure_future(session.prompt(prompt_of(f"q{n}", ticket=t)))
        for n, t in enumerate(tickets)
    ]
    async with asyncio.timeout(10):
        await hold.reached.wait()
        session.prompts.cancel_prompt(tickets[1])
        hold.released.set()
        results = await asyncio.gather(*waiting)
    assert [r.stop_reason for r in results] == ["end_turn", "cancelled", "end_turn"]
