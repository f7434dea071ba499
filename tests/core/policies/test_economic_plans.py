"""What holds for every plan of `economic`, and that the same situation gives the same plan."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.plan import REWRITE_ID, Plan, Situation
from sidecar.core.plans.rebuild import WORTHWHILE
from sidecar.core.policies.economic import POLICIES, Economic
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Cause, Dropped, Placeholder, Quoted, Truncated
from tests.core.policies.situations import history, is_note, saying, situation, spared

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
NAMES = [f"src/module_{number}/file_{number}.py" for number in range(40)]
PLACE = st.sampled_from(["U", "C", "C", "C", "A", "R", "O", ";", ";", "L"])
SIZES = st.sampled_from([1, 30, 200, 900, 4_000, 4_000, 20_000, 20_000])
MARKS = st.sampled_from([""] * 12 + ["*", "!", "!", "~", "#", "-", "!-"])
SAID = st.lists(st.sampled_from([*NAMES, "word", "words\n", "Error: ", "\n"]), max_size=30)


@st.composite
def histories(draw: st.DrawFn) -> list[Item]:
    """Draw a history in which anything may be pinned, failed, running, hidden or cut already."""
    words = ["U9", "X9"]
    for letter in draw(st.lists(PLACE, min_size=8, max_size=40)):
        if letter in ";":
            words.append(letter)
            continue
        marks = draw(MARKS)
        if letter != "C":
            marks = "".join(mark for mark in marks if mark in ("*" if letter != "L" else ""))
        words.append(f"{letter}{draw(SIZES)}{marks}")
    items = history(" ".join(words))
    items = [
        saying(item, " ".join(draw(SAID)), call=draw(st.sampled_from(NAMES))) for item in items
    ]
    for item in items:
        if item.unit.kind == "call" and item.shown is None and draw(st.integers(0, 9)) == 0:
            item.shown, item.tokens = Truncated("both", 300), min(item.tokens, 110)
    return items


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    items = draw(histories())
    count = len(items)
    return situation(
        items,
        window=draw(st.sampled_from([32_000, 200_000])),
        warm=draw(st.booleans()),
        newest=draw(st.sampled_from([0, 100_000])),
        sent=draw(st.sampled_from([0, count // 2, count])),
        revision=draw(st.integers(0, 9)),
        preserved=frozenset(item.unit.part_id for item in items if draw(st.integers(0, 20)) == 0),
    )


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@given(
    told=situations(),
    cause=st.sampled_from(["budget", "cold", "pays", "user", "overflow", "idle"]),
)
@settings(max_examples=120, deadline=None)
def test_every_plan_leaves_alone_what_it_must_and_adds_up(
    policy: Economic, told: Situation, cause: Cause
) -> None:
    before = [replace(item) for item in told.items]
    plan = policy.plan(told, cause)
    assert list(told.items) == before
    assert policy.plan(told, cause) == plan
    if plan is None:
        return
    items = {item.unit.part_id: item for item in told.items}
    order = list(items)
    places = [order.index(change.part_id) for change in plan.changes]
    assert places == sorted(set(places))
    assert plan.first <= min([*places, *map(order.index, plan.retired)])
    freed = sum(change.tokens_before - change.tokens_after for change in plan.changes)
    freed += sum(items[part_id].tokens for part_id in plan.retired)
    assert plan.tokens_before == told.standing.used
    written = plan.note_tokens + told_tokens(plan)
    assert plan.tokens_after == told.standing.used - freed + written
    assert plan.tokens_after < plan.tokens_before
    assert (plan.policy, plan.revision) == (policy.name, told.revision)
    for change in plan.changes:
        item = items[change.part_id]
        assert change.tokens_before == item.tokens
        assert change.shown != item.shown
        assert not is_note(item)
    if plan.note:
        _rebuilt(plan, told, items)
    else:
        _cut(plan, told, items)


def _cut(plan: Plan, told: Situation, items: dict[PartId, Item]) -> None:
    """Only results that were not sent yet are cut, and none that must stay."""
    unsent = {item.unit.part_id for item in told.items[told.sent :]}
    for change in plan.changes:
        item = items[change.part_id]
        assert change.part_id in unsent - told.preserved
        assert isinstance(change.shown, Truncated)
        assert item.unit.kind == "call"
        assert not item.pinned
        assert item.shown is None


def told_tokens(plan: Plan) -> int:
    """Give what is reckoned for a summary: the one that is carried on, else the one asked for."""
    if plan.told:
        return tokens_of(plan.told)
    return plan.summary.output_tokens if plan.summary else 0


def _rebuilt(plan: Plan, told: Situation, items: dict[PartId, Item]) -> None:
    if plan.tokens_before <= told.standing.limit and not told.standing.overflow:
        assert plan.tokens_before - plan.tokens_after + told_tokens(plan) >= WORTHWHILE
    assert plan.note.count(REWRITE_ID) == 1
    stays = spared(told)
    after = {change.part_id: change.shown for change in plan.changes}
    zone = told.items[plan.first :]
    assert list(plan.retired) == [i.unit.part_id for i in zone if is_note(i)]
    for item in zone:
        part_id, unit = item.unit.part_id, item.unit
        shown = after.get(part_id, item.shown)
        wanted = item.pinned or part_id in told.preserved
        if unit.kind == "reasoning":
            assert shown == Dropped()
        elif wanted and isinstance(item.shown, Dropped | Placeholder):
            assert shown is None
        elif part_id in stays and item.shown != Dropped():
            assert part_id not in after
        elif unit.kind == "typed":
            assert isinstance(shown, Quoted | Dropped | Placeholder | None)
        elif unit.kind == "call":
            # A pair is whole, or it is gone; one that stays because it is newest may be cut.
            assert shown in (None, Dropped()) or part_id not in after
        if unit.kind == "call" and unit.failed and shown == Dropped():
            # Calls of one tool that failed alike stand in one line.
            said, why = re.escape(unit.argument), re.escape(unit.error)
            line = rf"^- {unit.tool} (?:.*; )?{said}(?: ; .*)? → {why}"
            assert re.search(line, plan.note, re.MULTILINE)


PROGRAM = """
import hashlib
import random
from sidecar.core.policies.economic import POLICIES
from tests.core.policies.situations import history, saying, situation

draw = random.Random(7)
names = [f"src/module_{n}/file_{n}.py" for n in range(400)]
for _ in range(6):
    words = ["U90"]
    for step in range(120):
        words += [f"A{draw.choice([9, 60])}", f"C{draw.choice([90, 900, 4000])}", ";"]
    items = [
        saying(item, "\\n".join(" ".join(draw.sample(names, 3)) for _ in range(20)))
        for item in history(" ".join(words))
    ]
    told = situation(items, sent=200, newest=30_000)
    for policy in POLICIES:
        for cause in ("cold", "budget"):
            print(hashlib.sha256(repr(policy.plan(told, cause)).encode()).hexdigest())
"""


def run(seed: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.split()


def test_the_same_situation_gives_the_same_plan_in_every_process() -> None:
    first, second = run(1), run(2)
    assert len(first) == 36
    assert len(set(first)) > 18
    assert first == second
