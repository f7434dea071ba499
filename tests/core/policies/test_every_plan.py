"""What holds for every plan of every preset, whatever the situation."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.ledger.units import Item, Unit, UnitKind, learn
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.plan import Plan, Policy, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.visibility import Cause, Dropped, Placeholder, Shown, Truncated
from sidecar.core.text.identifiers import NameIndex
from tests.core.policies.presets.test_documented_constants import NAMES
from tests.core.policies.situations import STATIC, is_note, situation, standing

pytestmark = pytest.mark.long

PRESETS = [policies()[name] for name in sorted(NAMES)]
CAUSES: list[Cause] = ["budget", "cold", "user", "overflow", "idle"]
OF_USER: list[UnitKind] = ["typed", "context"]
OF_MODEL: list[UnitKind] = ["reasoning", "prose", "call", "call", "call", "opaque"]
TOOLS = ["Read", "read_file", "grep", "bash", "skill", "edit"]
SHOWN: list[Shown | None] = [None] * 12 + [Placeholder(), Dropped(), Truncated("head", 900)]
WORDS = ["src/one.py", "src/two.py", "someName", "otherName", "nothing"]


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """Draw a history: turns of steps, some parts already shortened, pinned, failed or running."""
    found: list[Item] = []
    turn = 0

    def add(kinds: list[UnitKind], step: int, message: str) -> None:
        for kind in kinds:
            found.append(_item(draw, len(found), kind, turn, step, message))

    for step in range(draw(st.integers(0, 20))):
        if draw(st.integers(0, 12)) == 0:
            add(["ledger"], step, "")
        if step == 0 or draw(st.integers(0, 2)) == 0:
            turn += 1
            add(["typed", *draw(st.lists(st.sampled_from(OF_USER), max_size=1))], step, f"u{step}")
        add(draw(st.lists(st.sampled_from(OF_MODEL), min_size=1, max_size=4)), step, f"a{step}")
    return found


def _item(draw: st.DrawFn, index: int, kind: UnitKind, turn: int, step: int, message: str) -> Item:
    call = kind == "call"
    note = kind in NOTES
    tokens = draw(st.sampled_from([1, 40, 900, 4_000, 20_000, 60_000]))
    shown = None if note else draw(st.sampled_from(SHOWN))
    whole = tokens
    if isinstance(shown, Dropped):
        tokens = 0
    elif shown is not None:
        tokens = min(tokens, 300)
    text = draw(st.sampled_from(WORDS)) + "\n" + "some line of text\n" * min(whole // 4, 2_000)
    unit = Unit(
        PartId(f"p{index}"),
        MessageId(message),
        turn,
        step,
        kind,
        text,
        names=(text.partition("\n")[0],),
        call_names=tuple(draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True)))
        if call
        else (),
        tool=draw(st.sampled_from(TOOLS)) if call else "",
        argument=draw(st.sampled_from(WORDS)) if call else "",
        failed=call and draw(st.integers(0, 5)) == 0,
        running=call and draw(st.integers(0, 19)) == 0,
        at=draw(st.sampled_from([0, 1, 10**9])),
    )
    return Item(
        unit, tokens, min(10, tokens) if call else 0, shown, draw(st.integers(0, 9)) == 0, whole
    )


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Draw a situation whose totals fit its items."""
    listed = draw(items())
    names = NameIndex()
    for item in listed:
        learn(names, item.unit)
    used = STATIC + sum(item.tokens for item in listed)
    window = draw(st.sampled_from([32_000, 64_000, 200_000, 1_000_000]))
    step = max((item.unit.step for item in listed), default=-1) + 1
    kept = (
        draw(st.sets(st.sampled_from([i.unit.part_id for i in listed]), max_size=2))
        if listed
        else set()
    )
    return Situation(
        standing(used, window=window, now=10**12, messages=300, newest=used, requests=1),
        listed,
        names,
        step,
        revision=draw(st.integers(0, 9)),
        sent=draw(st.integers(0, len(listed))),
        protected_tools=frozenset({"bash"}),
        preserved=frozenset(kept),
    )


@pytest.mark.parametrize("policy", PRESETS, ids=lambda policy: policy.name)
@given(situation=situations(), cause=st.sampled_from(CAUSES))
@settings(max_examples=40, deadline=None)
def test_a_plan_touches_what_it_may_and_adds_up(
    policy: Policy, situation: Situation, cause: Cause
) -> None:
    before = [replace(item) for item in situation.items]
    plan = policy.plan(situation, cause)
    assert list(situation.items) == before
    assert policy.plan(situation, cause) == plan
    if plan is not None:
        _whole(plan, situation)
        _sums(plan, situation)
        cuts = policy.name == "open-interpreter" or "new outputs cut" in plan.reason
        _spared(plan, situation, new=cuts)
        _thinking(plan, situation)
        assert (plan.policy, plan.cause, plan.revision) == (policy.name, cause, situation.revision)
        assert f"{plan.tokens_before} to {plan.tokens_after} tokens" in plan.reason


SHORT = "U10 C9k; A9 U10 C9k; A900 U10 C20k; A9 U10 C30k; C9k; C9k; A9 U10 C9"
"""Too few messages for those who count them, and 100,000 tokens."""


@pytest.mark.parametrize("name", sorted(NAMES - {"picoclaw"}))
@pytest.mark.parametrize(
    ("notation", "used"),
    [
        (SHORT, 120_000),
        (SHORT, 185_000),
        # No results to evict; and no user's message before which enough lies.
        ("U10 A100k A60k U10 A100 C9; C9; C9", 175_000),
        ("U10 C12k; A10 U10 C100k; C30k; C30k; C10; C10", 160_000),
    ],
)
def test_while_the_user_is_away_presets_do_what_the_next_turn_would_need(
    name: str, notation: str, used: int
) -> None:
    told = situation(notation, used)
    policy = policies()[name]
    plan, at_once = policy.plan(told, "idle"), policy.plan(told, "budget")
    assert (plan is None) is (at_once is None)
    if plan is not None and at_once is not None:
        assert replace(plan, cause="budget") == at_once


def _whole(plan: Plan, situation: Situation) -> None:
    """Every change is of one part that is there, in prompt order, and really is one."""
    order = {item.unit.part_id: index for index, item in enumerate(situation.items)}
    places = [order[change.part_id] for change in plan.changes]
    assert places == sorted(set(places))
    assert plan.changes
    assert plan.first == min([*places, *(order[part_id] for part_id in plan.retired)])
    for place, change in zip(places, plan.changes, strict=True):
        item = situation.items[place]
        assert not is_note(item)
        assert change.shown != item.shown
        assert change.tokens_before == item.tokens
        assert change.tokens_after < item.tokens or not item.tokens
        assert change.reason
        if isinstance(change.shown, Placeholder):
            assert item.unit.kind == "call"
            assert change.tokens_after > item.call
        if isinstance(change.shown, Truncated):
            assert change.shown.max_bytes > 0
    kinds = {situation.items[order[part_id]].unit.kind for part_id in plan.retired}
    assert kinds <= NOTES


def _sums(plan: Plan, situation: Situation) -> None:
    sizes = {item.unit.part_id: item.tokens for item in situation.items}
    freed = sum(change.tokens_before - change.tokens_after for change in plan.changes)
    freed += sum(sizes[part_id] for part_id in plan.retired)
    added = plan.note_tokens + (plan.summary.output_tokens if plan.summary else 0)
    assert plan.tokens_before == situation.standing.used
    assert plan.tokens_after == plan.tokens_before - freed + added
    assert plan.tokens_after < plan.tokens_before
    assert bool(plan.note) == bool(plan.note_tokens)
    gone = any(isinstance(c.shown, Dropped) and sizes[c.part_id] for c in plan.changes)
    # Scores are asked for all turns, those that are only referred to among them.
    assert gone or not plan.summary or plan.summary.finish


def _spared(plan: Plan, situation: Situation, *, new: bool) -> None:
    thinking = {i.unit.part_id for i in situation.items if i.unit.kind == "reasoning"}
    touched = {change.part_id for change in plan.changes} | set(plan.retired)
    touched -= thinking
    if new:
        unsent = {item.unit.part_id for item in situation.items[situation.sent :]}
        assert touched <= unsent
        pinned = {item.unit.part_id for item in situation.items if item.pinned}
        assert not touched & (pinned | situation.preserved)
    else:
        assert not touched & untouchable(situation)


def _thinking(plan: Plan, situation: Situation) -> None:
    gone = {c.part_id for c in plan.changes if isinstance(c.shown, Dropped)}
    for item in situation.items[plan.first :]:
        if item.unit.kind == "reasoning":
            assert item.unit.part_id in gone or isinstance(item.shown, Dropped)
