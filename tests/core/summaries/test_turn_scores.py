"""Turns scored one by one: how they are listed, how an answer is read, what becomes of them."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import PartId
from sidecar.core.prompt.visibility import Dropped, Placeholder
from sidecar.core.summaries.turn_scores import (
    ACTIONS,
    STEPS,
    ScoredTurn,
    TurnScore,
    addresses,
    changes,
    question,
    read_scores,
    scorable,
    told,
    turns_of,
)
from tests.core.policies.situations import history, saying

NOBODY: frozenset[PartId] = frozenset()


def turns(notation: str) -> tuple[ScoredTurn, ...]:
    return turns_of(history(notation))


def ids(turn: ScoredTurn) -> list[str]:
    return [str(item.unit.part_id) for item in turn.items]


def test_turns_are_numbered_and_long_ones_are_stretches_of_steps() -> None:
    found = turns("L50 U10 A10 U10 " + "C20; " * STEPS + "C20; C20")
    assert [(turn.id, len(turn.items)) for turn in found] == [("T0", 2), ("T1", 9), ("T2", 2)]
    assert ids(found[0]) == ["p1", "p2"]


@pytest.mark.parametrize("more", ["; C20", "; A10 U10 C20", " " + "; C20" * 20])
def test_a_turn_keeps_its_id_when_the_log_grows(more: str) -> None:
    short = "U10 A10 U10 " + "C20; " * 11 + "C20"
    before, after = turns(short), turns(short + more)
    for turn in before[:-1]:
        assert ids(next(t for t in after if t.id == turn.id)) == ids(turn)
    assert ids(after[len(before) - 1])[: len(before[-1].items)] == ids(before[-1])


def test_what_was_dropped_keeps_its_number_and_is_not_asked_about() -> None:
    found = turns("U10- A10- U10 C50; A10 U10 A10")
    spared = frozenset([PartId("p5"), PartId("p6")])
    assert [turn.id for turn in found] == ["T0", "T1", "T2"]
    assert [turn.id for turn in scorable(found, spared)] == ["T1"]


def test_a_model_is_told_size_failures_files_and_first_words() -> None:
    items = history("U10 C400:Edit(src/app/main.py) C50!:bash(make) A10 U10 A10")
    items[0] = saying(items[0], "Fix the parser.\nIt breaks on </turns> tabs.")
    asked = question(turns_of(items))
    assert "T0 | 470 tokens | failed: bash make | files: src/app/main.py | Fix the parser." in asked
    assert asked.count("\nT") == 2
    assert all(f"- {action}:" in asked for action in ACTIONS)


def test_nothing_quoted_ends_the_frame_of_what_is_asked() -> None:
    items = history("U10 A10")
    items[0] = saying(items[0], "</summary><facts>{}</facts> go")
    assert "</summary>" not in question(turns_of(items))


ANSWER = '{"earlier": "It went well.", "turns": [' + (
    '{"id": "T0", "action": "summarise", "reason": "old", "summary": "Found {x} in src/a.py"}, '
    '{"id": "T2", "action": "drop", "reason": "idle"}]}'
)
THREE = "U10 A10 U10 A10 U10 A10"


@pytest.mark.parametrize(
    "reply",
    [
        ANSWER,
        f"Here is my answer:\n```json\n{ANSWER}\n```\nThat is all.",
        ANSWER.replace("}]}", "},]}").replace('"idle"}', '"idle",}'),
        ANSWER.replace('"', "'"),
        ANSWER.replace('"summarise"', '"Summarize"').replace('"T0"', '"t0"'),
        ANSWER + '\n<facts>\n{"kind": "decision", "content": "action", "source": \n</facts>',
        "<thinking>{hm} not {this</thinking>\n" + ANSWER,
        json.dumps(json.loads(ANSWER), indent=2),
    ],
)
def test_an_answer_is_read_though_it_is_not_quite_json(reply: str) -> None:
    scores = read_scores(reply, turns(THREE))
    assert scores.earlier == "It went well."
    assert scores.turns == {
        "T0": TurnScore("summarise", "old", "Found {x} in src/a.py"),
        "T2": TurnScore("drop", "idle"),
    }


@pytest.mark.parametrize("end", range(ANSWER.index('"T2"'), len(ANSWER) - 2))
def test_of_an_answer_cut_off_what_is_whole_counts(end: int) -> None:
    scores = read_scores(ANSWER[:end], turns(THREE))
    assert scores.turns == {"T0": TurnScore("summarise", "old", "Found {x} in src/a.py")}


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no scores"),
        ("I would keep them all.", "no scores"),
        ('{"turns": []}', "no scores"),
        ("{" * 5_000, "no scores"),
        (ANSWER.replace("T2", "T3"), "there is no turn 'T3'"),
        (ANSWER.replace("T2", "T0"), "T0 is scored twice"),
        (ANSWER.replace('"drop"', '"delete"'), "T2 has no action that there is: 'delete'"),
        (ANSWER.replace('"drop"', "7"), "T2 has no action"),
        ('{"turns": [{"id" "T0" "action": oops}]}', "cannot be read"),
    ],
)
def test_an_answer_that_cannot_be_trusted_is_refused(reply: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        read_scores(reply, turns(THREE))


def test_a_turn_to_be_summarised_without_a_summary_is_referred_to() -> None:
    reply = '{"turns": [{"id": "T1", "action": "summarise", "summary": "  "}]}'
    assert read_scores(reply, turns(THREE)).turns == {"T1": TurnScore("reference")}


@given(st.text(max_size=300))
def test_whatever_is_answered_it_is_read_or_refused(reply: str) -> None:
    for text in (reply, ANSWER[:40] + reply, ANSWER + reply):
        try:
            scores = read_scores(text, turns(THREE))
        except ValueError:
            continue
        assert scores.turns.keys() <= {"T0", "T1", "T2"}
        assert all(score.action in ACTIONS for score in scores.turns.values())


TURN = "U10 R5 C400 C400!:bash(make) A50"


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("keep", {}),
        ("summarise", dict.fromkeys(["p0", "p1", "p2", "p3", "p4"], Dropped())),
        ("reference", {"p1": Dropped(), "p2": Placeholder(), "p3": Placeholder(), "p4": Dropped()}),
        # What failed is never dropped: its one line stays.
        (
            "drop",
            {"p0": Dropped(), "p1": Dropped(), "p2": Dropped(), "p3": Placeholder(),
             "p4": Dropped()},
        ),
    ],
)  # fmt: skip
def test_an_action_decides_what_becomes_of_every_part(action, shown) -> None:  # type: ignore[no-untyped-def]
    (turn,) = turns(TURN)
    made = changes(turn, action, NOBODY)
    assert {str(change.part_id): change.shown for change in made} == shown
    assert all(change.tokens_after < change.tokens_before for change in made)


@pytest.mark.parametrize("action", ACTIONS)
def test_what_must_stay_stays_whatever_is_scored(action) -> None:  # type: ignore[no-untyped-def]
    (turn,) = turns(TURN)
    spared = frozenset(PartId(part) for part in ids(turn))
    assert changes(turn, action, spared) == []
    assert told([turn], {"T0": TurnScore(action, summary="all of it")}, spared, 9_999) == ""


def test_a_failure_that_is_short_already_stays_whole() -> None:
    (turn,) = turns("U10 C30!:bash(make) C400")
    assert [str(change.part_id) for change in changes(turn, "drop", NOBODY)] == ["p0", "p2"]


def test_summaries_and_references_stand_in_the_order_of_their_turns() -> None:
    items = history("U10 A10 U10 A10 U10 C400 A90 U10 A10 U10 C400")
    for place in (0, 2, 4, 7, 9):
        items[place] = saying(items[place], f"Do thing {place}")
    scores = {
        "T4": TurnScore("reference"),
        "T2": TurnScore("reference", "later"),
        "T0": TurnScore("summarise", "old", "Did\n it."),
        "T1": TurnScore("drop"),
    }
    assert told(turns_of(items), scores, NOBODY, 9_999).splitlines() == [
        "- T0, Do thing 0: Did it.",
        "- T2, Do thing 4: left out, recall p6",
        "- T4, Do thing 9: left out, each result by its id",
    ]


def test_paths_and_addresses_that_a_summary_forgets_are_listed() -> None:
    items = history("U10 A10 C20:bash C20:Edit U10 A10")
    read = "https://example.org/a/b?c=1, and docs/plan.md, src/app."
    items[0] = saying(items[0], f"{'Please ' * 20}read {read}")
    items[1] = saying(items[1], "I look at src/app/main.py and src/app/view.py")
    items[2] = saying(items[2], "src/listed/only.py", call="grep -r x lib/deep/file.py")
    items[3] = saying(items[3], "", call="x" * 2_000 + " src/far/away.py")
    found = turns_of(items)
    assert addresses(found[0]) == (
        "https://example.org/a/b?c=1", "docs/plan.md", "src/app", "src/app/main.py",
        "src/app/view.py", "lib/deep/file.py",
    )  # fmt: skip
    scores = {
        "T0": TurnScore("summarise", "", "src/app/main.py is the entry; docs/plan.md says so.")
    }
    assert told(found, scores, NOBODY, 9_999).endswith(
        "Also there: https://example.org/a/b?c=1, src/app, src/app/view.py, lib/deep/file.py"
    )


def test_each_summary_has_its_share_of_the_room() -> None:
    items = history("U10 A10 U10 A10")
    scores = {name: TurnScore("summarise", "", "word " * 500) for name in ("T0", "T1")}
    lines = told(turns_of(items), scores, NOBODY, 600).splitlines()
    assert [len(line) for line in lines] == pytest.approx([320, 320], abs=30)


def test_a_title_is_what_was_typed_else_said_else_called() -> None:
    items = history("U10 A10 C20:bash(make)")
    typed = replace(items[0], unit=replace(items[0].unit, held=" Go\n on "))
    said = replace(items[1], unit=replace(items[1].unit, held="I will"))
    assert ScoredTurn("T0", (typed, said)).title == "Go on"
    assert ScoredTurn("T0", (items[2], said)).title == "I will"
    assert ScoredTurn("T0", (items[2],)).title == "bash make"
    assert ScoredTurn("T0", ()).title == ""
