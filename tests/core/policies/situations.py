"""Situations in one line: `U10 R5 C2k; A20; U5 C1k!`.

`U` what the user typed, `X` the context block after it, `R` thinking, `C` a call with its result,
`A` an answer, `O` an opaque block, `L` a note of an earlier rewrite; the number is in tokens, `k` a
thousand. `;` ends a step; a `U` begins a turn, and a step when the last one has an answer. After
the number: `*` pinned, `!` failed, `~` running, `#` already a placeholder, `-` already dropped,
`:tool`, `(argument)`. Parts are called p0, p1, … in order. A call takes 10 tokens, the rest is its
result.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from sidecar.core.ledger.units import Item, Unit, UnitKind, in_row, learn, units_of
from sidecar.core.parts import FilePart, Message, MessageId, PartId, TurnId
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.plan import Plan, Rates, Situation, Standing
from sidecar.core.prompt.visibility import Dropped, Placeholder, Shown
from sidecar.core.text.identifiers import NameIndex, asked_to_keep, names_in
from sidecar.core.text.rule_sentences import rules_in

TOKEN = re.compile(r"([UXRCAOL])(\d+)(k?)([*!~#-]*)(?::([\w-]+))?(?:\(([^)]*)\))?")
KINDS: dict[str, UnitKind] = {
    "U": "typed", "X": "context", "R": "reasoning", "C": "call", "A": "prose", "O": "opaque",
    "L": "ledger",
}  # fmt: skip
CALL = 10
RATES = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
STATIC = 10_000
WINDOW = 200_000


def history(notation: str) -> list[Item]:
    """Read the items of a situation."""
    items: list[Item] = []
    turn, step, answered, typed = -1, 0, False, 0
    for word in notation.replace(";", " ; ").split():
        if word == ";":
            step, answered = step + 1, False
            continue
        match = TOKEN.fullmatch(word)
        assert match, f"not in the notation: {word}"
        letter, number, thousand, marks, tool, argument = match.groups()
        if letter == "U":
            turn, typed = turn + 1, typed + 1
            step, answered = step + answered, False
        answered = answered or letter in "RCAO"
        tokens = int(number) * (1_000 if thousand else 1)
        items.append(
            _item(len(items), letter, tokens, (max(turn, 0), step, typed), marks, tool, argument)
        )
    return items


def _item(
    index: int,
    letter: str,
    tokens: int,
    place: tuple[int, int, int],
    marks: str,
    tool: str | None,
    argument: str | None,
) -> Item:
    turn, step, typed = place
    message = f"user{typed}" if letter in "UX" else "" if letter == "L" else f"answer{step}"
    text = "".join(f"line {line} of part {index}\n" for line in range(max(1, tokens // 7)))
    call = letter == "C"
    unit = Unit(
        PartId(f"p{index}"),
        MessageId(message),
        turn,
        step,
        KINDS[letter],
        text,
        tool=(tool or "tool") if call else "",
        argument=argument or (f"argument {index}" if call else ""),
        status="ok" if call else "",
        failed="!" in marks,
        steps=(f"use p{index}",) if call else (),
        running="~" in marks,
    )
    shown: Shown | None = Placeholder() if "#" in marks else Dropped() if "-" in marks else None
    size = 0 if "-" in marks else CALL + 30 if "#" in marks else tokens
    return Item(unit, size, min(CALL, size) if call else 0, shown, "*" in marks, tokens)


def saying(item: Item, text: str, *, call: str = "") -> Item:
    """Give an item with another text, its names found, and the names of its call."""
    names, called = names_in(text), names_in(call)
    unit = replace(
        item.unit, held=text, call=call, names=in_row(names | called), call_names=in_row(called)
    )
    if unit.kind == "typed":
        unit = replace(unit, rules=rules_in(text), asked=asked_to_keep(text))
    return Item(unit, item.tokens, item.call, item.shown, item.pinned, item.tokens_whole)


def attached(item: Item, uri: str, text: str) -> Item:
    """Give a typed message's item as that of a file that the user sent."""
    mine = item.unit
    parts = (FilePart(mine.part_id, uri, text=text),)
    sent = Message(mine.message_id, TurnId("t"), "user", parts, 1, "complete", "")
    [unit] = units_of(sent, mine.turn, mine.step)
    return replace(item, unit=unit)


def standing(used: int, **given: object) -> Standing:
    """Give a standing of a warm session of some requests in a window of 200,000 tokens."""
    limit = given.get("window", WINDOW)
    assert isinstance(limit, int)
    known: dict[str, object] = {
        "static": STATIC, "window": WINDOW, "limit": limit - 8_000, "base": STATIC, "rent": 0,
        "requests": 5, "warm": True, "opens_turn": False, "messages": 0, "rates": RATES,
    }  # fmt: skip
    return Standing(used=used, **{**known, **given})  # type: ignore[arg-type]


def situation(
    items: str | Iterable[Item],
    used: int | None = None,
    *,
    step: int | None = None,
    **given: object,
) -> Situation:
    """Give a situation before the request that follows these items."""
    listed = history(items) if isinstance(items, str) else list(items)
    names = NameIndex()
    for item in listed:
        learn(names, item.unit)
    size = STATIC + sum(item.tokens for item in listed) if used is None else used
    coming = max((item.unit.step for item in listed), default=0) + 1 if step is None else step
    of_situation = {
        "sent", "protected_tools", "preserved", "revision", "instructions",
    }  # fmt: skip
    rest = {name: value for name, value in given.items() if name in of_situation}
    at = {name: value for name, value in given.items() if name not in of_situation}
    return Situation(standing(size, **at), listed, names, coming, **rest)  # type: ignore[arg-type]


def shown_after(plan: Plan | None) -> dict[str, str]:
    """Give what a plan does: each changed part with how it is shown then, in lower case."""
    assert plan is not None
    return {str(c.part_id): type(c.shown).__name__.lower() for c in plan.changes}


def dropped(plan: Plan | None) -> list[str]:
    """Give the parts that a plan drops, in prompt order."""
    return [part for part, how in shown_after(plan).items() if how == "dropped"]


def is_note(item: Item) -> bool:
    """Whether it is what an earlier rewrite left."""
    return item.unit.kind in NOTES


def spared(given: Situation) -> frozenset[str]:
    """What no plan may touch."""
    return frozenset(untouchable(given))


def parts(numbers: Iterable[int]) -> list[str]:
    """Name parts by their numbers."""
    return [f"p{number}" for number in numbers]
