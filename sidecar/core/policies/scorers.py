"""Scores tool results from 0 to 1; the lowest is evicted first."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Literal, TypeAlias

from sidecar.core.ledger.deeds import LISTERS, SEARCHERS, WEB
from sidecar.core.ledger.units import Item
from sidecar.core.plans.plan import Situation

ToolPurpose: TypeAlias = Literal["list", "search", "web", "read", "run", "edit", "other"]
PURPOSES: Mapping[ToolPurpose, frozenset[str]] = {
    "list": LISTERS,
    "search": SEARCHERS,
    "web": WEB,
    "read": frozenset({"read", "read_file", "view", "view_file", "open_file", "recall", "cat"}),
    "run": frozenset({"shell", "bash", "exec_command", "local_shell", "run_shell_command", "exec"}),
    "edit": frozenset(
        {"edit_file", "write_file", "edit", "write", "multiedit", "apply_patch", "patch", "replace"}
    ),
}
"""What tools are for, by the names that ours and others' have, in lower case."""

RANKS: Mapping[ToolPurpose, float] = {
    "list": 0.1, "search": 0.2, "read": 0.4, "web": 0.5, "other": 0.5, "run": 0.6, "edit": 0.8,
}  # fmt: skip
"""What it takes to get a result again: a listing is one cheap call, an edit never comes back."""
FAILED = 0.9
"""A failed approach is tried again by whoever forgets it."""
LIVES: Mapping[ToolPurpose, int] = {
    "list": 10, "search": 15, "run": 25, "other": 25, "web": 30, "read": 40, "edit": 80,
}  # fmt: skip
"""Steps for which a result is good: listings and searches are out of date first."""

NEAR = 0.9
"""A result of which this share stands in a later one says nothing that is not there."""
SHORTEST = 200
"""Results of fewer characters are not compared."""
LOOKAHEAD = 4
"""How many later results of the same call one is compared with."""
FEW_LINES = 8
NUMBERING = " \t0123456789:|→"
"""What numbers a line, and differs when lines were added before it."""

SCORERS = ("fifo", "lru", "priority", "ttl", "semantic")
WEIGHTS: Mapping[str, float] = {"lru": 0.35, "priority": 0.25, "ttl": 0.15, "semantic": 0.25}


def check_weights(weights: Mapping[str, float]) -> None:
    """Raises `ValueError` for unknown scorers or weights not above 0."""
    unknown = sorted(weights.keys() - set(SCORERS))
    if unknown or not weights or min(weights.values()) <= 0:
        wrong = f"{', '.join(unknown)}: not known" if unknown else "every weight must be above 0"
        raise ValueError(f"hybrid: {wrong}; name scorers among {', '.join(SCORERS)}")


def scorer(situation: Situation, weights: Mapping[str, float]) -> Callable[[Item], float]:
    """Gives a function that scores one result; weights are normalised.

    `fifo`: newer is better. `lru`: last use of its names, or the call. `priority`: failures and
    edits, then commands, then searches, then age. `ttl`: time left for its kind, 0 when past.
    `semantic`: newer is better, 0 if repeated later in view.
    """
    span, total = situation.step + 1, sum(weights.values())
    uses = last_uses(situation.items)
    repeated = repeats(situation.items) if "semantic" in weights else frozenset()

    def score(item: Item) -> float:
        unit, use = item.unit, purpose(item.unit.tool)
        age = (unit.step + 1) / span
        used = max((uses[name] for name in uses.keys() & unit.names), default=unit.step)
        scores = {
            "fifo": age,
            "lru": (used + 1) / span,
            "priority": (FAILED if unit.failed else RANKS[use]) + 0.09 * age,
            "ttl": max(0.0, 1.0 - (situation.step - unit.step) / LIVES[use]),
            "semantic": 0.0 if unit.part_id in repeated else 0.5 + 0.5 * age,
        }
        return sum(scores[name] * (weight / total) for name, weight in weights.items())

    return score


def purpose(tool: str) -> ToolPurpose:
    name = tool.lower()
    return next((use for use, names in PURPOSES.items() if name in names), "other")


def last_uses(items: Sequence[Item]) -> dict[str, int]:
    uses: dict[str, int] = {}
    for item in items:
        unit = item.unit
        if unit.kind == "call":
            uses.update(dict.fromkeys(unit.call_names, unit.step))
        elif unit.kind == "prose":
            uses.update(dict.fromkeys(unit.names, unit.step))
    return uses


def repeats(items: Sequence[Item]) -> frozenset[str]:
    """Finds results that a later one repeats, wholly or in `NEAR` of their lines.

    Lines are compared only between equal calls, with the next `LOOKAHEAD`.
    """
    texts: dict[str, str] = {}
    calls: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    found: set[str] = set()
    for item in items:
        unit = item.unit
        if unit.kind != "call" or item.shown is not None or len(unit.text) < SHORTEST:
            continue
        earlier = texts.get(unit.text)
        if earlier is not None:
            found.add(earlier)
        texts[unit.text] = unit.part_id
        if unit.argument:
            calls[unit.tool.lower(), unit.argument].append(item)
    for same in calls.values():
        if len(same) < 2:
            continue
        lines = [shingles(item.unit.text) for item in same]
        for index, item in enumerate(same):
            later = lines[index + 1 : index + 1 + LOOKAHEAD]
            if any(held(lines[index], other) >= NEAR for other in later):
                found.add(item.unit.part_id)
    return frozenset(found)


def shingles(text: str) -> frozenset[str]:
    lines = text.split("\n")
    if len(lines) >= FEW_LINES:
        return frozenset([line.lstrip(NUMBERING) for line in lines])
    words = text.split()
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def held(one: Set[str], other: Set[str]) -> float:
    return len(one & other) / len(one) if one else 0.0
