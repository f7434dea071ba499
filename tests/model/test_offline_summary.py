"""The offline model is asked for a summary: in the conversation, and with a transcript."""

from dataclasses import replace
from typing import Any

from sidecar.core.ledger.facts import supported
from sidecar.core.ledger.units import Item, units_of
from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.core.plans.plan import REWRITE_ID
from sidecar.core.prompt.prompt import ModelRequest, assemble
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.model_summary import (
    Brief,
    instruction,
    note_of,
    read_summary,
    transcript,
)
from sidecar.model.offline.offline_model import OfflineModel
from sidecar.model.offline.offline_summary import summarise
from tests.core.prompts import model, rendered, static, user
from tests.model.answers import answer

CALL = ToolPart(
    PartId("c"), "c", "bash", {"command": "pytest"}, ToolCompleted(Output("3 passed"), 0, 1)
)
LOG = (
    Message(
        MessageId("m1"),
        TurnId("t1"),
        "user",
        (TextPart(PartId("u"), "Keep dates in imports. Never touch uv.lock.", "typed"),),
        1,
    ),
    Message(
        MessageId("m2"),
        TurnId("t1"),
        "assistant",
        (
            TextPart(PartId("a"), "I decided on msgpack, because JSON has no dates.", "model"),
            CALL,
        ),
        2,
        model="offline",
    ),
    Message(
        MessageId("m3"),
        TurnId("t1"),
        "assistant",
        (TextPart(PartId("b"), "I fixed `read_rows` in importer.py and all tests pass.", "model"),),
        3,
        model="offline",
    ),
)
ASKED = instruction(Brief(), "", 600)


def conversation(*more: Any) -> tuple[Any, ...]:
    return (*more, *rendered(LOG, "offline"))


def request(*messages: Any) -> ModelRequest:
    prompt = assemble(static(model="offline"), messages)
    return ModelRequest("offline", prompt, 4_096, purpose="summary")


def asking(text: str) -> Any:
    return user(text, region="context")


async def test_behind_the_conversation_it_tells_that() -> None:
    draft = await answer(OfflineModel(len), request(*conversation(), asking(ASKED)))
    (part,) = draft.parts
    assert isinstance(part, TextPart)
    assert draft.stop == "end_turn"
    reading = read_summary(part.text)
    assert reading.text == (
        "## Goal\nKeep dates in imports. Never touch uv.lock.\n"
        "## Constraints\n- Never touch uv.lock.\n"
        "## Decisions\n- I decided on msgpack, because JSON has no dates.\n"
        "## Done\n- I fixed `read_rows` in importer.py and all tests pass."
    )
    facts, dropped = supported(reading.facts, LOG)
    assert [(fact.kind, fact.source, fact.who) for fact in facts] == [
        ("constraint", "t1", "user"),
        ("decision", "t1", "model"),
    ]
    assert dropped == ()


def test_with_a_transcript_it_tells_the_same() -> None:
    items = [Item(unit, 10) for message in LOG for unit in units_of(message, 0, 0)]
    alone = asking(f"{transcript(items, 5_000)}\n\n{ASKED}")
    behind = summarise(request(*conversation(), asking(ASKED)).prompt)
    assert summarise(request(alone).prompt) == behind


def test_a_summary_before_is_carried_on() -> None:
    before = "## Goal\nShip it.\n## Decisions\n- SQLite, because it is one file"
    note = user(note_of(before, "model"), region="summary")
    told = summarise(request(*conversation(note), asking(ASKED)).prompt)
    assert "Ship it." in told
    assert "- SQLite, because it is one file" in told
    asked = instruction(Brief(), before, 600)
    assert summarise(request(*conversation(), asking(asked)).prompt) == told
    assert REWRITE_ID not in told


def test_it_holds_to_the_room() -> None:
    said = "\n".join(
        f"I decided on way {n} instead, because it is {n} {'and ' * 30}" for n in range(40)
    )
    talk = model(said)
    for room in (150, 200, 600):
        asked = asking(instruction(Brief(), "", room))
        told = summarise(request(*conversation(), talk, asked).prompt)
        assert room / 2 < tokens_of(told) <= room
        assert told.count('{"kind"') == {150: 1, 200: 1, 600: 2}[room]


def test_where_nothing_was_said_it_says_so() -> None:
    reading = read_summary(summarise(request(asking(ASKED)).prompt))
    assert reading.text == "## Done\n- Nothing stands out in 0 entries, 0 of them calls."


async def test_it_reads_the_cache_and_leaves_it_as_it_was() -> None:
    model = OfflineModel(len)
    turn = replace(request(*conversation()), purpose="turn")
    await answer(model, turn)
    asked = await answer(model, request(*conversation(), asking(ASKED)))
    fresh = await answer(model, request(asking(ASKED)))
    again = await answer(model, turn)
    assert asked.usage.cache_read == again.usage.cache_read > 0
    assert asked.usage.input == len(ASKED) + 4
    assert asked.usage.cache_write_5m == fresh.usage.cache_read == again.usage.cache_write_5m == 0
