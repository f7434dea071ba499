"""Compares the simulation with the provider's recorded reports.

Only requests up to the agent's first compaction count, where all was sent, as by `manual`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from sidecar.replay.conversation import Conversation
from sidecar.replay.simulate import SimulatedRun


@dataclass(frozen=True, slots=True)
class Agreement:
    """Simulated and recorded tokens of a session.

    `misses`: requests that read less than half of what was predicted.
    """

    name: str
    requests: int
    prompt: int
    prompt_recorded: int
    read: int
    read_recorded: int
    misses: int

    @property
    def prompts(self) -> float:
        return self.prompt / self.prompt_recorded

    @property
    def reads(self) -> float | None:
        return self.read / self.read_recorded if self.read_recorded else None


def agreement(conversation: Conversation, run: SimulatedRun) -> Agreement | None:
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
    )


@dataclass(frozen=True, slots=True)
class Validity:
    """Median deviations over sessions, as shares."""

    sessions: int
    prompts: float
    reads: float | None
    misses: int
    requests: int


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
