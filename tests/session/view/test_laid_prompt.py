"""A prompt laid out as it grows is the one that is laid out at once."""

import random
from dataclasses import replace
from itertools import accumulate, chain

from sidecar.core.parts import Message, MessageId, PartId, TextPart, TurnId
from sidecar.core.prompt.prompt import Static, assemble, spread
from sidecar.core.prompt.visibility import Note
from sidecar.session.view.laid_prompt import LaidPrompt
from sidecar.session.view.message_view import RenderedMessage, look
from tests.core.prompts import spoken

STATIC = Static("m", (), (), 1)


def seen(number: int, dice: random.Random, mark: str = "") -> RenderedMessage:
    """A message of up to two texts, of either role, some behind a note."""
    texts = [f"{mark}{number} {n}" for n in range(dice.randrange(3))]
    parts = tuple(TextPart(PartId(f"p{number}.{n}"), text, "typed") for n, text in enumerate(texts))
    role = dice.choice(("user", "assistant"))
    message = Message(MessageId(f"m{number}"), TurnId("t"), role, parts, number, model="m")
    note = Note(PartId(f"n{number}"), "what went", message.id)
    return look(message, {}, "m", len, (note,) if not dice.randrange(9) else ())


def check(laid: LaidPrompt, row: tuple[RenderedMessage, ...], anchor: MessageId | None) -> None:
    laid.lay(row, (5, 3), anchor)
    prompt = assemble(STATIC, chain.from_iterable(one.rendered for one in row))
    assert spoken(laid.messages) == spoken(prompt.messages)
    whole = spread(prompt)
    assert laid.spread.blocks == whole.blocks
    assert laid.spread.firsts == whole.firsts[: len(prompt.messages)]
    raw = [tokens for one in row for tokens in one.raw]
    assert list(laid.sizes) == [*accumulate([5, 3, *raw])]
    assert sum(laid.raw.values()) == sum(raw)
    assert laid.sent == sum(len(o.rendered) - len(o.notes) for o in row if o.rendered)
    ids = [one.message.id for one in row]
    before = row[: ids.index(anchor)] if anchor in ids else ()
    assert laid.anchored == sum(len(one.raw) for one in before)


def test_whatever_was_laid_out_before() -> None:
    dice, laid = random.Random(1), LaidPrompt()
    row: tuple[RenderedMessage, ...] = ()
    anchor: MessageId | None = None
    for step in range(600):
        match dice.randrange(12):
            case 0 if row:
                at = dice.randrange(len(row))
                row = (*row[:at], seen(at, dice, "again "), *row[at + 1 :])
            case 1:
                row = row[: -dice.randrange(1, 4)]
            case 2 if row:
                anchor = dice.choice([None, dice.choice(row).message.id])
            case 3 if row:
                row = (*row[:-1], replace(row[-1], rendered=(), raw=(), regions={}, notes=()))
            case 4:
                pass
            case _:
                row = (*row, seen(step, dice))
        check(laid, row, anchor)
