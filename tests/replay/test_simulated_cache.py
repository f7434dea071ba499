"""The replay's cache on random histories: what the provider's simulator bills for the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidecar.core.engine.outline import anchor_after, opens_epoch, shared_before
from sidecar.core.ledger.units import Item
from sidecar.core.plans.plan import Change, Plan, Situation
from sidecar.core.prompt.breakpoints import place
from sidecar.core.prompt.prompt import Prompt, Ttl
from sidecar.core.prompt.visibility import Dropped, Placeholder
from sidecar.replay.conversation import Conversation
from sidecar.replay.simulate import ALIKE, SimulatedRun, simulate
from sidecar.replay.simulated_cache import USUAL, Segments
from tests.core.prompts import system, user
from tests.examples import examples
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.validation import Body
from tests.replay.talks import RATES, WINDOW, Scripted, talk

NOTE = 25


@dataclass(frozen=True)
class Edit:
    """Before this request: which items change, in per mille of all, to how many tokens or none."""

    step: int
    parts: tuple[int, ...]
    to: int
    note: bool


def edited(edit: Edit, situation: Situation) -> Plan | None:
    items = situation.items
    chosen = sorted({share * len(items) // 1_000 for share in edit.parts})
    # Notes stay: only a plan can retire them.
    chosen = [i for i in chosen if items[i].unit.kind != "ledger"]
    if not chosen:
        return None
    shown = Placeholder() if edit.to else Dropped()
    changes = tuple(
        Change(items[i].unit.part_id, shown, "", items[i].tokens, edit.to) for i in chosen
    )
    used = situation.standing.used
    note, size = ("note", NOTE) if edit.note else ("", 0)
    return Plan("scripted", "budget", "", 0, changes, chosen[0], used, used, note, size)


def blocks_of(items: list[Item], static: int) -> tuple[list[Body], list[int]]:
    """What would be sent: each step's calls, then their results. And where each item ends."""
    blocks: list[Body] = [{"type": "text", "text": f"static tokens={static}"}]
    ends = [0]
    waiting: list[Body] = []
    step = -1
    for item in items:
        unit = item.unit
        if waiting and (unit.kind != "call" or unit.step != step):
            blocks += waiting
            waiting = []
        if not isinstance(item.shown, Dropped):
            name = f"{unit.part_id} {item.shown}"
            if unit.kind == "call":
                blocks.append({"type": "tool_use", "input": f"{name} tokens={item.call}"})
                waiting.append({"type": "tool_result", "content": f"{name} tokens={item.result}"})
            else:
                blocks.append({"type": "text", "text": f"{name} tokens={item.tokens}"})
        step = unit.step
        ends.append(len(blocks) + len(waiting) - 1)
    return blocks + waiting, ends


def body(blocks: list[Body], marks: list[tuple[int, Ttl]]) -> Body:
    for index, ttl in marks:
        assert "cache_control" not in blocks[index], "two breakpoints in one place"
        blocks[index]["cache_control"] = {"type": "ephemeral", "ttl": ttl}
    return {"model": "m", "messages": [{"role": "user", "content": blocks}]}


def counted(text: str) -> int:
    found = re.search(r"tokens=(\d+)", text)
    assert found, text
    return int(found[1])


@dataclass(frozen=True)
class Sent:
    """A request of a replay, and the replay up to it.

    `edited`: whether it was rewritten first. `shared`: items that the last one had too; `anchored`:
    the item before which a rewritten stretch ends.
    """

    run: SimulatedRun
    edited: bool
    shared: int
    anchored: int

    def segments(self, static: int) -> Segments:
        made = Segments(static)
        for item in self.run.items:
            made.append(item)
        return made


def played(conversation: Conversation, edits: list[Edit]) -> Iterator[Sent]:
    script = {edit.step: partial(edited, edit) for edit in edits}
    before = anchored = 0
    for number, request in enumerate(conversation.requests, 1):
        policy = Scripted(script)
        until = replace(conversation, requests=conversation.requests[:number])
        run = simulate(until, policy, WINDOW, RATES)
        asked = next((one for one in policy.asked if one.step == request.step), None)
        plan = script[request.step](asked) if asked and request.step in script else None
        shared = before
        if asked and plan:
            shared = min(shared, shared_before(asked.items, plan.first))
            if opens_epoch(plan, asked, plan.first < asked.sent):
                ids = [item.unit.message_id for item in run.items]
                after = anchor_after(asked)
                anchored = ids.index(after) if after in ids else 0
        yield Sent(run, plan is not None, shared, anchored)
        before = len(run.items)


def assert_same_positions(sent: Sent, at: list[int], places: list[int], ends: list[int]) -> None:
    items = sent.run.items
    whole = [0, *(i + 1 for i, item in enumerate(items) if item.unit.kind != "call")]
    assert [at[i] for i in whole] == [places[ends[i]] for i in whole]
    assert at[-1] == places[-1]


def compare(notation: str, edits: list[Edit], static: int) -> None:
    """As a policy asks for five minutes, and for the like of all, with an hour's."""
    conversation = talk(notation, static)
    clock = [0.0]
    five, hour = (CacheSimulator(lambda: clock[0], USUAL.minimum, counted) for _ in range(2))
    cost = alike = 0.0
    for request, sent in zip(conversation.requests, played(conversation, edits), strict=True):
        clock[0] = request.at / 1_000
        run, segments = sent.run, sent.segments(static)
        blocks, ends = blocks_of(list(run.items), static)
        marks = [(ends[i], ttl) for i, ttl in segments.marks(sent.shared, sent.anchored)]
        prompt = body([dict(block) for block in blocks], [(0, "5m"), *marks])
        places = five.prefixes(prompt, blocks)[2]
        assert_same_positions(sent, segments.places, places, ends)
        usage = five.request(prompt)
        billed = run.sent[-1]
        assert (billed.read, billed.write, billed.uncached) == (
            usage["cache_read_input_tokens"],
            usage["cache_creation_input_tokens"],
            usage["input_tokens"],
        )
        cost += price(usage)
        alike += price(hour.request(body(blocks, [(0, ALIKE), *marks])))
        assert abs(run.cost - cost) < 1e-6
        assert abs(run.alike - alike) < 1e-6


def price(usage: dict[str, Any]) -> float:
    wrote = usage["cache_creation"]
    dear = wrote["ephemeral_1h_input_tokens"] * 2
    once = usage["cache_read_input_tokens"] * 0.1 + usage["input_tokens"]
    return float(once + wrote["ephemeral_5m_input_tokens"] * 1.25 + dear)


# Twelve pauses of 20 s, or one that outlives everything: that a marked entry which is passed on
# the way is renewed, which the simulator does not know, can make no difference.
PAUSES = (0, 1, 20, 20, 3_601)
TEXTS = ("p50", "t10", "r20 p10", "p5 " * 16, "p5 " * 33, "t1 p9 " * 26)
ARRIVALS = (*TEXTS, "c90", "p40 c200 c30", "c2000", "c20 " * 30)


@st.composite
def notations(draw: st.DrawFn, arrivals: Sequence[str] = ARRIVALS) -> str:
    at = 0
    requests = []
    for _ in range(draw(st.integers(2, 12))):
        at += draw(st.sampled_from(PAUSES))
        requests.append(f"{at}: {draw(st.sampled_from(arrivals))}")
    return "; ".join(requests)


edits = st.builds(
    Edit,
    step=st.integers(0, 11),
    parts=st.lists(st.integers(0, 999), min_size=1, max_size=6).map(tuple),
    to=st.sampled_from((0, 0, 2, 7)),
    note=st.booleans(),
)


@settings(max_examples=examples(150), deadline=None)
@given(
    notations(),
    st.lists(edits, max_size=4),
    st.sampled_from((900, 2_000)),
)
def test_a_replay_bills_what_the_provider_s_simulator_bills(
    notation: str, edits: list[Edit], static: int
) -> None:
    compare(notation, edits, static)


def test_a_call_that_comes_back_beside_another_ends_what_that_one_could_read() -> None:
    left_out, back = Edit(0, (667,), 0, note=False), Edit(1, (334,), 2, note=False)
    compare("0: p40 c200 c30; 0: p40 c200 c30; 0: p50", [left_out, back], 900)


@settings(max_examples=examples(80), deadline=None)
@given(notations(TEXTS), st.lists(edits, max_size=3))
@example(
    f"0: p50; 0: p50; 0: {'p5 ' * 16}; 0: {'p5 ' * 16}; 0: p50",
    [Edit(step=4, parts=(515, 543), to=0, note=False)],
)
def test_breakpoints_stand_where_a_session_would_put_them(notation: str, edits: list[Edit]) -> None:
    conversation = talk(notation)
    before = 0
    for sent in played(conversation, edits):
        blocks, ends = blocks_of(list(sent.run.items), conversation.static)
        first, *others = (block["text"] for block in blocks)
        prompt = Prompt((), system(first), (user(*others),))
        # An edit ends what the last request had: a breakpoint stands where they begin to differ.
        shared = ends[sent.shared] if sent.edited else before
        found = place(prompt, shared, anchor=ends[sent.anchored])
        wanted = [(0 if b.message is None else b.block + 1, b.ttl) for b in found]
        marks = sent.segments(conversation.static).marks(sent.shared, sent.anchored)
        assert [(0, "5m"), *((ends[index], ttl) for index, ttl in marks)] == wanted
        before = len(blocks) - 1
