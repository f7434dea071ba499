"""The turn loop."""

import asyncio
from typing import Any

import pytest

from sidecar.core.conversation.stream import AttemptFailed, BlockFinished, BlockStarted
from sidecar.core.errors import BadRequest, ModelFailed, Overloaded, RevisionConflict
from sidecar.core.parts import ReasoningPart, TextPart, ToolCompleted, ToolError, ToolPart
from sidecar.core.prompt.prompt import ToolSpec, broken_pairs, flat
from sidecar.session.log.events import EpochChanged, Notice, Retrying, TextChunk, ToolChanged
from sidecar.session.turn.turn import MOST_PAUSES
from tests.core.prompts import calls as called
from tests.core.prompts import results, texts
from tests.fakes.scripted_model import Hold, call, calls, says, started, stop, text, thought
from tests.session.conftest import Desk, World, prompt_of

TOOLS = tuple(ToolSpec(n, n, {"type": "object"}, "read", origin="client") for n in ("one", "two"))


def words(desk: Desk, speaker: str) -> str:
    return "".join(e.text for e in desk.of(TextChunk) if e.speaker == speaker)


async def test_text_thinking_and_calls_are_parts_of_their_own(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["one"] = lambda given: "first"
    desk.script(
        [
            started(),
            *thought("let me see", "signed"),
            *text("I will look", 1),
            *call("c1", "one", {"file-path": [1], "jsonrpc": None}, 2),
            stop("tool_use"),
        ],
        says("done"),
    )
    result = await desk.ask(session)
    assert result.stop_reason == "end_turn"
    assert result.usage.requests == 2
    assert (words(desk, "thought"), words(desk, "agent")) == ("let me see", "I will lookdone")
    parts = desk.messages(session)[1].parts
    assert [type(p).__name__ for p in parts] == [
        "StepStartPart",
        "ReasoningPart",
        "TextPart",
        "ToolPart",
        "StepFinishPart",
    ]
    assert parts[1] == ReasoningPart(parts[1].id, "let me see", {"signature": "signed"})
    assert desk.editor.called == [("one", {"file-path": [1], "jsonrpc": None})]
    sent = flat(desk.prompts()[1])
    assert [b.region for b in sent] == [
        "user",
        "context",
        "reasoning",
        "assistant",
        "assistant",
        "toolResults",
    ]


async def test_parallel_calls_run_together_and_answer_in_order(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    both = asyncio.Barrier(2)

    async def meet(given: object) -> str:
        await both.wait()
        return f"met {given}"

    desk.editor.tools.update(one=meet, two=meet)
    desk.script(calls(("b", "two", {"n": 2}), ("a", "one", {"n": 1})), says("done"))
    await desk.ask(session)
    assert [(r.call_id, r.text) for r in results(desk.prompts()[1])] == [
        ("b", "met {'n': 2}"),
        ("a", "met {'n': 1}"),
    ]


async def test_a_retry_withdraws_what_had_streamed(desk: Desk) -> None:
    session = await desk.open()
    failed = AttemptFailed(1, 3, 500, "dropped", "network")
    desk.script([started(), *text("half"), failed, started(), *text("whole"), stop()], says("b"))
    result = await desk.ask(session)
    (retrying,) = desk.of(Retrying)
    streamed = [e.origin.part_id for e in desk.of(TextChunk) if e.text == "half"]
    assert list(retrying.discard) == streamed
    assert result.stop_reason == "end_turn"
    await desk.ask(session, "more")
    sent = texts(desk.prompts()[1])
    assert "whole" in sent
    assert "half" not in sent
    kept = [m.status for m in desk.messages(session)]
    assert kept == ["complete", "discarded", "complete", "complete", "complete"]


async def test_a_failed_turn_keeps_its_place(desk: Desk) -> None:
    session = await desk.open()
    broken = ModelFailed("overloaded; later", kind="overloaded", status=529, retryable=True)
    desk.script([broken], [started(), *text("some"), broken], says("fine"))
    result = await desk.ask(session, "first")
    assert result.stop_reason == "error"
    assert result.error == {
        "kind": "overloaded",
        "message": "overloaded; later",
        "retryable": True,
        "status": 529,
    }
    await desk.ask(session, "second")
    await desk.ask(session, "third")
    sent = texts(desk.prompts()[2])
    assert [s for s in sent if not s.startswith("<context>")] == [
        "first",
        "second",
        "some",
        "third",
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("max_tokens", "max_tokens"), ("refusal", "refusal"), ("stop_sequence", "end_turn")],
)
async def test_a_turn_ends_for_the_reason_that_the_model_stopped(
    desk: Desk, reason: str, expected: str
) -> None:
    session = await desk.open(tools=TOOLS)
    desk.script([started(), *text("x"), *call("c", "one", {}), stop(reason)])
    if reason == "stop_sequence":
        desk.model.responses[0] = [started(), *text("x"), stop(reason)]
    result = await desk.ask(session)
    assert result.stop_reason == expected
    assert desk.editor.called == []


async def test_steps_are_bounded(world: World) -> None:
    object.__setattr__(world.config, "max_steps", 2)
    async with world.daemon() as desk:
        session = await desk.open(tools=TOOLS)
        desk.editor.tools["one"] = str
        desk.script(calls(("a", "one", 1)), calls(("b", "one", 2)))
        assert (await desk.ask(session)).stop_reason == "max_turn_requests"


async def test_bad_calls_are_answered_to_the_model(desk: Desk) -> None:
    session = await desk.open()
    desk.script(calls(("a", "nothing", {}), ("a", "read_file", {"pat": 1})), says("sorry"))
    await desk.ask(session)
    first, second = results(desk.prompts()[1])
    assert first.is_error
    assert second.is_error
    assert "There is no tool named nothing" in first.text
    assert first.call_id != second.call_id


async def test_loops_are_asked_about(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["one"] = lambda given: "same"
    desk.editor.permission = "stop"
    desk.script(*(calls((f"c{n}", "one", {"a": 1})) for n in range(3)))
    assert (await desk.ask(session)).stop_reason == "blocked"
    assert len(desk.editor.asked) == 1
    desk.editor.permission = "always"
    desk.script(*(calls((f"d{n}", "one", {"a": 1})) for n in range(7)), says("enough"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert len(desk.editor.asked) == 2


async def test_the_same_call_with_another_result_is_no_loop(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    results = iter("abcd")
    desk.editor.tools["one"] = lambda given: next(results)
    desk.script(*(calls((f"c{n}", "one", {"a": 1})) for n in range(4)), says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert desk.editor.asked == []


async def test_a_time_in_a_result_hides_no_loop(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    ticks = iter(range(9))
    desk.editor.tools["one"] = lambda given: f"1 failed in {next(ticks)}.{next(ticks)}2s"
    desk.editor.permission = "stop"
    desk.script(*(calls((f"c{n}", "one", {"a": 1})) for n in range(3)))
    assert (await desk.ask(session)).stop_reason == "blocked"
    assert len(desk.editor.asked) == 1


async def test_pauses_of_the_provider_have_an_end(desk: Desk) -> None:
    session = await desk.open()
    work = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    pause = [started(), BlockStarted(0, "opaque", block=work), BlockFinished(0), stop("pause_turn")]
    desk.script(*[pause] * 20)
    assert (await desk.ask(session)).stop_reason == "max_turn_requests"
    assert len(desk.prompts()) == MOST_PAUSES
    assert any("paused its answer 8 times" in notice.text for notice in desk.of(Notice))


async def test_a_pause_without_a_block_that_can_be_sent_back_ends_the_turn(desk: Desk) -> None:
    session = await desk.open()
    pause = [started(), BlockStarted(0, "opaque", block={}), BlockFinished(0), stop("pause_turn")]
    desk.script([*says("So far.")[:-1], *pause[1:]], says("And on."))
    await desk.ask(session)
    assert len(desk.prompts()) == 1


@pytest.mark.parametrize(
    ("answer", "stop_reason", "failure"),
    [("reject_once", "blocked", "denied"), (None, "cancelled", "cancelled")],
)
async def test_a_refusal_ends_the_turn(
    desk: Desk, answer: str | None, stop_reason: str, failure: str
) -> None:
    session = await desk.open()
    desk.editor.permission = answer
    desk.script(calls(("a", "shell", {"command": "touch made"})), says("ok"))
    assert (await desk.ask(session)).stop_reason == stop_reason
    assert not (desk.workspace / "made").exists()
    (tool,) = [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]
    assert isinstance(tool.state, ToolError)
    assert tool.state.failure == failure
    await desk.ask(session)


async def test_always_is_remembered(desk: Desk) -> None:
    session = await desk.open()
    desk.editor.permission = "allow_always"
    desk.script(
        calls(("a", "shell", {"command": "true"})), calls(("b", "shell", {"command": "true"}))
    )
    desk.script(says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert len(desk.editor.asked) == 1


async def test_prompts_wait_in_line_and_are_bounded(desk: Desk) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([started(), hold, *text("0"), stop()], *(says(str(n)) for n in range(1, 17)))
    running = [asyncio.ensure_future(session.prompt(prompt_of(f"q{n}"))) for n in range(17)]
    async with asyncio.timeout(10):
        await hold.reached.wait()
        with pytest.raises(Overloaded):
            await session.prompt(prompt_of("one too many"))
        hold.released.set()
        results = await asyncio.gather(*running)
    assert len({r.turn_id for r in results}) == 17
    typed = [
        p.text
        for m in desk.messages(session)
        if m.role == "user"
        for p in m.parts
        if isinstance(p, TextPart) and p.source == "typed"
    ]
    assert typed == [f"q{n}" for n in range(17)]


async def test_steering_joins_the_running_turn(desk: Desk) -> None:
    session = await desk.open()
    hold = Hold()
    desk.script([started(), hold, *text("first"), stop()], says("second"))
    running = asyncio.ensure_future(session.prompt(prompt_of("go")))
    async with asyncio.timeout(10):
        await hold.reached.wait()
        steered = asyncio.ensure_future(session.prompt(prompt_of("also this", steer=True)))
        await asyncio.sleep(0)
        hold.released.set()
        first, second = await running, await steered
    assert first.turn_id == second.turn_id
    assert first.usage.requests == 2
    sent = texts(desk.prompts()[1])
    assert sent[-2:] == ["first", "also this"]


async def test_expected_revision_and_empty_prompts(desk: Desk) -> None:
    session = await desk.open()
    with pytest.raises(RevisionConflict):
        await desk.ask(session, expected_revision=99)
    with pytest.raises(BadRequest):
        await desk.ask(session, "  ")
    with pytest.raises(BadRequest, match="tokens"):
        await desk.ask(session, "x" * 9_000_000)
    assert desk.messages(session) == ()


@pytest.mark.moves_prefix("another model has a prefix of its own")
async def test_another_model_begins_an_epoch_told_once(desk: Desk) -> None:
    session = await desk.open()
    await session.set_option("model", "other")
    assert desk.of(EpochChanged) == []
    await session.set_option("model", "scripted")
    desk.script([started(), *thought("hm", "sig"), *text("hi", 1), stop()], says("b"))
    await desk.ask(session)
    await session.set_option("model", "other")
    (changed,) = desk.of(EpochChanged)
    assert (changed.status, changed.cause) == ("completed", "model")
    await desk.ask(session)
    assert len(desk.of(EpochChanged)) == 1
    assert "reasoning" not in [b.region for b in flat(desk.prompts()[1])]


async def test_tool_output_is_cut_and_recalled(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    whole = "".join(f"line {n}\n" for n in range(30_000))
    desk.editor.tools["one"] = lambda given: whole
    desk.script(calls(("a", "one", {})), says("done"))
    await desk.ask(session)
    (tool,) = [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]
    assert isinstance(tool.state, ToolCompleted)
    assert len(tool.state.output.text) < 60_000
    assert tool.id in tool.state.output.text
    found = await session.recall(tool.id, 0, 20, None)
    assert (found.content, found.total_bytes, found.next_offset) == (
        whole[:20],
        len(whole.encode()),
        20,
    )
    matches = await session.recall(tool.id, 0, None, "line 2999[89]$")
    assert matches.content.splitlines() == ["29999:line 29998", "30000:line 29999"]


async def test_recall_refuses_what_it_cannot_use(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("a" * 60 + "b"))
    await desk.ask(session)
    part = desk.of(TextChunk)[-1].origin.part_id
    with pytest.raises(BadRequest, match="too long"):
        await session.recall(part, 0, None, r"^(a|a|aa)+$")
    with pytest.raises(BadRequest, match="regular expression"):
        await session.recall(part, 0, None, "(")
    with pytest.raises(BadRequest, match="nothing with the id"):
        await session.recall("part_none", 0, None, None)


async def test_completed_tools_are_durable_before_they_are_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["one"] = lambda given: "result"
    seen: list[bool] = []
    original = desk.store.write
    held: list[asyncio.Future[None]] = []

    def slow(*changes: Any, **given: Any) -> asyncio.Future[None]:
        written = original(*changes, **given)
        held.append(written)
        return written

    monkeypatch.setattr(desk.store, "write", slow)
    watch = desk.watch

    def check(event: object) -> None:
        if isinstance(event, ToolChanged) and event.status == "completed":
            seen.append(held[-1].done())
        watch(event)  # type: ignore[arg-type]

    session.audience.attach(check, desk.editor)  # type: ignore[arg-type]
    desk.script(calls(("a", "one", {})), says("done"))
    await desk.ask(session)
    assert seen == [True]


async def test_a_message_that_is_more_than_the_window_is_refused_with_the_numbers(
    desk: Desk,
) -> None:
    session = await desk.open(window=20_000, max_tokens=4_000)
    revision = session.opened().revision
    with pytest.raises(BadRequest, match=r"alone is about \d+ tokens and .* room for 14\d{3}:"):
        await desk.ask(session, "a word " * 40_000)
    # Nothing of it was sent or logged, and the session goes on.
    assert desk.model.requests == []
    assert session.opened().revision == revision
    desk.script(says("Fine."))
    assert (await desk.ask(session, "a word")).stop_reason == "end_turn"


async def test_a_call_that_comes_with_an_id_from_before_gets_one_of_its_own(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["one"] = lambda given: "result"
    twice = calls(("c", "one", {"a": 1}), ("c", "one", {"a": 2}))
    desk.script(twice, calls(("c", "one", {"a": 3})), says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    prompt = desk.prompts()[-1]
    named = [call.call_id for call in called(prompt)]
    assert len(set(named)) == len(named) == 3
    assert broken_pairs(prompt) == ()
