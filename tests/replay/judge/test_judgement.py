"""The gate: when it is passed, and what is said."""

from decimal import Decimal

import pytest

from sidecar.core.parts import Usage
from sidecar.replay.judge.judge_questions import Judged, Verdict
from sidecar.replay.judge.judgement import JudgedSession, Judgement, Unjudged, judgement_json
from sidecar.replay.judge.questions import Question


def session(name: str, same: int, lost: int) -> JudgedSession:
    rulings = (*["same"] * same, *["lost"] * lost)
    judged = tuple(
        Judged(
            Question(f"q{n}", "goal" if n == 0 else "next", "what?", "log"),
            "all",
            "some",
            Verdict(f"q{n}", ruling),  # type: ignore[arg-type]
        )
        for n, ruling in enumerate(rulings)
    )
    return JudgedSession(name, 30, 2, judged)


def judgement(*sessions: JudgedSession, failed: int = 0) -> Judgement:
    unjudged = tuple(Unjudged(f"f{n}", "because") for n in range(failed))
    return Judgement(
        "m", "economic", 60_000, sessions, unjudged, Usage(5, output=2), Decimal("0.5")
    )


@pytest.mark.parametrize(
    ("same", "lost", "failed", "passed", "word"),
    [
        (17, 3, 0, True, "Fidelity 0.850, judged by m: at the gate of 0.85 or above."),
        (16, 3, 0, False, "Fidelity 0.842, judged by m: below the gate of 0.85."),
        (20, 0, 1, False, "but a session could not be judged: the gate is not passed."),
        (20, 0, 2, False, "but 2 sessions could not be judged"),
    ],
)
def test_the_gate_stands_at_85_per_cent_of_every_session(
    same: int, lost: int, failed: int, passed: bool, word: str
) -> None:
    made = judgement(session("a", same, lost), failed=failed)
    assert made.passed is passed
    assert word in made.conclusion()


def test_without_a_judged_session_nothing_is_passed() -> None:
    made = judgement(failed=1)
    assert (made.score, made.passed) == (None, False)
    assert made.conclusion() == "No session was judged: the gate is not passed."


def test_the_score_counts_questions_not_sessions_and_is_told_by_kind() -> None:
    made = judgement(session("a", 1, 0), session("b", 1, 2))
    assert made.score == 0.5
    assert made.by_kind() == {"goal": (2, 1.0), "next": (2, 0.0)}


def test_json_has_all_of_it() -> None:
    found = judgement_json(judgement(session("a", 2, 1), failed=1))
    assert (found["score"], found["gate"], found["passed"]) == (0.6667, 0.85, False)
    assert found["kinds"] == {
        "goal": {"questions": 1, "score": 1.0},
        "next": {"questions": 2, "score": 0.5},
    }
    assert found["failed"] == [{"session": "f0", "why": "because"}]
    assert found["cost"] == "0.5"
    assert found["usage"]["input"] == 5  # type: ignore[index, call-overload]
