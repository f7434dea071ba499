"""Results' texts that no view shows are packed, and are the same whoever reads them."""

from dataclasses import replace

import pytest

from sidecar.core.parts import KeptText, Output, PartId, ToolCompleted, ToolPart
from sidecar.core.text.redaction import Redaction
from sidecar.session.view.kept_text import LEAST, held
from tests.session import inside
from tests.session.conftest import Desk
from tests.session.work import Worker

KEY = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 4
LONG = "".join(f"{number} \ud800é\n" for number in range(LEAST))


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_packed_text_equals_the_text(is_packed: bool) -> None:
    kept = KeptText(LONG)
    if is_packed:
        kept.pack()
        kept.pack()
    assert (str(kept), len(kept), hash(kept)) == (LONG, len(LONG), hash(LONG))
    assert kept == LONG == kept == KeptText(LONG)
    assert kept != LONG + "." != kept != 1
    assert Output(kept) == Output(LONG)
    assert Output(kept).text == LONG


def test_a_short_text_is_none_to_be_packed() -> None:
    assert isinstance(held("x" * (LEAST - 1)), str)
    assert held("x" * LEAST) == "x" * LEAST


def test_a_key_leaves_a_packed_text_too() -> None:
    kept = KeptText(LONG + KEY)
    kept.pack()
    part = ToolPart(PartId("p"), "c", "shell", {}, ToolCompleted(Output(kept), 1, 2))
    cleaned = Redaction(()).value(part)
    assert isinstance(cleaned.state, ToolCompleted)
    assert cleaned.state.output.text.startswith(LONG)
    assert KEY not in cleaned.state.output.text
    kept = KeptText(LONG)
    kept.pack()
    clean = replace(part, state=ToolCompleted(Output(kept), 1, 2))
    assert Redaction(()).value(clean) is clean


def texts(worker: Worker) -> dict[PartId, object]:
    """Give how the results' texts are held."""
    calls = inside.parts(worker.session, ToolPart)
    return {p.id: p.state.output.held for p in calls if isinstance(p.state, ToolCompleted)}


def results(worker: Worker) -> dict[PartId | None, object]:
    """Give the results that the model would be sent."""
    prompt = inside.model_view(worker.session).prompt(inside.log(worker.session))
    blocks = (block for message in prompt.messages for block in message.blocks)
    return {block.part_id: block.content for block in blocks if block.region == "toolResults"}


def is_packed(text: object) -> bool:
    return isinstance(text, KeptText) and text._held != str(text)


async def test_what_a_rewrite_leaves_out_is_packed_and_an_undo_shows_it_again(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    before = {part_id: str(text) for part_id, text in texts(worker).items()}
    assert not any(map(is_packed, texts(worker).values()))
    sent = results(worker)
    rewriting = worker.session.rewriting
    await rewriting.compact("economic", None, dry_run=False)
    shown = inside.view(worker.session).shown
    packed = {part_id for part_id, text in texts(worker).items() if is_packed(text)}
    assert packed
    assert packed <= shown.keys()
    assert texts(worker) == before
    await worker.turns(2)
    await rewriting.compact("economic", None, dry_run=False)
    await rewriting.undo(None)
    await rewriting.undo(None)
    assert sent.items() <= results(worker).items()
    stored = await desk.store.logs.load(worker.session.id)
    assert stored.messages == inside.log(worker.session).messages
