"""The numbers that were fitted on recorded sessions: whoever changes one has a study to show."""

from sidecar.core.plans import (
    arrivals,
    guard,
    knapsack,
    note,
    preserve,
    rebuild,
    told_failures,
    typed_text,
    value,
)
from sidecar.core.plans.plan import Room
from sidecar.core.plans.rebuild import Keeping
from sidecar.core.policies import scorers


def test_what_a_rewrite_keeps_is_what_was_fitted() -> None:
    assert Keeping() == Keeping(
        keep=10_000, density=3e-5, tail=0.005, first=4_000,
        each=2_500, typed=8_000, old=8_000, share=1.0,
        room=Room(
            asked=0, commands=0, prose=0, story=3_600, hunks=1_500, rules=13_000,
            todo=500, subtasks=200,
        ),
    )  # fmt: skip
    assert (rebuild.WORTHWHILE, arrivals.LEAST_RESULT) == (2_000, 800)
    assert (note.DIRECTIVE, note.BRIEF, told_failures.QUOTED) == (800, 400, 60)


def test_what_must_stay_has_the_shares_that_were_fitted() -> None:
    assert (guard.NEWEST_STEPS, guard.TYPED_SHARE, guard.GOAL_SURE) == (2, 0.10, 200)
    assert guard.RUNNING_SHARE == 0.05
    assert (guard.GOAL_SHARE, guard.MUST_SHARE, preserve.NAMED_SHARE) == (0.25, 0.45, 0.15)
    assert (typed_text.LEAST, typed_text.MARK, typed_text.FIRST_WORDS) == (200, 24, 120)
    assert (typed_text.BEGINNING, typed_text.RULES_SHARE, typed_text.ONE) == (240, 0.6, 4)


def test_chances_are_those_that_were_counted() -> None:
    sums = {source: [round(sum(row), 3) for row in rows] for source, rows in value.CHANCE.items()}
    assert sums == {
        "result": [0.125, 0.78, 0.835, 1.26],
        "call": [0.747, 1.178, 1.517, 2.192],
        "prose": [0.815, 1.638, 2.2, 2.29],
        "typed": [1.02, 2.2, 2.05, 2.31],
    }
    ages = {
        source: [round(sum(column), 3) for column in zip(*rows, strict=True)]
        for source, rows in value.CHANCE.items()
    }
    assert ages == {
        "result": [0.628, 0.556, 0.616, 0.499, 0.348, 0.236, 0.117],
        "call": [1.06, 1.113, 1.118, 0.973, 0.685, 0.469, 0.216],
        "prose": [1.35, 1.25, 1.25, 1.187, 0.925, 0.653, 0.328],
        "typed": [1.28, 1.41, 1.43, 1.34, 1.11, 0.82, 0.19],
    }
    assert (value.AGES, value.USES) == ((3, 8, 15, 30, 60, 120), (0, 1, 3))


def test_chances_of_need_are_those_that_were_counted() -> None:
    assert {kind: round(sum(row), 3) for kind, row in value.NEED.items()} == {
        "edit": 2.41, "stale edit": 1.138, "read": 1.15, "stale read": 0.43,
        "shell": 0.678, "tool": 0.279, "prose": 0.271,
    }  # fmt: skip
    assert [round(sum(column), 3) for column in zip(*value.NEED.values(), strict=True)] == [
        1.355, 1.08, 1.253, 1.1, 0.861, 0.529, 0.178,
    ]  # fmt: skip
    assert value.NEED_AGES == (2, 5, 10, 20, 40, 80)
    assert (rebuild.IMAGES_SHARE, rebuild.IMAGE_LEAST) == (0.2, 3e-5)
    assert (knapsack.NAMED, rebuild.KEEP_SHARE) == (0.15, 0.132)


def test_results_are_ranked_as_the_docs_of_evict_say() -> None:
    assert scorers.RANKS == {
        "list": 0.1, "search": 0.2, "read": 0.4, "web": 0.5, "other": 0.5, "run": 0.6, "edit": 0.8,
    }  # fmt: skip
    assert scorers.LIVES == {
        "list": 10, "search": 15, "run": 25, "other": 25, "web": 30, "read": 40, "edit": 80,
    }  # fmt: skip
    assert scorers.WEIGHTS == {"lru": 0.35, "priority": 0.25, "ttl": 0.15, "semantic": 0.25}
    assert (scorers.FAILED, scorers.NEAR, scorers.SHORTEST, scorers.LOOKAHEAD) == (0.9, 0.9, 200, 4)
