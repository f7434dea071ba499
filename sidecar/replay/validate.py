"""Compares the simulation, and the cache's rules alone, with the provider's recorded reports.

Only requests up to the agent's first compaction count, where all was sent, as by `manual`.
"""

from collections.abc import Iterable
from statistics import median

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.prompt.cache.warmth import Warm, follow, foresee
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prefix import CacheMark
from sidecar.replay.conversation import Conversation
from sidecar.replay.simulate import SimulatedRun
from sidecar.replay.simulated_cache import USUAL, Segments


@dataclass(frozen=True, slots=True)
class Agreement:
    """Simulated and recorded tokens of a session.

    `misses`: requests that read less than half of what was predicted. `foreseen`: reads as a
    session foresees them, which knows sizes reported before, by the `vendor`'s rules.
    """

    name: str
    requests: int
    prompt: int
    prompt_recorded: int
    read: int
    read_recorded: int
    misses: int
    foreseen: int = 0
    vendor: str = ""

    @property
    def prompts(self) -> float:
        return self.prompt / self.prompt_recorded

    @property
    def reads(self) -> float | None:
        return self.read / self.read_recorded if self.read_recorded else None


def agreement(
    conversation: Conversation, run: SimulatedRun, rules: CacheRules = USUAL
) -> Agreement | None:
    until = conversation.compacted[0] if conversation.compacted else len(conversation.requests)
    pairs = [
        (sent, request.usage)
        for sent, request in zip(run.sent[:until], conversation.requests[:until], strict=True)
        if request.usage is not None
    ]
    if not pairs:
        return None
    return Agreement(
        conversation.name,
        len(pairs),
        sum(sent.prompt for sent, _ in pairs),
        sum(usage.prompt for _, usage in pairs),
        sum(sent.read for sent, _ in pairs),
        sum(usage.cache_read for _, usage in pairs),
        sum(usage.cache_read < sent.read // 2 for sent, usage in pairs),
        _foreseen(conversation, until, rules),
        rules.vendor,
    )


def _foreseen(conversation: Conversation, until: int, rules: CacheRules) -> int:
    prompt = Segments(conversation.static)
    warm: Warm = {}
    arrived = before = total = 0
    for request in conversation.requests[:until]:
        for index in range(arrived, request.end):
            if tokens := conversation.tokens[index]:
                prompt.append(Item(conversation.units[index], tokens, conversation.calls[index]))
        arrived = request.end
        marks: list[CacheMark] = [(0, "5m"), *prompt.marks(before, 0, rules)]
        parallel = prompt.hashes, prompt.sizes, prompt.places
        found = foresee(warm, *parallel, marks, request.at, rules)
        warm = follow(warm, found, usage=request.usage)
        before = len(prompt.hashes) - 1
        total += found.read if request.usage is not None else 0
    return total


@dataclass(frozen=True, slots=True)
class Validity:
    """Median deviations over sessions, as shares."""

    sessions: int
    prompts: float
    reads: float | None
    misses: int
    requests: int


@dataclass(frozen=True, slots=True)
class Foresight:
    """Reads in sum: as a session would have foreseen them, and as reported."""

    vendor: str
    sessions: int
    foreseen: int
    reported: int

    @property
    def off(self) -> float:
        return self.foreseen / self.reported - 1


def foresight(agreements: Iterable[Agreement]) -> tuple[Foresight, ...]:
    """Sums up by vendor, where any reads were reported."""
    sums: dict[str, tuple[int, int, int]] = {}
    for one in agreements:
        if one.read_recorded:
            sessions, foreseen, reported = sums.get(one.vendor, (0, 0, 0))
            more = foreseen + one.foreseen, reported + one.read_recorded
            sums[one.vendor] = sessions + 1, *more
    return tuple(Foresight(vendor, *found) for vendor, found in sorted(sums.items()))


def validity(agreements: Iterable[Agreement]) -> Validity | None:
    all_of_them = list(agreements)
    if not all_of_them:
        return None
    reads = [abs(a.reads - 1) for a in all_of_them if a.reads is not None]
    return Validity(
        len(all_of_them),
        median(abs(a.prompts - 1) for a in all_of_them),
        median(reads) if reads else None,
        sum(a.misses for a in all_of_them),
        sum(a.requests for a in all_of_them),
    )
