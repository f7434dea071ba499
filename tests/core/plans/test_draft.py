"""Shortening items and adding up plans."""

from dataclasses import replace

import pytest

from sidecar.core.conversation.call_outcome import placeholder
from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import Item, call_unit
from sidecar.core.parts import Output, PartId, ToolCompleted, ToolPart
from sidecar.core.plans.draft import (
    CUT_NOTE_TOKENS,
    NOTE,
    Edits,
    below,
    cut_to,
    draft,
    evicted,
    forced,
    leave_out,
    message_count,
    placeholder_tokens,
    tail_start,
)
from sidecar.core.plans.plan import REWRITE_ID, Summary
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped, Placeholder, Truncated, shorten
from tests.core.notation import history as messages
from tests.core.policies.situations import history, situation, standing

USED = 100_000
NOTE_TOKENS = tokens_of(NOTE)


def test_a_plan_adds_up():
    given = situation("U10 L500 R50 C1000; C1000; C1000; C1000", USED, revision=7)
    edits = leave_out(given.items[1:4], frozenset(), "old")
    plan = draft(given, "test", "budget", edits, "why", summary=Summary("fresh", 1, 150))
    assert plan is not None
    assert (plan.revision, plan.first, plan.retired) == (7, 1, ("p1",))
    assert [c.part_id for c in plan.changes] == ["p2", "p3"]
    assert plan.tokens_before == USED
    assert plan.tokens_after == USED - 500 - 50 - 1000 + NOTE_TOKENS + 150
    assert plan.reason == f"{USED} to {plan.tokens_after} tokens: why"
    assert plan.note == NOTE
    assert REWRITE_ID in plan.note
    assert plan.figures["freed"] == 1550


def test_a_plan_that_drops_nothing_has_no_note():
    given = situation("U10 C1000; C1000; C1000; C1000", USED)
    change = evicted(given.items[1], "old")
    assert change is not None
    plan = draft(given, "test", "budget", Edits((change,)), "why")
    assert plan is not None
    assert (plan.note, plan.note_tokens) == ("", 0)


def test_the_ledger_rides_along_where_parts_are_dropped():
    given = situation("U10 C1k!:bash(make) C1k:bash(ls) L20 C1k; C1000; C1000", USED)
    failing, worked, _, edit, *_ = given.items[1:]
    given.items[4] = edit = replace(
        edit, unit=replace(edit.unit, deeds=(TouchedFile("src/a.py", "edited"),))
    )
    edits = leave_out([failing, worked], frozenset(), "old")
    plan = draft(given, "test", "budget", edits, "why")
    assert plan is not None
    head, *told = plan.note.splitlines()
    assert head == NOTE
    assert told[:2] == ["Changed: src/a.py", "Failed, do not repeat:"]
    assert told[2].startswith("- bash make → ")
    assert told[3:] == ["Worked:", "- ls"]
    assert plan.note_tokens == tokens_of(plan.note)
    assert plan.tokens_after == USED - 2_000 + plan.note_tokens


def test_a_retired_note_is_followed_by_another_even_where_nothing_else_is_dropped():
    given = situation("U10 L900 C1k-!:bash(make) R50 C1000; C1000; C1000", USED)
    change = evicted(given.items[4], "old")
    assert change is not None
    plan = draft(given, "test", "budget", Edits((change,), (PartId("p1"),)), "why")
    assert plan is not None
    assert "- bash make → " in plan.note


@pytest.mark.parametrize(("tokens", "planned"), [(NOTE_TOKENS, False), (NOTE_TOKENS + 1, True)])
def test_a_plan_must_make_the_prompt_smaller(tokens, planned):
    given = situation(f"U10 A{tokens}; C1; C1; C1", USED)
    edits = leave_out(given.items[1:2], frozenset(), "old")
    assert (draft(given, "test", "user", edits, "why") is not None) is planned


def test_nothing_to_change_is_no_plan():
    assert draft(situation("U10"), "test", "user", Edits(()), "why") is None


def test_leaving_out_spares_what_it_must_and_does_nothing_twice():
    items = history("U10 L20 C100 C100- A5")
    edits = leave_out(items, {PartId("p0")}, "old")
    assert [c.part_id for c in edits.changes] == ["p2", "p4"]
    assert edits.retired == ("p1",)


@pytest.mark.parametrize(
    ("window", "limit", "reserve", "at"),
    [
        (200_000, 192_000, 20_000, 180_000),
        (200_000, 168_000, 20_000, 168_000),
        (64_000, 60_000, 33_000, 31_000),
        (40_000, 36_000, 33_000, 10_000),
    ],
)
def test_a_reserve_leaves_a_quarter_of_the_window(window, limit, reserve, at):
    assert below(standing(0, window=window, limit=limit), reserve) == at


def test_the_provider_comes_before_the_user():
    assert forced(standing(0, overflow=True, asked=True)) == "overflow"
    assert forced(standing(0, asked=True)) == "user"
    assert forced(standing(0)) is None


@pytest.mark.parametrize("text", ["", "ok", "short\n" * 2_000, "e" * 4_000])
def test_a_placeholder_is_estimated_without_its_part(text):
    state = ToolCompleted(Output(text), 0, 1)
    part = ToolPart(PartId("part-0001"), "c", "read_file", {"path": "src/pkg/module.py"}, state)
    unit = call_unit(part, messages("A0")[0], 0, 0)
    estimate = placeholder_tokens(Item(unit, 10_000, 10))
    assert estimate == pytest.approx(tokens_of(placeholder(part)), abs=10)


def test_a_result_that_is_shorter_than_its_placeholder_stays():
    items = history("C40 C2k C2k# C2k- A2k")
    assert [evicted(item, "old") is not None for item in items] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_a_cut_text_comes_to_what_was_said():
    item = history("C10k")[0]
    change = cut_to(item, 2_800, "both", "long")
    assert change is not None
    assert (change.tokens_before, change.tokens_after) == (10_000, 2_810)
    assert isinstance(change.shown, Truncated)
    left = shorten(item.unit.text, change.shown, "p0")
    whole = len(item.unit.text) / 9_990
    assert len(left) / whole == pytest.approx(2_800, abs=2 * CUT_NOTE_TOKENS)


@pytest.mark.parametrize(("notation", "most"), [("C2810", 2_800), ("C10k", 99), ("U2800", 2_800)])
def test_what_fits_is_not_cut(notation, most):
    assert cut_to(history(notation)[0], most, "both", "long") is None


def test_an_image_cannot_be_cut():
    item = history("U2k")[0]
    image = Item(item.unit, 50_000)
    assert cut_to(image, 1_000, "both", "long") is None


@pytest.mark.parametrize(
    ("room", "start"), [(0, 9), (49, 9), (50, 7), (99, 7), (100, 5), (10_000, 1)]
)
def test_a_tail_begins_between_steps_and_stops_at_a_note(room, start):
    items = history("L20 U10 C10; C10 C10; C20 C30; C20 C30")
    assert tail_start(items, room) == start


def test_messages_are_counted_as_the_model_gets_them():
    assert message_count(history("L9 U10 X5 R5 C10 C10; A5 U5 C10-")) == 1 + 2 + 1 + 1


def test_dropped_and_evicted_are_what_they_say():
    item = history("C2k")[0]
    change = evicted(item, "why")
    assert change is not None
    assert change.shown == Placeholder()
    assert change.reason == "why"
    assert leave_out([item], frozenset(), "gone").changes[0].shown == Dropped()
