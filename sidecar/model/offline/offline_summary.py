"""Writes the offline model's summaries: sentences from the conversation."""

import json
import re
from collections.abc import Iterator, Sequence

from sidecar.core.conversation.call_outcome import argument
from sidecar.core.ledger.units import Unit, UnitKind, in_row
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.prompt import Prompt, flat
from sidecar.core.prompt.render import Block, CallBlock, ResultBlock, TextBlock
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.model_summary import summary_in
from sidecar.core.summaries.sections import CONSTRAINTS, DECISIONS, sections_of
from sidecar.core.text.identifiers import names_in

ROOM = 600
"""Tokens, unless the request says how many."""
FACTS = 3
PROSE = 0.7
"""The sections' share of the room, beside facts."""

_ROOM = re.compile(r"at most (\d{1,6}) tokens")
_PREVIOUS = re.compile(r"<previous-summary>\n(.*?)\n</previous-summary>", re.S)
_ENTRY = re.compile(r'^<entry from="([^"]*)"([^>]*)>\n(.*?)\n</entry>$', re.S | re.M)
_TURN = re.compile(r'turn="(\d+)"')


def summarise(prompt: Prompt) -> str:
    *before, last = flat(prompt)
    request = last.content.text if isinstance(last.content, TextBlock) else ""
    found = _ROOM.findall(request)
    room = int(found[-1]) if found else ROOM
    previous = _PREVIOUS.findall(request)
    units = list(_transcribed(request) or _said(before))
    text = extract(units, previous[-1] if previous else _told(before), round(PROSE * room))
    if not text:
        calls = sum(unit.kind == "call" for unit in units)
        text = f"## Done\n- Nothing stands out in {len(units)} entries, {calls} of them calls."
    facts = [
        json.dumps({"kind": kind, "content": line, "source": line}, ensure_ascii=False)
        for section in sections_of(text)
        for kind in ({CONSTRAINTS: "constraint", DECISIONS: "decision"}.get(section.title),)
        if kind is not None
        for line in (raw.removeprefix("- ") for raw in section.lines)
    ]
    whole = text
    for most in range(1, min(FACTS, len(facts)) + 1):
        longer = "\n".join((text, "", "<facts>", *facts[:most], "</facts>"))
        whole = longer if tokens_of(longer) <= room else whole
    return whole


def _said(blocks: Sequence[Block]) -> Iterator[Unit]:
    turn = step = 0
    results = {
        block.content.call_id: block.content
        for block in blocks
        if isinstance(block.content, ResultBlock)
    }
    for block in blocks:
        match block.content:
            case TextBlock(text=text) if block.region == "user":
                turn += step > 0
                yield _unit("typed", text, turn, step)
            case TextBlock(text=text) if block.region == "assistant":
                step += 1
                yield _unit("prose", text, turn, step)
            case CallBlock(call_id=call_id, input=given):
                step += 1
                answer = results.get(call_id)
                text = "" if answer is None else answer.text
                yield _unit("call", f"{argument(given)}\n{text}", turn, step)
            case _:
                pass


def _transcribed(request: str) -> list[Unit]:
    kinds: dict[str, UnitKind] = {"user": "typed", "model": "prose", "tool": "call"}
    units = []
    for step, (who, about, text) in enumerate(_ENTRY.findall(request)):
        found = _TURN.search(about)
        if who in kinds and found is not None:
            units.append(_unit(kinds[who], text, int(found[1]) - 1, step))
    return units


def _told(blocks: Sequence[Block]) -> str:
    texts = [block.content.text for block in blocks if isinstance(block.content, TextBlock)]
    return "\n\n".join(told for text in texts if (told := summary_in(text)))


def _unit(kind: UnitKind, text: str, turn: int, step: int) -> Unit:
    return Unit(PartId(""), MessageId(""), turn, step, kind, text, in_row(names_in(text)))
