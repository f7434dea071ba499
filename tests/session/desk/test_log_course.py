"""What the report says of each request is what was sent, and what it says of now is the meter."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from time import process_time

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.prompt.budget import REGIONS, spread
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.tokens import count_block, count_tool
from sidecar.observe.report.course import Course
from sidecar.observe.report.spending import running
from sidecar.session.desk.log_course import read_course
from sidecar.session.desk.session_named import find
from sidecar.session.desk.store_look import ReadAccess, look
from sidecar.session.interface import Wish
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.work import Worker

SYSTEM = "Work with care. " * 600
LONG = 2_000
MOST_SECONDS = 30.0
"""Of a processor: it takes a few; in the square of its length, many minutes."""
KEY = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 4


def same(text: str) -> str:
    return text


def weighed(request: ModelRequest) -> Counter[str]:
    """Estimate a request that was really sent, by region."""

    def count(text: str) -> int:
        return len(text) // 4

    prompt, sums = request.prompt, Counter[str]()
    sums["tools"] = sum(count_tool(tool, count) for tool in prompt.tools)
    for block in (*prompt.system, *(b for m in prompt.messages for b in m.blocks)):
        sums[block.region] += count_block(block, count)
    return sums


def by_hand(course: Course) -> tuple[Decimal, Decimal]:
    """Add up what was paid and what it had been uncached, at claude-sonnet-4-6's prices: USD."""
    own = [one.spent for one in course.requests if one.spent is not None and one.spent.own]
    usages = [spent.usage for spent in (*own, *(aside.spent for aside in course.asides))]
    cents = fresh = Decimal(0)
    for usage in usages:
        written = usage.cache_write_5m * 375 + usage.cache_write_1h * 600
        cents += usage.input * 300 + usage.cache_read * 30 + written + usage.output * 1500
        sent = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h
        fresh += sent * 300 + usage.output * 1500
    return cents / 100_000_000, fresh / 100_000_000


def check(worker: Worker) -> Course:
    """Hold a course against what the model was sent, the meter and the log."""
    course = read_course(inside.state(worker.session), same)
    sent = worker.desk.model.requests
    assert len(course.requests) == len(sent)
    for one, request in zip(course.requests, sent, strict=True):
        assert one.spent is not None
        expected = spread(weighed(request), one.spent.usage.prompt)
        assert dict(zip(REGIONS, one.regions, strict=True)) == expected, one.number
        assert one.held == one.spent.usage.prompt
    meter = inside.gauge(worker.session).read()
    assert (course.meter, sum(course.now)) == (meter, meter.used)
    assert sum(piece.tokens for piece in course.pieces) == meter.used
    assert running(course)[0][-1] == Decimal(meter.cost.session or "nothing")
    paid, fresh = running(course)
    assert (paid[-1], fresh[-1]) == by_hand(course)
    results = sum(tool.in_view for tool in course.tools)
    assert results == meter.regions["toolResults"]
    return course


async def worked(desk: Desk) -> Worker:
    worker = await desk.worker(policy="manual", system=SYSTEM)
    await worker.turns(3, 4)
    return worker


async def test_each_request_is_measured_as_it_was_sent_through_rewrites_and_undoing(
    desk: Desk, world: World
) -> None:
    world.moves_prefix = True
    worker = await worked(desk)
    session = worker.session
    done = await session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(2, 3)
    await session.rewriting.compact("opencode", None, dry_run=False)
    await worker.turns(2, 3)
    await session.rewriting.undo(str(done["compactionId"]))
    await worker.turns(1, 3)
    course = check(worker)
    assert [change.kind for change in course.changes] == ["rewrite", "rewrite", "undo"]
    assert [change.undone for change in course.changes] == [True, False, False]
    assert [change.after for change in course.changes] == [15, 23, 31]
    assert [aside.purpose for aside in course.asides] == ["summary"]
    first = course.changes[0]
    assert first.before == done["tokensBefore"]
    assert first.afterwards == done["tokensAfter"]
    # A restart tells the same.
    around = inside.environment(session)
    access = ReadAccess(around.store, around.models, around.settings, around.clock)
    stored = await look(access, session.id, same)
    assert stored.requests == course.requests
    assert stored.changes == course.changes
    assert stored.meter.regions == course.meter.regions
    # Who asks for no sizes by region is told all else.
    unsized = await look(access, session.id, same, sized=False)
    assert unsized.requests == tuple(replace(one, regions=()) for one in stored.requests)
    assert replace(unsized, requests=stored.requests) == stored


async def test_a_request_without_usage_is_estimated_though_no_regions_are_asked_for(
    desk: Desk,
) -> None:
    worker = await worked(desk)
    state = inside.state(worker.session)
    answer = next(m for m in state.log.messages if m.role == "assistant")
    bare = [part for part in answer.parts if not isinstance(part, StepFinishPart)]
    state.log.by_id[answer.id] = replace(answer, parts=tuple(bare))
    sized, unsized = read_course(state, same), read_course(state, same, sized=False)
    assert sized.requests[0].spent is None
    assert unsized.requests[0].held == sized.requests[0].held > 0
    assert unsized.requests == tuple(replace(one, regions=()) for one in sized.requests)


async def test_a_result_that_the_daemon_counted_is_not_counted_again(desk: Desk) -> None:
    worker = await worked(desk)
    session, around = worker.session, inside.environment(worker.session)
    await session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(1, 3)
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return around.models.count(text)

    models = replace(around.models, count=count)
    access = ReadAccess(around.store, models, around.settings, around.clock)
    stored = await look(access, session.id, same)
    assert stored.tools == check(worker).tools
    results = [p.state.output.text for p in inside.parts(session, ToolPart) if _done(p)]  # type: ignore[union-attr]
    assert len(results) == 15
    assert not {*results} & {*counted}


def _done(part: ToolPart) -> bool:
    return isinstance(part.state, ToolCompleted)


async def test_what_the_conversation_left_behind_is_in_no_later_request(
    desk: Desk, world: World
) -> None:
    world.moves_prefix = True
    worker = await worked(desk)
    last = worker.results[-1].message_id
    await worker.session.rollback.restore(Wish("conversation", before_message_id=last))
    await worker.turns(1, 2)
    course = check(worker)
    assert [turn.stands for turn in course.turns] == [True, True, False, True]
    assert sum(not request.stands for request in course.requests) == 5
    assert [change.kind for change in course.changes] == ["restore"]
    assert [(c.kind, c.stands) for c in course.checkpoints] == [
        ("turn", True),
        ("turn", True),
        ("turn", False),
        ("restore", False),
        ("turn", True),
    ]


async def test_another_model_begins_an_epoch_and_reads_no_foreign_thinking(
    desk: Desk, world: World
) -> None:
    world.moves_prefix = True
    worker = await worked(desk)
    await worker.session.set_option("model", "other")
    await worker.turns(2, 2)
    course = check(worker)
    assert [(change.kind, change.cause) for change in course.changes] == [("model", "model")]
    reasoning = REGIONS.index("reasoning")
    assert course.requests[14].regions[reasoning] > 0
    assert course.requests[15].regions[reasoning] == 0


async def test_a_fork_does_not_pay_for_what_it_began_with(desk: Desk, world: World) -> None:
    world.moves_prefix = True
    parent = await worked(desk)
    opened = await desk.sessions.fork(parent.session.id, None, desk.editor, desk.watch)
    worker = Worker(desk, await desk.sessions.get(opened.session_id), done=parent.done)
    await worker.turns(1, 2)
    course = check(worker)
    assert course.about.parent == parent.session.id
    own = [one.spent.own for one in course.requests if one.spent is not None]
    assert own == [False] * 15 + [True] * 3
    assert running(course)[0][15] == 0


async def test_turns_are_summed_up(desk: Desk) -> None:
    worker = await worked(desk)
    course = check(worker)
    assert [(turn.requests, turn.calls, turn.stop) for turn in course.turns] == [
        (5, 4, "end_turn")
    ] * 3
    assert [turn.held for turn in course.turns][-1] == course.meter.used
    assert course.turns[0].title == "Look at the next files."
    [tool] = course.tools
    assert (tool.name, tool.calls, tool.failed, tool.cut) == ("look", 12, 0, 0)
    assert sum(turn.cost or 0 for turn in course.turns) == Decimal(course.meter.cost.session or "")
    assert dict(course.messages) == {"assistant complete": 15, "user complete": 3}


async def test_a_key_is_taken_out_before_a_text_is_cut(desk: Desk) -> None:
    def clean(text: str) -> str:
        return text.replace(KEY, "[redacted]")

    worker = await desk.worker(policy="manual")
    desk.editor.tools["look"] = lambda given: f"{'x' * 40} {KEY} {'y' * 100}"
    await worker.turn(2, f"{'word ' * 12}{KEY}")
    course = read_course(inside.state(worker.session), clean)
    assert "sk-ant" not in repr(course)
    assert "[redacted]" in course.turns[0].title
    assert "sk-ant" in repr(read_course(inside.state(worker.session), same))


async def test_a_turn_is_named_as_its_session_is_with_no_letter_split(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turn(1, f"{'word ' * 15}xy \N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL} {'z' * 20}")
    course = read_course(inside.state(worker.session), same)
    assert course.turns[0].title == inside.row(worker.session).title


@pytest.mark.parametrize("name", ["ses_", "", "nothing"])
async def test_a_session_is_found_by_the_beginning_of_its_id(desk: Desk, name: str) -> None:
    one, two = await desk.open(), await desk.open()
    store = desk.store
    assert await find(store.sessions, one.id, None) == one.id
    assert await find(store.sessions, two.id, None) == two.id
    assert await find(store.sessions, two.id.removeprefix("ses_"), None) == two.id
    assert await find(store.sessions, None, None) == two.id
    assert await find(store.sessions, None, desk.workspace) == two.id
    with pytest.raises(BadRequest) as error:
        await find(store.sessions, name, None)
    several = name != "nothing"
    assert ("Several sessions" in error.value.message) == several
    assert (one.id in error.value.message) == several
    with pytest.raises(BadRequest, match=r"There is no session in .*`sidecar sessions`"):
        await find(store.sessions, None, desk.workspace / "elsewhere")


@pytest.mark.parametrize("turns", [LONG // 10, pytest.param(LONG, marks=pytest.mark.long)])
async def test_a_long_session_is_read_in_seconds(desk: Desk, turns: int) -> None:
    session = await desk.open(system=SYSTEM)
    log = inside.log(session)
    for n in range(turns):
        turn = TurnId(f"turn_{n}")
        asked = TextPart(PartId(f"asked {n}"), "Look at the next files.", "typed")
        log.writer.put(Message(MessageId(f"user {n}"), turn, "user", (asked,), desk.world.now()))
        for step in range(3):
            done = ToolCompleted(Output(f"{n} {step} " * 40), 1, 2)
            parts = (
                ToolPart(PartId(f"call {n} {step}"), f"call{n}-{step}", "look", {}, done),
                StepFinishPart(PartId(f"end {n} {step}"), "tool_use", Usage(900 + n), "0.01"),
            )
            name, now = MessageId(f"step {n} {step}"), desk.world.now()
            log.writer.put(Message(name, turn, "assistant", parts, now, "complete", "scripted"))
    began = process_time()
    course = read_course(inside.state(session), same)
    assert process_time() - began < MOST_SECONDS
    assert (len(course.turns), len(course.requests)) == (turns, 3 * turns)
    assert [one.held for one in course.requests[::3]] == [900 + n for n in range(turns)]
