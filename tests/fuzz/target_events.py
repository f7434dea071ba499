"""A model's events, whatever they hold: an answer that can be stored, told, priced and sent on."""

import json
from dataclasses import replace
from typing import Any

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import BlockStarted
from sidecar.core.conversation.turns import settle
from sidecar.core.parts import (
    Message,
    MessageId,
    PartId,
    SessionId,
    StepFinishPart,
    StepStartPart,
    TextPart,
    TurnId,
)
from sidecar.core.prompt.pricing import money, price
from sidecar.core.prompt.prompt import ModelRequest, broken_pairs
from sidecar.model.catalogue import lookup
from sidecar.model.messages.decode import ResponseDecoder
from sidecar.model.messages.encode import encode
from sidecar.session.log.events import EventOrigin, ToolChanged
from sidecar.store.format import rows
from sidecar.wire.framing import Arrived, parse
from sidecar.wire.framing import encode as framed
from sidecar.wire.translate import notification
from tests.core.prompts import alone
from tests.fakes.messages_api import events, text, thinking, tools
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, deep, mutated

SHARE = 150

MODEL = "claude-sonnet-4-5"
_CALL = ("t1", "look", {"path": "a.py", "n": 3, "deep": [{"x": None}]})
_WORK = thinking("let me see", "sig", tools(_CALL, ("t2", "run", {}), words="Looking."))
_USAGE = {"input_tokens": 9, "cache_read_input_tokens": 80, "output_tokens": 1}
_USAGE |= {"cache_creation_input_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": 2}}
_HIDDEN = {"type": "redacted_thinking", "data": "abc"}
_NEW = {"type": "server_tool_use", "id": "s1", "name": "web", "input": {"q": "x"}}


def _stream(reply: Any) -> list[Any]:
    return [{"type": kind, **data} for kind, data in events(reply, MODEL)]


STREAMS = [
    _stream(text("as you wish", usage=_USAGE)),
    _stream(replace(_WORK, usage=_USAGE, piece=40)),
    _stream(replace(_WORK, blocks=(_HIDDEN, _NEW, *_WORK.blocks), piece=9)),
]
INPUTS = ("NaN", '{"a":1e999}', '"\\ud800"', "[" * 300 + "]" * 300, "9" * 5_000, "{", "-", "")
ODD_EVENTS = (*ODD, *INPUTS, *(event for stream in STREAMS for event in stream), deep(200))


def run(data: bytes) -> None:
    """Change a stream, decode it, and do with the answer all that a session does."""
    dice = Dice(data)
    stream = mutated(dice.pick(STREAMS), dice, odd=ODD_EVENTS, donors=ODD_EVENTS)
    decoder, draft, number = ResponseDecoder(), Draft(), 0
    for event in stream if isinstance(stream, list) else [stream]:
        for known in decoder.take(event):
            number += isinstance(known, BlockStarted)
            draft = fold(draft, known, PartId(f"p{number}"))
    _lived_with(draft)


def _lived_with(draft: Draft) -> None:
    usage = replace(draft.usage, requests=1)
    assert min(usage.prompt, usage.output, usage.thinking, usage.cache_write_5m) >= 0
    priced = price(lookup(MODEL), usage)
    finish = StepFinishPart(
        PartId("f"), draft.stop, usage, None if priced is None else money(priced)
    )
    parts = (StepStartPart(PartId("s"), MODEL), *draft.parts, finish)
    message = Message(MessageId("m"), TurnId("t"), "assistant", parts, 5, "open", MODEL)
    settled = settle(message, 9, "interrupted")
    for place, part in enumerate((*message.parts, *settled.parts)):
        packed = rows.encode_part(part, place)
        assert rows.decode_part(packed.body, dict(packed.blobs).__getitem__) == part
    _sent_back(settled)
    _told(draft)


def _sent_back(message: Message) -> None:
    asked = TextPart(PartId("q"), "look", "typed")
    user = Message(MessageId("u"), TurnId("t"), "user", (asked,), 1)
    prompt = alone((user, message), MODEL)
    assert not broken_pairs(prompt)
    body = encode(ModelRequest(MODEL, prompt, 99))
    # As the SDK writes it.
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def _told(draft: Draft) -> None:
    origin = EventOrigin(SessionId("s"), TurnId("t"), MessageId("m"), PartId("p"), 1)
    for part in draft.parts:
        given = getattr(part, "input", None)
        event = ToolChanged(origin, "c", "completed", first=True, title="x", raw_input=given)
        body = framed(notification(event), "lines")
        assert isinstance(parse(body), Arrived), "what is told is no JSON"
