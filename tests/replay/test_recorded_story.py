"""Real sessions: what a rewrite leaves has the form of a story, whatever was recorded."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sidecar.core.ledger.units import RECORDED_SUMMARY, Item
from sidecar.core.plans.plan import Passage, Plan, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.visibility import Dropped
from sidecar.replay.simulate import simulate
from tests.replay.recorded import AT_HAND, CARD, SESSIONS, Watched, conversation

WINDOWS = (200_000, 100_000, 64_000)
LONG = 60
"""Characters of an entry that says something: no two of one story are the same."""
CHANGES = ("created", "edited", "deleted", "moved")
SILENT = ("reasoning", "opaque", "context")
RECORDINGS = sorted(SESSIONS.glob("normalised/*.jsonl.gz"))

pytestmark = [pytest.mark.long, AT_HAND]


def read(plan: Plan, situation: Situation) -> None:
    if not plan.note:
        return
    after = {change.part_id: change.shown for change in plan.changes}
    zone = [i for i in situation.items if i.unit.kind not in ("ledger", "excerpt", "image")]
    gone = {i.unit.part_id for i in zone if isinstance(after.get(i.unit.part_id, i.shown), Dropped)}
    by_message: dict[str, list[Item]] = {}
    for item in zone:
        by_message.setdefault(item.unit.message_id, []).append(item)
    told = {passage.before: passage for passage in plan.passages}
    in_order(plan.passages, list(by_message))
    gaps_are_marked(by_message, gone, told)
    every_message_is_answered(by_message, gone, told)
    nothing_is_said_twice(plan)


def in_order(passages: tuple[Passage, ...], messages: list[str]) -> None:
    places = [messages.index(passage.before) for passage in passages]
    assert places == sorted(set(places))


def gaps_are_marked(
    messages: dict[str, list[Item]], gone: set[str], told: dict[str, Passage]
) -> None:
    """What is left out is counted by the next passages; where these are many, by a later one."""
    out = counted = 0
    for message, items in messages.items():
        if message in told:
            numbers = re.findall(r"(\d+) (?:call|text)s?\b", told[message].text.split("\n")[0])
            counted += sum(map(int, numbers))
        mine = (i.unit for i in items if i.unit.part_id in gone)
        out += sum(u.kind not in SILENT or u.text.startswith(RECORDED_SUMMARY) for u in mine)
    assert counted == out


def every_message_is_answered(
    messages: dict[str, list[Item]], gone: set[str], told: dict[str, Passage]
) -> None:
    typed, answered, lost = "", True, False
    for message, items in messages.items():
        if items[0].unit.kind == "typed" and items[0].unit.part_id in gone:
            # The next passage tells it, in order with its answer.
            continue
        out = any(i.unit.part_id in gone and i.unit.kind not in SILENT for i in items)
        if items[0].unit.kind == "typed":
            assert answered or not lost or message in told, typed
            typed, answered, lost = message, False, False
        elif message in told or any(i.unit.part_id not in gone for i in items):
            answered = True
        lost = lost or out


def nothing_is_said_twice(plan: Plan) -> None:
    entries = Counter(
        entry
        for passage in plan.passages
        for entry in passage.text.split("\n- ")[1:]
        if len(entry) >= LONG and not entry.startswith(CHANGES)
    )
    assert [entry for entry, times in entries.items() if times > 1] == []


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_what_a_rewrite_leaves_of_a_recorded_session_reads_as_a_story(path: Path) -> None:
    heard = conversation(path.name.removesuffix(".jsonl.gz"))
    for window in WINDOWS:
        simulate(heard, Watched(policies()["economic"], read), window, CARD)
