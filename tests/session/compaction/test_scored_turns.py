"""Turns scored by a model in a real session: what its answer does to the next prompt."""

import asyncio
import json
from typing import Any

import pytest

from sidecar.core.prompt.prompt import flat
from tests.fakes.scripted_model import says
from tests.fakes.validation import refusal
from tests.session import inside
from tests.session.conftest import LIMIT, Desk
from tests.session.work import Worker, looked

FACT = '{"kind": "decision", "content": "The last one used it", "source": "the last one used it"}'


def failing(given: Any) -> str:
    """Give a result that failed for one file."""
    return "exit code: 2\nError: no such thing" if "file_4" in given["path"] else looked(given)


async def grown(desk: Desk) -> Worker:
    desk.editor.tools["look"] = failing
    worker = await desk.worker(policy="manual")
    for number in range(5):
        await worker.turn(3, f"Typed {number}: look at docs/plan_{number}.md.")
    return worker


async def scored(worker: Worker, **given: Any) -> Any:
    async with asyncio.timeout(LIMIT):
        return await worker.session.rewriting.compact(
            "aircher", None, **{"dry_run": False, **given}
        )


def answer(**scores: str) -> str:
    turns = [
        {"id": turn, "action": action, "reason": "why", "summary": f"What {turn} came to."}
        for turn, action in scores.items()
    ]
    return f"```json\n{json.dumps({'turns': turns}, indent=1)}\n```\n<facts>\n{FACT}\n</facts>"


async def body(worker: Worker) -> Any:
    """Give what the next prompt would send."""
    return (await worker.session.rewriting.preview(({"type": "text", "text": "go on"},))).body


def rewritten(worker: Worker) -> tuple[str, Any]:
    """Give the reason of the one rewrite, and what the log keeps of its summary."""
    [record] = inside.records(worker.session, "rewrite")
    return str(record.body["reason"]), record.body["summary"]


async def test_what_a_model_scores_is_done_once_it_is_checked(desk: Desk) -> None:
    worker = await grown(desk)
    desk.model.written.append(says(answer(T1="drop", T2="summarise", T3="reference")))
    done = await scored(worker)
    [asked] = desk.model.summaries
    question = flat(asked.prompt)[-1].content.text  # type: ignore[union-attr]
    assert "T1 | " in question
    assert "failed: look src/file_4.py" in question
    sent = await body(worker)
    shown = json.dumps(sent)
    assert refusal(sent) is None
    assert "What T2 came to." in shown
    # What a summary forgets is listed, and what failed stays in view though its turn was dropped.
    assert "Also there: src/file_7.py" in shown
    assert "no such thing" in shown
    assert "Typed 0" in shown
    reason, summary = rewritten(worker)
    assert reason.endswith("scored by a model")
    assert (summary["by"], summary["calls"], summary["problem"]) == ("model", 1, "")
    assert [fact["content"] for fact in summary["facts"]] == ["The last one used it"]
    await worker.session.rewriting.undo(done["compactionId"])
    assert "What T2 came to." not in json.dumps(await body(worker))


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (answer(T77="drop"), "there is no turn 'T77'"),
        (answer(T1="burn"), "has no action"),
        ("I would rather not say which of them matter.", "holds no scores"),
    ],
)
async def test_what_cannot_be_used_leaves_it_to_code(desk: Desk, reply: str, problem: str) -> None:
    worker = await grown(desk)
    desk.model.written.append(says(reply))
    await scored(worker)
    assert len(desk.model.summaries) == 1
    reason, summary = rewritten(worker)
    assert "scored by code" in reason
    assert (summary["by"], summary["calls"]) == ("extract", 1)
    assert problem in summary["problem"]
    sent = await body(worker)
    assert refusal(sent) is None
    assert "no such thing" in json.dumps(sent)


async def test_the_plan_by_code_can_be_looked_at_without_asking_anybody(desk: Desk) -> None:
    worker = await grown(desk)
    told = await scored(worker, dry_run=True)
    assert desk.model.summaries == []
    assert told["tokensAfter"] < told["tokensBefore"]
