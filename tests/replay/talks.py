"""Conversations in one line, one request after the other: `0: t1000; 10: p50 c200; 20: p10`.

Before the colon stands when the request began, in seconds; after it what has come since the last
one: `t` typed, `p` prose, `r` thinking, `c` a call with its result, `!` after the number a failed
one. The number is in tokens. `;` ends a request, `=7` before it says that its answer took 7
tokens. Parts are called p0, p1, … in order; what a request's answer holds comes with the next.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sidecar.core.ledger.units import Unit, UnitKind
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.plan import Change, Plan, Rates, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Placeholder
from sidecar.replay.conversation import Conversation, Request

RATES = Rates(1.0, 5.0, 1.25, 0.1)
"""Prices that can be added up by hand: a cost is then in tokens of input."""
STATIC = 2_000
WINDOW = 100_000
KINDS: Mapping[str, UnitKind] = {"t": "typed", "p": "prose", "r": "reasoning", "c": "call"}
_ITEM = re.compile(r"([tprc])(\d+)(!?)")


def talk(notation: str, static: int = STATIC) -> Conversation:
    """Read a conversation; a call takes a tenth of its tokens, the rest is its result."""
    units: list[Unit] = []
    tokens: list[int] = []
    calls: list[int] = []
    requests: list[Request] = []
    turn = messages = 0
    for step, text in enumerate(notation.split(";")):
        before, _, after = text.strip().partition(":")
        words, _, output = after.partition("=")
        opens = step == 0
        for word in words.split():
            match = _ITEM.fullmatch(word)
            assert match, f"not in the notation: {word}"
            letter, number, failed = match.groups()
            typed = letter == "t"
            turn, opens = turn + (typed and step > 0), opens or typed
            messages += 1
            at = step if typed else step - 1
            part_id = PartId(f"p{len(units)}")
            made = MessageId(f"m{at}")
            units.append(Unit(part_id, made, turn, at, KINDS[letter], "", failed=bool(failed)))
            tokens.append(int(number))
            calls.append(int(number) // 10 if letter == "c" else 0)
        at = round(float(before) * 1_000)
        said = int(output or 0)
        requests.append(Request(step, at, len(units), messages, opens, said, (), (), None))
    return Conversation(
        "talk", "notation", tuple(units), tuple(tokens), tuple(calls), tuple(requests), static, 1.0
    )


Draft = Callable[[Situation], Plan | None]


@dataclass
class Scripted:
    """A policy that does before given requests what a test says, and keeps what it was told."""

    script: Mapping[int, Draft] = field(default_factory=dict)
    name: str = "scripted"
    static_ttl: Ttl = "5m"
    told: list[Standing] = field(default_factory=list)
    asked: list[Situation] = field(default_factory=list)

    def due(self, standing: Standing) -> Cause | None:
        self.told.append(standing)
        return "budget"

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        again = bool(self.asked) and self.asked[-1].step == situation.step
        self.asked.append(situation)
        draft = self.script.get(situation.step)
        return None if draft is None or again else draft(situation)


def shortened(*parts: str, to: int, summary: Summary | None = None, note: str = "") -> Draft:
    """Show these parts in `to` tokens each; a note counts ten."""

    def draft(situation: Situation) -> Plan:
        items = situation.items
        first = min(i for i, item in enumerate(items) if item.unit.part_id in parts)
        changes = tuple(
            Change(item.unit.part_id, Placeholder(), "", item.tokens, to)
            for item in items
            if item.unit.part_id in parts
        )
        freed = sum(change.tokens_before - change.tokens_after for change in changes)
        used = situation.standing.used
        size = 10 if note else 0
        after = used - freed + size + (summary.output_tokens if summary else 0)
        return Plan(
            "scripted", "budget", "told to", 0, changes, first, used, after, note, size, (), summary
        )

    return draft
