"""Replays recordings under several policies, and sums results."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Usage
from sidecar.core.plans.plan import Policy, Rates
from sidecar.core.policies import policies
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prompt import Prompt
from sidecar.core.prompt.tokens import Count
from sidecar.core.text.visible import visible
from sidecar.replay.bill import BilledRequest
from sidecar.replay.conversation import Conversation, Listener
from sidecar.replay.importers.recognition import open_transcript, read_bill
from sidecar.replay.measures.needs import needs_of
from sidecar.replay.measures.verbatim import VerbatimTally
from sidecar.replay.money.session_money import (
    Charge,
    PriceOf,
    Pricing,
    SessionMoney,
    charges,
    model_of,
    session_money,
)
from sidecar.replay.simulate import (
    Sent,
    SimulatedRewrite,
    SimulatedRun,
    last_prompt,
    simulate,
    static_of,
)
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

    `recorded`: rules that held for a recorded model, `None` for the usual ones. With `priced`, each
    session has the prices and rules of the model that it was recorded with; `rates` and `rules` are
    then for models without a known price.
    """

    policies: tuple[str, ...]
    window: int
    rates: Rates
    rules: CacheRules = USUAL
    recorded: Callable[[str], CacheRules | None] | None = None
    priced: PriceOf | None = None

    @property
    def pricing(self) -> Pricing:
        return Pricing(self.rates, self.priced)

    def rules_of(self, model: str) -> CacheRules:
        """Rules that held for a recorded model."""
        return (self.recorded(model) if self.recorded else None) or USUAL

    def of(self, model: str) -> "Settings":
        """Settings by which a session of this model is played."""
        rates = None if self.priced is None else self.priced(model)
        return self if rates is None else replace(self, rates=rates, rules=self.rules_of(model))


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

    @property
    def with_rereads(self) -> float:
        """USD with what it costs to read again text that an edit needed and that was gone."""
        return self.cost + self.verbatim.reread_cost

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
    """A session's replay; `money`: `None` if the recording does not say what was used."""

    name: str
    format: str
    requests: int
    money: SessionMoney | None
    tallies: tuple[PolicyTally, ...]
    agreement: Agreement | None
    damaged: tuple[DamagedLine, ...]
    sent: tuple[Sent, ...]
    rewrites: tuple[SimulatedRewrite, ...]

    @property
    def recorded(self) -> float | None:
        """USD that the recording comes to, subagents included."""
        return None if self.money is None else sum(one.usd for one in self.money.charges)


@dataclass(frozen=True, slots=True)
class Subagents:
    """A file with subagents' requests alone, which are paid for and not played."""

    name: str
    charges: tuple[Charge, ...]


def replay_file(path: Path, count: Count, settings: Settings) -> ReplayedSession | Subagents:
    """Replays under every policy; keeps the first policy's requests.

    Raises BadRequest without a recording, or without an answer of a model.
    """
    conversation, damaged = _heard(path, count)
    bill = read_bill(path)
    if conversation.requests:
        return _replay(conversation, settings, damaged, bill)
    if bill:
        return Subagents(conversation.name, charges(bill, settings.pricing))
    raise _silent(path)


def sent_last(path: Path, count: Count, settings: Settings) -> Prompt:
    """Returns the first policy's last request, without system text and tools.

    Raises as `replay_file`.
    """
    conversation, _ = _heard(path, count)
    if not conversation.requests:
        raise _silent(path)
    policy, settings = policies()[settings.policies[0]], settings.of(model_of(conversation))
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
    return listener.conversation(name, transcript.format, cwd), tuple(damaged)


def _silent(path: Path) -> BadRequest:
    return BadRequest(f"{path} holds no answer of a model", "path")


def _replay(
    conversation: Conversation,
    settings: Settings,
    damaged: tuple[DamagedLine, ...],
    bill: Sequence[BilledRequest],
) -> ReplayedSession:
    model = model_of(conversation)
    known, needs, own = policies(), needs_of(conversation), settings.of(model)
    runs = [
        simulate(conversation, known[name], own.window, own.rates, needs=needs, rules=own.rules)
        for name in settings.policies
    ]
    static = static_of(conversation, own.window)
    return ReplayedSession(
        conversation.name,
        conversation.format,
        len(conversation.requests),
        session_money(conversation, bill, settings.pricing, own.rules, static),
        tuple(tally(run, own.rules) for run in runs),
        _agreement(conversation, known["manual"], own, settings.rules_of(model)),
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


def _agreement(
    conversation: Conversation, manual: Policy, settings: Settings, rules: CacheRules
) -> Agreement | None:
    if all(request.usage is None for request in conversation.requests):
        return None
    run = simulate(conversation, manual, WHOLE_WINDOW, settings.rates, rules=rules)
    return agreement(conversation, run, rules)


def totals(sessions: Iterable[ReplayedSession], names: Sequence[str]) -> tuple[PolicyTally, ...]:
    sums = {name: PolicyTally(name) for name in names}
    for session in sessions:
        for one in session.tallies:
            sums[one.policy].add(one)
    return tuple(sums.values())
