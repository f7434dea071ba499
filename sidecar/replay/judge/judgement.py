"""The result of judging: score, gate, JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, Usage
from sidecar.core.prompt.pricing import money
from sidecar.replay.judge.judge_questions import GATE, Judged, score


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session with verdicts on all questions."""

    name: str
    requests: int
    rewrites: int
    judged: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A session without judgement, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on all sessions; `cost`: USD, `None` if unknown."""

    model: str
    policy: str
    window: int
    sessions: tuple[JudgedSession, ...]
    failed: tuple[Unjudged, ...]
    usage: Usage
    cost: Decimal | None

    @property
    def score(self) -> float | None:
        judged = [one for session in self.sessions for one in session.judged]
        return score(judged) if judged else None

    @property
    def passed(self) -> bool:
        return self.score is not None and self.score >= GATE and not self.failed

    def by_kind(self) -> Mapping[str, tuple[int, float]]:
        grouped: dict[str, list[Judged]] = {}
        for session in self.sessions:
            for one in session.judged:
                grouped.setdefault(one.question.kind, []).append(one)
        return {kind: (len(judged), score(judged)) for kind, judged in grouped.items()}

    def conclusion(self) -> str:
        if self.score is None:
            return "No session was judged: the gate is not passed."
        told = f"Fidelity {self.score:.3f}, judged by {self.model}"
        if self.score < GATE:
            return f"{told}: below the gate of {GATE}. The thread gets lost."
        if self.failed:
            many = "a session" if len(self.failed) == 1 else f"{len(self.failed)} sessions"
            return f"{told}, but {many} could not be judged: the gate is not passed."
        return f"{told}: at the gate of {GATE} or above."


def judgement_json(judgement: Judgement) -> JsonObject:
    found = judgement.score
    return {
        "model": judgement.model,
        "policy": judgement.policy,
        "window": judgement.window,
        "gate": GATE,
        "score": None if found is None else round(found, 4),
        "passed": judgement.passed,
        "kinds": {
            kind: {"questions": number, "score": round(worth, 4)}
            for kind, (number, worth) in judgement.by_kind().items()
        },
        "sessions": [_session(session) for session in judgement.sessions],
        "failed": [{"session": one.name, "why": one.why} for one in judgement.failed],
        "usage": {**asdict(judgement.usage)},
        "cost": None if judgement.cost is None else money(judgement.cost),
    }


def _session(session: JudgedSession) -> JsonObject:
    questions: list[Json] = [
        {
            "question": one.question.id,
            "kind": one.question.kind,
            "text": one.question.text,
            "evidence": one.question.evidence,
            "full": one.full,
            "compacted": one.compacted,
            "verdict": one.verdict.ruling,
            "why": one.verdict.why,
        }
        for one in session.judged
    ]
    return {
        "session": session.name,
        "requests": session.requests,
        "rewrites": session.rewrites,
        "score": round(score(session.judged), 4),
        "questions": questions,
    }
