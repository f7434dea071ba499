"""Situations in one line: `U10 A20+c3000 | U5`, and what every plan must keep to.

Each token makes items: `U` what the user typed, `A` prose, `R` thinking, `C` a call with its
result, `N` a note of an earlier rewrite; the number is its tokens. `+` joins the items of one
message; an answer ends a step; a bar begins a new turn. After a number: `!` pinned, `?` running,
`-` dropped already. Ids are the token's letter and its place: `u0 a1 c2`.
"""

import re
from dataclasses import replace

from sidecar.core.guard import NOTES, untouchable
from sidecar.core.names import NameIndex
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plan import Plan, Policy, Rates, Situation, Standing
from sidecar.core.units import Item, Kind, Unit
from sidecar.core.view import Dropped

TOKEN = re.compile(r"([UARCN])(\d+)([!?-]*)")
KINDS: dict[str, Kind] = {
    "U": "typed", "A": "prose", "R": "reasoning", "C": "call", "N": "ledger",
}  # fmt: skip
CALL = 10
"""Tokens of each call's input."""


def items_of(text: str) -> tuple[list[Item], int]:
    """Read items, and the number of the coming request."""
    items: list[Item] = []
    turn = step = 0
    for number, message in enumerate(text.split()):
        if message == "|":
            turn += 1
            continue
        for token in message.split("+"):
            match = TOKEN.fullmatch(token)
            assert match, f"not in the notation: {token}"
            letter, size, flags = match.groups()
            tokens = int(size)
            part_id = PartId(f"{letter.lower()}{len(items)}")
            message_id = MessageId(f"m{number}")
            words = "word " * tokens
            unit = Unit(part_id, message_id, turn, step, KINDS[letter], words)
            if "?" in flags:
                unit = replace(unit, running=True)
            gone = "-" in flags
            call = CALL if letter == "C" and not gone else 0
            shown = Dropped() if gone else None
            item = Item(unit, 0 if gone else tokens, call, shown, "!" in flags, tokens)
            items.append(item)
        step += message[0] in "ARC"
    return items, step


def situation(
    text: str, *, window: int = 200_000, static: int = 0, sent: int = 0, **more: object
) -> Situation:
    """Make a situation; `more` are fields of the standing."""
    items, step = items_of(text)
    used = static + sum(item.tokens for item in items)
    limit = window - window // 16
    standing = Standing(
        used=used,
        static=static,
        window=window,
        limit=limit,
        base=static,
        rent=0,
        requests=step,
        warm=True,
        opens_turn=True,
        messages=len({item.unit.message_id for item in items}),
        rates=Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6),
    )
    standing = replace(standing, **more)  # type: ignore[arg-type]
    return Situation(standing, items, NameIndex(), step, revision=7, sent=sent)


def planned(policy: Policy, given: Situation) -> Plan | None:
    """Ask a policy as a session does, and check what no plan may get wrong."""
    cause = policy.due(given.standing)
    assert policy.due(given.standing) == cause
    if cause is None:
        return None
    plan = policy.plan(given, cause)
    assert policy.plan(given, cause) == plan, "the same situation, the same plan"
    if plan is not None:
        check(plan, given)
        assert (plan.policy, plan.cause) == (policy.name, cause)
    return plan


def check(plan: Plan, given: Situation) -> None:
    """Check ids, sums and order; nothing untouchable that was sent already is touched."""
    by_id = {item.unit.part_id: item for item in given.items}
    places = [list(by_id).index(change.part_id) for change in plan.changes]
    notes = {part_id for part_id, item in by_id.items() if item.unit.kind in NOTES}
    assert plan.revision == given.revision
    assert places == sorted(set(places)), "in prompt order, each part once"
    assert set(plan.retired) <= notes
    assert not notes & {change.part_id for change in plan.changes}
    touched = [*places, *(list(by_id).index(part_id) for part_id in plan.retired)]
    assert plan.first == min(touched)
    unsent = {item.unit.part_id for item in given.items[given.sent :]} if given.sent else set()
    wrong = {c.part_id for c in plan.changes} & untouchable(given) - unsent
    assert not wrong, wrong
    for change in plan.changes:
        assert change.tokens_before == by_id[change.part_id].tokens
        assert not isinstance(by_id[change.part_id].shown, Dropped)
    freed = sum(c.tokens_before - c.tokens_after for c in plan.changes)
    freed += sum(by_id[part_id].tokens for part_id in plan.retired)
    added = plan.summary.output_tokens if plan.summary else 0
    assert plan.tokens_before == given.standing.used
    assert plan.tokens_after == plan.tokens_before - freed + added < plan.tokens_before


def changed(plan: Plan | None) -> dict[str, str]:
    """Give each changed part's new form by its id."""
    assert plan is not None
    return {change.part_id: type(change.shown).__name__ for change in plan.changes}


def gone(plan: Plan | None) -> list[str]:
    """Give the ids of parts that a plan drops."""
    return [part_id for part_id, how in changed(plan).items() if how == "Dropped"]
