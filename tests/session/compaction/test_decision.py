"""Decisions at their edges: what a prompt may begin with, what counts as sent, old plans."""

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, ModelFailed, NothingToDo, RevisionConflict
from sidecar.core.parts import JsonObject
from sidecar.core.policies import policies
from sidecar.model.messages.encode import encode
from sidecar.session.compaction.decision import Decision
from sidecar.session.compaction.planner import BY_HAND
from sidecar.session.interface import PromptRequest
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import EpochChanged, ToolChanged
from tests.fakes.scripted_model import Hold, call, says, started, stop, text, thought
from tests.fakes.validation import refusal
from tests.session import inside
from tests.session.conftest import Desk
from tests.session.work import Worker, looked

AUTOMATIC = sorted(policies().keys() - {"manual"})
NETWORK = ModelFailed("gone", kind="network")
PNG = base64.b64encode(
    bytes.fromhex("89504e470d0a1a0a0000000d4948445200000064000000640806000000")
).decode()


async def compact(worker: Worker, strategy: str | None = None) -> dict[str, object]:
    done: dict[str, object] = await worker.session.rewriting.compact(strategy, None, dry_run=False)
    return done


async def next_refused(worker: Worker) -> str | None:
    """Why a provider would refuse the next prompt, if it would."""
    preview = await worker.session.rewriting.preview(({"type": "text", "text": "go on"},))
    return refusal(preview.body)


def planned(session: Session) -> Decision:
    decisions = inside.decisions(session)
    scene = decisions.planner.scene(BY_HAND, inside.static(session))
    return decisions.by_hand(scene, "economic")


async def test_no_prompt_begins_with_an_answer(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(1, 5)
    closing = desk.messages(worker.session)[-1].parts[1]
    await worker.session.rewriting.pin(closing.id, pinned=True)
    strategies = iter(["", "claude-code", ""])
    made: list[object] = []

    async def compacting(given: Any) -> str:
        if strategy := next(strategies):
            made.append((await compact(worker, strategy))["compactionId"])
        return looked(given)

    desk.editor.tools["look"] = compacting
    pondered = [started(), *thought("Let me think. " * 200), *call("c", "look", {"path": "src/z"})]
    desk.script(worker.step(), worker.step(), [*pondered, stop("tool_use")], says("Done."))
    await desk.ask(worker.session, "Look at the next files.")
    assert made == ["cmp_1"], made
    for body in (encode(request) for request in desk.model.requests[-2:]):
        messages: Any = body["messages"]
        assert refusal(body) is None
        assert "Look at the next files." in json.dumps(messages[0])
        assert "cmp_1" in json.dumps(messages)
        assert "That is all of them." in json.dumps(messages)


def long(given: Any) -> str:
    """A result that is too long for some policies."""
    return looked(given) * 3


async def test_what_a_failed_request_carried_counts_as_sent(desk: Desk) -> None:
    desk.editor.tools["look"] = long
    worker = await desk.worker(policy="manual")
    await worker.turns(1, 3)
    desk.script(worker.step(), [started(), *thought("half", "half"), *text("an", 1), NETWORK])
    assert (await desk.ask(worker.session, "more")).stop_reason == "error"
    told = len(desk.of(EpochChanged))
    await worker.session.set_option("policy", "open-interpreter")
    await worker.turns(1, 3)
    made = inside.rewrites(worker.session)
    opened = [recorded for recorded in made if recorded.opens]
    assert made
    assert len(desk.of(EpochChanged)) - told == len(opened)
    assert opened


async def test_what_the_user_asks_for_is_always_told(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(1, 3)
    made: list[object] = []

    async def compacting(given: Any) -> str:
        if given["path"] == "a":
            return long(given)
        await desk.until(lambda: any(e.status == "completed" for e in desk.of(ToolChanged)))
        made.append((await compact(worker, "open-interpreter"))["compactionId"])
        return looked(given)

    desk.editor.tools["look"] = compacting
    desk.events.clear()
    both = [*call("c1", "look", {"path": "a"}, 1), *call("c2", "look", {"path": "b"}, 2)]
    desk.script([started(), *both, stop("tool_use")], says("Done."))
    assert (await desk.ask(worker.session, "more")).stop_reason == "end_turn"
    told = [(e.compaction_id, e.cause, e.status) for e in desk.of(EpochChanged)]
    assert told == [(made[0], "user", "completed")]


@pytest.mark.parametrize("policy", AUTOMATIC)
async def test_small_sessions_stay_legal_or_as_they_are(desk: Desk, policy: str) -> None:
    worker = await desk.worker(policy="manual", window=12_000, max_tokens=4_000)
    with pytest.raises(NothingToDo):
        await compact(worker, policy)
    desk.script([NETWORK])
    await desk.ask(worker.session, "fails at once")
    for _ in range(4):
        revision = worker.session.opened().revision
        try:
            await compact(worker, policy)
        except NothingToDo:
            assert worker.session.opened().revision == revision
        assert await next_refused(worker) is None
        await worker.turn(2)


@pytest.mark.parametrize("policy", AUTOMATIC)
async def test_images_and_cut_calls_stay_legal(desk: Desk, policy: str) -> None:
    worker = await desk.worker(policy="manual")
    image: JsonObject = {"type": "image", "mimeType": "image/png", "data": PNG}
    desk.script(worker.step(), says("nice"))
    await worker.session.prompt(PromptRequest(({"type": "text", "text": "look"}, image)))
    hold = Hold()
    desk.script(worker.step(), worker.step(hold=hold))
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        asked = group.create_task(desk.ask(worker.session, "to be cancelled"))
        await hold.reached.wait()
        worker.session.prompts.cancel()
    assert asked.result().stop_reason == "cancelled"
    desk.model.responses.clear()
    await worker.session.set_option("model", "other")
    await worker.turns(2, 6)
    try:
        done = await compact(worker, policy)
    except NothingToDo:
        pytest.skip("this policy has nothing to do here")
    await worker.turns(1, 2)
    await worker.session.rewriting.undo(done["compactionId"])
    await worker.turns(1, 2)


async def test_a_plan_for_a_revision_that_has_moved_on_is_refused(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    session = worker.session
    old, commits = planned(session), inside.commits(session)
    await session.set_option("effort", "low")
    told: list[EpochChanged | None] = []
    with pytest.raises(RevisionConflict) as refused:
        await commits.carry_out(old, told.append)
    assert refused.value.data["revision"] == inside.row(session).revision
    shown = inside.model_view(session).rendering.shown.shown
    assert (told, inside.rewrites(session), shown) == ([], (), {})
    fresh = planned(session)
    assert replace(fresh.plan, revision=0) == replace(old.plan, revision=0)
    await commits.carry_out(fresh, told.append)
    assert len(told) == 1


async def test_an_unknown_strategy_is_named_with_those_there_are(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    for dry_run in (True, False):
        with pytest.raises(BadRequest) as refused:
            await worker.session.rewriting.compact("best", None, dry_run=dry_run)
        assert refused.value.data["path"] == "params.strategy"
        assert "economic" in refused.value.message
