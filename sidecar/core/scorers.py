"""Eviction scorers: which tool result goes first. The lowest score is evicted first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sidecar.core.digest import digest
from sidecar.core.plan import Situation
from sidecar.core.units import Item
from sidecar.core.value import chance

Score = Callable[[Item, Situation], float]

KINDS: Mapping[str, float] = {
    "edit": 0.9,
    "write": 0.9,
    "multiedit": 0.9,
    "apply_patch": 0.9,
    "edit_file": 0.9,
    "write_file": 0.9,
    "bash": 0.6,
    "shell": 0.6,
    "exec_command": 0.6,
    "read": 0.5,
    "read_file": 0.5,
    "grep": 0.3,
    "search": 0.3,
    "glob": 0.2,
    "list_files": 0.2,
}
"""How dear a result of a tool is, by what it takes to get it again; others count 0.5."""
OTHER = 0.5
FAILED = 1.0
LIFE = {"grep": 10, "search": 10, "glob": 10, "list_files": 10, "bash": 20, "shell": 20}
LIFE_OTHER = 40
"""Requests after which a result of a kind is past its time."""
SHINGLE = 5
NEAR = 0.9
MOST_SHINGLES = 400


def fifo(item: Item, situation: Situation) -> float:
    """Oldest first."""
    del situation
    return float(item.unit.step)


def lru(item: Item, situation: Situation) -> float:
    """Longest unused first: by the newest use of any identifier in it."""
    names = situation.names
    used = (names[n].used for n in item.unit.names if n in names)
    return float(max(used, default=-1) if item.unit.names else item.unit.step)


def priority(item: Item, situation: Situation) -> float:
    """Cheapest to repeat first: listings before reads, reads before commands, failures last."""
    age = item.unit.step / (situation.step + 1)
    kind = FAILED if item.unit.failed else KINDS.get(item.unit.tool.lower(), OTHER)
    return kind + age / 100


def type_ttl(item: Item, situation: Situation) -> float:
    """Furthest past its kind's time first; what is within its time scores above zero."""
    life = LIFE.get(item.unit.tool.lower(), LIFE_OTHER)
    return 1.0 - (situation.step - item.unit.step) / life


def semantic(item: Item, situation: Situation) -> float:
    """Near-duplicates of a later result first, then oldest first."""
    own = shingles(item.unit.text)
    later = (
        other
        for other in situation.items
        if other.unit.kind == "call"
        and other.shown is None
        and other.unit.step > item.unit.step
        and other.unit.tool == item.unit.tool
    )
    doubled = any(likeness(own, shingles(other.unit.text)) >= NEAR for other in later)
    return (0.0 if doubled else 1.0) + item.unit.step / (situation.step + 1)


def value(item: Item, situation: Situation) -> float:
    """Least worth per token first, by how likely its identifiers are used again."""
    names = situation.names
    worth = sum(chance(names[n], situation.step) for n in item.unit.names if n in names)
    return worth / max(1, item.tokens)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """A weighted mean of scorers, each by rank, so that their scales do not matter."""

    weights: tuple[tuple[Score, float], ...] = ((lru, 0.4), (priority, 0.4), (fifo, 0.2))

    def order(self, items: list[Item], situation: Situation) -> list[Item]:
        """Give the items in order of eviction."""
        total: dict[int, float] = dict.fromkeys(range(len(items)), 0.0)
        for score, weight in self.weights:
            scored = sorted((score(item, situation), i) for i, item in enumerate(items))
            for rank, (_, index) in enumerate(scored):
                total[index] += weight * rank
        return [items[index] for index in sorted(total, key=lambda i: (total[i], i))]


def in_order(score: Score | Hybrid, items: list[Item], situation: Situation) -> list[Item]:
    """Give items in order of eviction; equal scores by age."""
    if isinstance(score, Hybrid):
        return score.order(items, situation)
    return sorted(items, key=lambda item: (score(item, situation), item.unit.step))


@lru_cache(maxsize=2048)
def shingles(text: str) -> frozenset[str]:
    """Give a sketch of a text: the smallest hashes of its runs of five lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    runs = {"\n".join(lines[i : i + SHINGLE]) for i in range(max(1, len(lines) - SHINGLE + 1))}
    hashed = sorted(digest(run.encode("utf-8", "surrogatepass")) for run in runs)
    return frozenset(hashed[:MOST_SHINGLES])


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of shingles in common, 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0
