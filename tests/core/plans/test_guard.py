"""What no rewrite may touch, and the thinking that goes with an edit."""

from dataclasses import replace

import pytest

from sidecar.core.parts import PartId
from sidecar.core.plans.guard import goal_parts, running_turn, untouchable, with_thinking_dropped
from sidecar.core.plans.plan import Change, Situation
from sidecar.core.prompt.visibility import Dropped
from tests.core.policies.situations import history, parts, situation


@pytest.mark.parametrize(
    ("notation", "kept"),
    [
        ("U10 C100; C100; C100; C100", [0, 3, 4]),
        ("U10 X5 C100; C100; C100; U10 X5 C100; C100; C100", [5, 6, 8, 9]),
        ("U10 C100*; C100~; A5; C100; C100", [0, 1, 2, 4, 5]),
        ("L50 C10; C10 L20; C10", [2, 4]),
        ("L50*; C10; C10; C10", [0, 2, 3]),
        ("", []),
    ],
)
def test_the_newest_message_the_newest_steps_pinned_and_running_parts_stay(notation, kept):
    assert untouchable(situation(notation)) == set(parts(kept))


def test_what_is_preserved_stays():
    given = situation("U10 C100; C100; C100; C100", preserved=frozenset({"p1"}))
    assert "p1" in untouchable(given)


def test_a_message_that_has_just_come_does_not_end_the_protection_of_the_last_steps():
    given = situation("U10 C100; C100; C100; C100 U10", step=4)
    assert untouchable(given) == set(parts([3, 4, 5]))


def test_a_running_turn_stays_where_it_takes_a_twentieth_of_the_window_at_most():
    for tokens, kept in ((5_000, [3, 4]), (5_001, [])):
        given = situation(f"U10 C9k; C9k; U10 C5000; C{tokens}")
        assert {"p4", "p5"} & running_turn(given) == ({"p4", "p5"} if kept else set())
        assert "p1" not in running_turn(given)


def goal(given: Situation) -> frozenset[PartId]:
    return goal_parts(given, untouchable(given))


@pytest.mark.parametrize(
    ("notation", "kept"),
    [
        ("", []),
        ("U10250 C100; A5; U10 C100; C100", [0]),
        ("U10251 C100; A5; U10 C100; C100", []),
        # What is typed now may be so long that only one of both can stay.
        ("U10k C100; A5; U7k C400; C400", [0]),
        ("U10k C100; A5; U8k C400; C400", []),
        # What is short always stays.
        ("U200 C100; A5; U30k C400; C400", [0]),
        ("U201 C100; A5; U30k C400; C400", []),
        ("U9k- C100; A5; U10 C100; C100", []),
    ],
)
def test_the_first_message_stays_where_it_leaves_room_to_work(notation, kept):
    """The room for history is 41,000 tokens: 10,250 may be the goal, 18,450 all that stays."""
    assert goal(situation(notation, window=59_000)) == set(parts(kept))


def test_what_was_typed_first_stays_where_what_was_attached_to_it_does_not_fit():
    items = history("U25k U9k U1k C100; A5; U10 C100; C100")
    for item in items[:3]:
        item.unit = replace(item.unit, message_id=items[0].unit.message_id)
    assert goal(situation(items, window=59_000)) == set(parts([1, 2]))


def change(part: str) -> Change:
    return Change(PartId(part), Dropped(), "test", 100, 0)


def check(notation: str, edited: list[int], expected: list[int], **given: object) -> None:
    changes = with_thinking_dropped(map(change, parts(edited)), history(notation), **given)
    assert [c.part_id for c in changes] == parts(expected)
    assert all(isinstance(c.shown, Dropped) for c in changes)


def test_thinking_after_the_first_edit_goes_and_thinking_before_it_stays():
    check("U10 R5 C100; R5 C100; R5 C100", [4], [4, 5])


def test_changes_are_given_in_prompt_order():
    check("U10 R5 C100; R5 C100; R5 C100", [6, 2], [2, 3, 5, 6])


def test_a_retired_note_is_an_edit():
    check("U10 R5 C10; L50; R5 C100", [], [4], retired=(PartId("p3"),))


def test_thinking_that_is_gone_is_not_dropped_again():
    check("U10 R5 C100; R5- C100", [2], [2])


def test_without_an_edit_nothing_is_added():
    check("U10 R5 C100; R5 C100", [], [])
