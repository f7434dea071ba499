"""The last rung: what goes and what stays when the provider refuses a prompt's length."""

import base64
import json
from typing import Any

import pytest

from sidecar.core.engine.emergency import drop_oldest
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import ToolPart
from sidecar.core.prompt.tokens import tokens_of
from sidecar.session.interface import PromptRequest
from sidecar.session.log.events import EpochChanged
from tests.core.policies.situations import situation
from tests.fakes.scripted_model import says
from tests.session.conftest import Desk
from tests.session.work import Worker

TOO_LONG = ModelFailed("too long", kind="context_overflow", status=400)
PNG = base64.b64encode(
    bytes.fromhex("89504e470d0a1a0a0000000d49484452000004000000040008060000007f")
).decode()


async def helpless(desk: Desk) -> Worker:
    """A session whose policy has no answer to a prompt that is too long."""
    return await desk.worker(policy="open-interpreter")


async def refused_once(desk: Desk, worker: Worker) -> str:
    """Have the next prompt's length refused once; gives the request that was sent then."""
    desk.script([TOO_LONG], says("fits"))
    result = await desk.ask(worker.session, "one more")
    assert result.stop_reason == "end_turn", result.error
    return json.dumps(desk.model.body(desk.model.requests[-1]))


async def test_the_oldest_half_of_the_turns_goes(desk: Desk) -> None:
    worker = await helpless(desk)
    for number in range(6):
        await worker.turn(2, f"Typed {number}.")
    sent = await refused_once(desk, worker)
    shown = [f"Typed {number}." in sent for number in range(6)]
    assert all(shown), "what the user asked for is told word for word"
    assert ["src/file_6.py" in sent, "src/file_7.py" in sent] == [False, True]
    [change] = desk.of(EpochChanged)
    assert (change.cause, change.status) == ("overflow", "completed")
    assert f'recall {{\\"id\\": \\"{change.compaction_id}\\"}}' in sent
    listed = await worker.session.recall(change.compaction_id, 0, None, "Typed")
    assert [line.partition(":1:")[2] for line in listed.content.splitlines()] == [
        "Typed 1.",
        "Typed 2.",
    ]
    await worker.session.rewriting.undo(change.compaction_id)
    again = json.dumps((await worker.session.rewriting.preview(())).body)
    assert all(f"Typed {number}." in again for number in range(6))


def test_what_failed_in_the_half_that_goes_is_told_by_its_note() -> None:
    steps = "C900!:bash(make) A9; U10 C900:bash(ls) A9; U10 C900; A9; U10 C900; C9; C9"
    plan = drop_oldest(situation(f"U10 {steps}", overflow=True))
    assert plan is not None
    assert "- bash make → " in plan.note
    assert plan.note_tokens == tokens_of(plan.note)
    freed = sum(change.tokens_before - change.tokens_after for change in plan.changes)
    assert plan.tokens_after == plan.tokens_before - freed + plan.note_tokens


def test_the_last_rung_frees_room_however_much_has_failed() -> None:
    steps = " ".join(f"C60!:bash(command-number-{number});" for number in range(900))
    given = situation(f"U10 {steps} U10 C9; C9; C9", overflow=True, window=64_000)
    plan = drop_oldest(given)
    assert plan is not None
    assert plan.note_tokens < 64_000 // 7
    assert "command-number-899 " in plan.note


async def test_one_long_turn_loses_its_oldest_steps(desk: Desk) -> None:
    worker = await helpless(desk)
    desk.script(*(worker.step() for _ in range(8)), [TOO_LONG], says("fits"))
    result = await desk.ask(worker.session, "Do it all.")
    assert result.stop_reason == "end_turn", result.error
    sent = json.dumps(desk.model.body(desk.model.requests[-1]))
    assert "Do it all." in sent
    found = [f"marker_file_{number}\\n" in sent for number in range(1, 9)]
    assert found[:3] == [False] * 3
    assert found[-2:] == [True] * 2


async def test_pinned_parts_stay_and_pictures_stay_named(desk: Desk) -> None:
    worker = await helpless(desk)
    await worker.turn(2)
    image: Any = {"type": "image", "mimeType": "image/png", "data": PNG}
    document: Any = {
        "type": "resource",
        "resource": {"uri": "file:///plan.pdf", "blob": PNG, "mimeType": "application/pdf"},
    }
    words: Any = {"type": "text", "text": "see these"}
    desk.script(worker.step(), says("nice"))
    await worker.session.prompt(PromptRequest((words, image, document)))
    for _ in range(4):
        await worker.turn(2)
    calls = [p for m in desk.messages(worker.session) for p in m.parts if isinstance(p, ToolPart)]
    await worker.session.rewriting.pin(calls[1].id, pinned=True)
    sent = await refused_once(desk, worker)
    assert [f'"{call.call_id}"' in sent for call in calls[:3]] == [False, True, False]
    assert PNG not in sent
    assert "[image/png, left out]()" in sent
    assert "[application/pdf, left out](file:///plan.pdf)" in sent
    await worker.turns(1, 2)


async def test_what_has_nothing_to_drop_ends_the_turn(desk: Desk) -> None:
    worker = await helpless(desk)
    desk.script([TOO_LONG])
    result = await desk.ask(worker.session, "short")
    assert (result.stop_reason, len(desk.model.requests)) == ("error", 1)
    assert not desk.of(EpochChanged)


@pytest.mark.parametrize("refusals", [2, 5])
async def test_it_does_not_go_on_for_ever(desk: Desk, refusals: int) -> None:
    worker = await helpless(desk)
    for _ in range(6):
        await worker.turn(2)
    sent = len(desk.model.requests)
    desk.script(*([TOO_LONG] for _ in range(refusals)))
    result = await desk.ask(worker.session, "one more")
    assert result.error is not None
    assert (result.stop_reason, result.error["kind"]) == ("error", "context_overflow")
    assert len(desk.model.requests) == sent + 2
    assert len(desk.of(EpochChanged)) == 1
    desk.model.responses.clear()
    await worker.turns(1, 2)


async def test_what_has_just_come_is_cut_where_nothing_older_can_go(desk: Desk) -> None:
    worker = await desk.worker(policy="dyad", window=64_000)
    desk.editor.tools["look"] = lambda given: "\n".join(
        f"{given['path']} line {number}" for number in range(1900)
    )
    desk.script(worker.step(), [TOO_LONG], says("fits"))
    result = await desk.ask(worker.session, "Look at the large one.")
    assert result.stop_reason == "end_turn", result.error
    refused, sent = (json.dumps(desk.model.body(r)) for r in desk.model.requests[-2:])
    assert "Look at the large one." in sent
    assert "src/file_1.py line 0" in sent
    assert "src/file_1.py line 1899" in sent
    assert len(sent) < len(refused)
    [whole] = [p for m in desk.messages(worker.session) for p in m.parts if isinstance(p, ToolPart)]
    recalled = await worker.session.recall(whole.id, 0, None, "line 1250")
    assert "src/file_1.py line 1250" in recalled.content
