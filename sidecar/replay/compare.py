"""Replays recordings under several policies, and sums results."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import mode

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Usage
from sidecar.core.plans.plan import Policy, Rates
from sidecar.core.policies import policies
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.tokens import Count
from sidecar.core.text.visible import visible
from sidecar.replay.conversation import Conversation, Listener
from sidecar.replay.importers.recognition import open_transcript
from sidecar.replay.measures.needs import needs_of
from sidecar.replay.measures.verbatim import VerbatimTally
from sidecar.replay.prices import recorded_cost
from sidecar.replay.simulate import Sent, SimulatedRewrite, SimulatedRun, last_prompt, simulate
from sidecar.replay.simulated_cache import USUAL
from sidecar.replay.transcript import Compacted, DamagedLine
from sidecar.replay.validate import Agreement, agreement

WHOLE_WINDOW = 1_000_000
"""Window for playing the recording itself, to check the simulation."""
BREAK = 1_000
"""Tokens of a prefix not read from the cache, from which on a break counts."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A replay's policies, window, prices and rules of the cache.

    `recorded`: rules that held for a recorded model, `None` for the usual ones.
    """

    policies: tuple[str, ...]
    window: int
    rates: Rates
    rules: CacheRules = USUAL
    recorded: Callable[[str], CacheRules | None] | None = None


@dataclass(slots=True)
class PolicyTally:
    """One policy's sums, in USD and tokens.

    `alike`: cost if static text lived an hour under each policy. `runways`: requests between
    rewrites; `compressed`: each rewrite's compression.
    """

    policy: str
    cost: float = 0.0
    requests: int = 0
    prompt: int = 0
    read: int = 0
    peak: int = 0
    over: int = 0
    rewrites: int = 0
    summaries: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    breaks: Counter[str] = field(default_factory=Counter)
    far: int = 0
    whole: int = 0
    view: int = 0
    ledger: int = 0
    reach: int = 0
    failures: int = 0
    failures_kept: int = 0
    constraints: int = 0
    constraints_kept: int = 0
    prose: int = 0
    prose_kept: int = 0
    runways: list[int] = field(default_factory=list)
    compressed: list[float] = field(default_factory=list)
    verbatim: VerbatimTally = field(default_factory=VerbatimTally)
    alike: float = 0.0

    def add(self, other: "PolicyTally") -> None:
        self.peak = max(self.peak, other.peak)
        self.causes.update(other.causes)
        self.breaks.update(other.breaks)
        self.runways += other.runways
        self.compressed += other.compressed
        self.verbatim.add(other.verbatim)
        for name in _SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_SUMMED = (
    "cost", "alike", "requests", "prompt", "read", "over", "rewrites", "summaries", "far", "whole",
    "view", "ledger", "reach", "failures", "failures_kept",
    "constraints", "constraints_kept", "prose", "prose_kept",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReplayedSession:
    """A session's replay; `recorded`: USD for the recording's own usage."""

    name: str
    format: str
    requests: int
    recorded: float | None
    tallies: tuple[PolicyTally, ...]
    agreement: Agreement | None
    damaged: tuple[DamagedLine, ...]
    sent: tuple[Sent, ...]
    rewrites: tuple[SimulatedRewrite, ...]


def replay_file(path: Path, count: Count, settings: Settings) -> ReplayedSession:
    """Replays under every policy; keeps the first policy's requests.

    Raises BadRequest without a recording, or without an answer of a model.
    """
    conversation, damaged = _heard(path, count)
    return _replay(conversation, settings, damaged)


def sent_last(path: Path, count: Count, settings: Settings) -> Prompt:
    """Returns the first policy's last request, without system text and tools.

    Raises as `replay_file`.
    """
    conversation, _ = _heard(path, count)
    policy = policies()[settings.policies[0]]
    return last_prompt(conversation, policy, settings.window, settings.rates, settings.rules)


def _heard(path: Path, count: Count) -> tuple[Conversation, tuple[DamagedLine, ...]]:
    transcript = open_transcript(path)
    listener = Listener(count)
    damaged = []
    for entry in transcript.entries:
        match entry:
            case DamagedLine():
                damaged.append(entry)
            case Compacted():
                listener.compacted()
            case _:
                listener.hear(entry)
    name, cwd = visible(transcript.name), transcript.cwd
    conversation = listener.conversation(name, transcript.format, cwd)
    if not conversation.requests:
        raise BadRequest(f"{path} holds no answer of a model", "path")
    return conversation, tuple(damaged)


def _replay(
    conversation: Conversation, settings: Settings, damaged: tuple[DamagedLine, ...]
) -> ReplayedSession:
    known, needs, rules = policies(), needs_of(conversation), settings.rules
    window, rates = settings.window, settings.rates
    runs = [
        simulate(conversation, known[name], window, rates, needs=needs, rules=rules)
        for name in settings.policies
    ]
    return ReplayedSession(
        conversation.name,
        conversation.format,
        len(conversation.requests),
        _recorded(conversation, settings.rates),
        tuple(tally(run, rules) for run in runs),
        _agreement(conversation, known["manual"], settings),
        damaged,
        runs[0].sent,
        runs[0].rewrites,
    )


def tally(run: SimulatedRun, rules: CacheRules = USUAL) -> PolicyTally:
    memory = run.memory
    return PolicyTally(
        run.policy,
        run.cost,
        len(run.sent),
        sum(sent.prompt for sent in run.sent),
        sum(sent.read for sent in run.sent),
        max(sent.prompt for sent in run.sent),
        run.over,
        len(run.rewrites),
        run.summaries,
        Counter(rewrite.cause for rewrite in run.rewrites),
        _breaks(run, rules),
        memory.far,
        memory.whole,
        memory.view,
        memory.ledger,
        memory.reach,
        memory.failures,
        memory.failures_kept,
        memory.constraints,
        memory.constraints_kept,
        memory.prose,
        memory.prose_kept,
        _runways(run),
        [rewrite.compression for rewrite in run.rewrites],
        run.verbatim,
        run.alike,
    )


def _runways(run: SimulatedRun) -> list[int]:
    steps = [run.sent[0].step, *(rewrite.step for rewrite in run.rewrites)]
    return [after - before for before, after in pairwise(steps)]


def _breaks(run: SimulatedRun, rules: CacheRules) -> Counter[str]:
    rewritten = {rewrite.step for rewrite in run.rewrites}
    causes: Counter[str] = Counter()
    for before, now in zip(run.sent, run.sent[1:], strict=False):
        if rules.left(Usage(before.uncached, before.read, before.write)) - now.read < BREAK:
            continue
        if now.step in rewritten:
            causes["rewrite"] += 1
        elif now.at - before.at > rules.short:
            causes["expired"] += 1
        else:
            causes["lookback"] += 1
    return causes


def _recorded(conversation: Conversation, rates: Rates) -> float | None:
    usages = [request.usage for request in conversation.requests if request.usage is not None]
    if not usages:
        return None
    return recorded_cost(sum(usages, Usage()), rates)


def _agreement(conversation: Conversation, manual: Policy, settings: Settings) -> Agreement | None:
    if all(request.usage is None for request in conversation.requests):
        return None
    asked = [one.model for one in conversation.messages if one.role == "assistant"]
    own = settings.recorded(mode(asked)) if settings.recorded and asked else None
    rules = own or USUAL
    run = simulate(conversation, manual, WHOLE_WINDOW, settings.rates, rules=rules)
    return agreement(conversation, run, rules)


def totals(sessions: Iterable[ReplayedSession], names: Sequence[str]) -> tuple[PolicyTally, ...]:
    sums = {name: PolicyTally(name) for name in names}
    for session in sessions:
        for one in session.tallies:
            sums[one.policy].add(one)
    return tuple(sums.values())
