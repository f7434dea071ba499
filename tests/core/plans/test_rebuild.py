"""Rebuilding the history: what stays, what goes, what the note says, and the sums."""

from dataclasses import replace

import pytest

from sidecar.core.ledger.replacements import Replacement
from sidecar.core.ledger.units import Item
from sidecar.core.plans.knapsack import NAMED
from sidecar.core.plans.plan import REWRITE_ID, Plan
from sidecar.core.plans.rebuild import HEAD, WORTHWHILE, Keeping, basis_of, rebuild, sift
from sidecar.core.plans.typed_text import UNANSWERED
from sidecar.core.prompt.tokens import weigh
from sidecar.core.prompt.visibility import Cause, Dropped, Quoted, Shown, Truncated
from tests.core.policies.situations import STATIC, history, saying, situation
from tests.core.sights.calls import ended, unit_of

KEEPING = Keeping(
    keep=10_000, density=6e-4, tail=0.005, first=4_000, each=2_500, typed=8_000,
)  # fmt: skip
"""Blocks are kept for their names alone: none has a chance of need so high."""
ASKED = f"{UNANSWERED}\n- line 0 of part 0\nDone for it by then: 3 calls."
HEAD_TOKENS = weigh(f"{HEAD}\n{ASKED}")
GAP = weigh("[⋯ 1 call: tool argument 1 → 714 lines]")


def scene(notation: str, texts: dict[int, str] | None = None) -> list[Item]:
    """Give the items of a situation; some say other texts, by number."""
    items = history(notation)
    for number, text in (texts or {}).items():
        items[number] = saying(items[number], text)
    return items


def plan_of(
    notation: str | list[Item],
    texts: dict[int, str] | None = None,
    *,
    keeping: Keeping = KEEPING,
    cause: Cause = "cold",
    **given: object,
) -> Plan | None:
    """Plan a rebuild, and check what holds for every plan."""
    items = scene(notation, texts) if isinstance(notation, str) else notation
    told = situation(items, **given)  # type: ignore[arg-type]
    before = [replace(item) for item in items]
    plan = rebuild(sift(basis_of(told), keeping), cause, "test")
    assert items == before
    if plan is None:
        return None
    place = {item.unit.part_id: index for index, item in enumerate(items)}
    places = [place[change.part_id] for change in plan.changes]
    assert places == sorted(set(places))
    assert plan.first == 0
    freed = 0
    for change in plan.changes:
        item = items[place[change.part_id]]
        assert change.shown != item.shown
        assert change.tokens_before == item.tokens
        assert item.unit.kind != "call" or change.shown in (None, Dropped())
        if change.shown in (None, Dropped()):
            assert change.tokens_after == (item.tokens_whole if change.shown is None else 0)
        freed += change.tokens_before - change.tokens_after
    freed += sum(items[place[part_id]].tokens for part_id in plan.retired)
    assert plan.tokens_before == told.standing.used
    assert plan.tokens_after == told.standing.used - freed + plan.note_tokens
    assert plan.tokens_before - plan.tokens_after >= WORTHWHILE
    assert (plan.policy, plan.cause, plan.revision) == ("test", cause, told.revision)
    assert plan.note.startswith(HEAD)
    beside = sum(weigh(passage.text) for passage in plan.passages)
    assert plan.note_tokens == weigh(plan.note) + beside
    return plan


def changed(plan: Plan | None) -> dict[str, Shown | None]:
    assert plan is not None
    return {change.part_id: change.shown for change in plan.changes}


def gone(plan: Plan | None) -> list[int]:
    """Give the numbers of the parts that are dropped; nothing else may be changed."""
    assert all(shown == Dropped() for shown in changed(plan).values())
    return [int(part_id[1:]) for part_id in changed(plan)]


def test_what_holds_no_name_is_dropped_and_a_note_names_the_rewrite() -> None:
    plan = plan_of("U10 C5k R5; C5k; C10; C10", revision=7)
    assert gone(plan) == [1, 2, 3]
    assert plan is not None
    assert plan.note.splitlines() == [
        HEAD,
        *ASKED.splitlines()[:-1],
        "Done for it by then: 4 calls.",
    ]
    assert REWRITE_ID in plan.note
    assert "lists here are as of then" in plan.note
    [gap] = plan.passages
    assert gap.text == "[⋯ 2 calls: tool argument 1 → 714 lines, tool argument 3 → 714 lines]"
    assert plan.tokens_after == STATIC + 10 + 20 + HEAD_TOKENS + weigh(gap.text)
    assert plan.figures == {"kept": 0}


@pytest.mark.parametrize(("freed", "planned"), [(WORTHWHILE - 1, False), (WORTHWHILE, True)])
def test_a_rewrite_must_free_2000_tokens_with_its_note(freed: int, planned: bool) -> None:
    assert WORTHWHILE == 2_000
    plan = plan_of(f"U10 C{freed + HEAD_TOKENS + GAP}; C10; C10")
    assert (plan is not None) is planned


def test_edits_of_which_later_ones_left_nothing_are_not_kept() -> None:
    texts = [("a.py", "one", "two"), ("a.py", "two", "one"), ("b.py", "three", "four")]
    items = scene("U10 C5k; C300:edit; C300:edit; C300:edit; U10 C10; C10")
    for number, edit in enumerate(texts, 2):
        unit = replace(items[number].unit, replaced=(Replacement(*edit),))
        items[number] = replace(items[number], unit=unit)
    everything = replace(KEEPING, keep=1_500, density=0.0, tail=0.0)
    assert gone(plan_of(items, keeping=everything)) == [1, 2, 3]
    items[3] = replace(items[3], unit=replace(items[3].unit, replaced=()))
    assert gone(plan_of(items, keeping=everything)) == [1]


def test_of_lists_of_work_to_do_the_newest_alone_is_kept() -> None:
    items = scene("U10 C5k; C300:todo; C300:todo; C300; U10 C10; C10")
    everything = replace(KEEPING, keep=1_500, density=0.0, tail=0.0)
    assert gone(plan_of(items, keeping=everything)) == [1]
    for number, status in ((2, "pending"), (3, "completed")):
        wrote = ended("TodoWrite", {"todos": [{"content": "write", "status": status}]})
        unit = replace(items[number].unit, deeds=unit_of(wrote, 0).deeds)
        items[number] = replace(items[number], unit=unit)
    assert gone(plan_of(items, keeping=everything)) == [1, 2]


def test_what_cannot_be_sent_is_rewritten_however_little_comes_free() -> None:
    notation = f"U10 C{WORTHWHILE - 1 + HEAD_TOKENS + GAP}; C10; C10"
    assert plan_of(notation) is None
    told = situation(notation)
    too_long = replace(told.standing, limit=told.standing.used - 1)
    over = basis_of(replace(told, standing=too_long))
    assert rebuild(sift(over, KEEPING), "budget", "test") is not None


@pytest.mark.parametrize(
    "notation", ["", "U10", "U10 C90k; C90k", "U5k C90k*; C90k", "U10 L9k C9k-; C10; C10"]
)
def test_where_nothing_may_go_there_is_no_plan(notation: str) -> None:
    assert plan_of(notation) is None


def test_the_newest_message_and_the_newest_two_steps_are_not_touched() -> None:
    assert gone(plan_of("U10 C5k; C5k; C90k C50 A50; C90k")) == [1, 2]
    assert gone(plan_of("U10 C5k; C5k; C10; C10; A5 U90k X9k", step=5)) == [1, 2, 3]
    assert gone(plan_of("U10 X10 C5k A10 U10 X10 C9k; C10; C10")) == [1, 2, 3, 6]


@pytest.mark.parametrize("mark", ["*", "~"])
def test_pinned_and_running_parts_are_not_touched(mark: str) -> None:
    assert gone(plan_of(f"U10 C5k; C5k{mark}; A50{mark}; A2k; C10; C10")) == [1, 4]


def test_preserved_parts_are_not_touched() -> None:
    assert gone(plan_of("U10 C5k; C5k; C10; C10", preserved=frozenset({"p1"}))) == [2]


def test_what_was_cut_and_stays_is_not_shown_whole_again() -> None:
    for notation, still in (("U10 C5k; C5k; C90k; C10", 3), ("U10 C5k; C90k*; C10; C10", 2)):
        items = history(notation)
        items[still].shown, items[still].tokens = Truncated("both", 4_000), 1_000
        assert still not in gone(plan_of(items))


def test_what_was_left_out_and_is_pinned_or_preserved_now_comes_back() -> None:
    plan = plan_of("U10 C50-*; C50#; C9k; C10; C10", preserved=frozenset({"p2"}))
    assert changed(plan) == {"p1": None, "p2": None, "p3": Dropped()}


@pytest.mark.parametrize(
    ("window", "numbers"),
    [(49_990, [1, 2, 3, 4, 5]), (50_000, [1, 2, 3]), (71_990, [1, 2, 3]), (72_000, [1])],
)
def test_more_of_the_newest_steps_stay_while_they_fit_into_the_tail(
    window: int, numbers: list[int]
) -> None:
    keeping = replace(KEEPING, tail=0.01)
    notation = "U10 C5k; C200 C20; C200 C50; C100; C150"
    assert gone(plan_of(notation, keeping=keeping, window=window)) == numbers


def test_of_a_text_that_is_cut_no_name_counts_as_kept() -> None:
    for shown, numbers in ((None, [1, 2]), (Truncated("head", 20), [2])):
        items = scene("U10 A9; C9k; C900; C900", {1: "some_name", 3: "some_name"})
        items[3].shown = shown
        assert gone(plan_of(items)) == numbers


def test_a_dropped_step_does_not_come_back_with_the_tail() -> None:
    assert gone(plan_of("U10 C5k; C10; C1k-; C10; C10")) == [1, 2]


def test_thinking_goes_everywhere_and_other_blocks_that_nobody_knows_with_what_is_old() -> None:
    assert gone(plan_of("U10 R50 O50 C5k; R50- C5k; R50* O50 C10; R50 O50 C10")) == [
        1, 2, 3, 5, 6, 9,
    ]  # fmt: skip


def test_earlier_notes_are_retired() -> None:
    items = history("L60 U10 C5k; L50 C5k; C10; L70 C10")
    items[0].unit = replace(items[0].unit, kind="excerpt")
    assert (plan := plan_of(items)) is not None
    assert plan.retired == ("p0", "p3", "p6")


def typed(notation: str, **given: int) -> dict[str, int]:
    """Give the tokens that typed messages are shortened to; nought for those that go."""
    plan = plan_of(f"{notation} C9k A10 U9k C10; C10", window=given.get("window", 200_000))
    assert plan is not None
    kinds = {item.unit.part_id: item.unit.kind for item in history(notation)}
    cuts = [change for change in plan.changes if kinds.get(change.part_id) == "typed"]
    assert all(isinstance(change.shown, Quoted | Dropped) for change in cuts)
    return {change.part_id: change.tokens_after for change in cuts}


def test_typed_messages_stay_and_long_ones_are_shortened() -> None:
    assert typed("U4000 A1 U2500 A1") == {}
    assert typed("U110k A1 U2501 A1") == {"p0": 4_000, "p2": 2_500}


def test_the_first_message_stays_word_for_word_where_it_leaves_room_to_work() -> None:
    """The room here is 182,000 tokens: a quarter of it may be the first message."""
    assert typed("U45500 A1") == {}
    assert typed("U45501 A1") == {"p0": 4_000}


def test_half_of_a_pair_of_surrogates_can_be_cut_too() -> None:
    items = history("U110k C9k A10 U10 C10; C10")
    items[0] = saying(items[0], "\ud800" * 110_000)
    assert isinstance(changed(plan_of(items))["p0"], Quoted)


def test_typed_messages_share_a_room_from_the_newest_on() -> None:
    told = typed("U9k A1 U2k A1 U9k A1 U3k A1 U3k A1")
    assert told == {"p2": 500, "p4": 2_500, "p6": 2_500, "p8": 2_500}
    # Beyond it what is short stays, and a longer message has its ends.
    told = typed("U1 A1 U200 A1 U40 A1 U3k A1 U3k A1 U3k A1 U500 A1")
    assert told == {"p6": 2_500, "p8": 2_500, "p10": 2_500}


def test_in_a_small_window_typed_messages_get_a_tenth() -> None:
    assert typed("U1 A1 U2k A1 U2k A1", window=40_000) == {}
    assert typed("U1 A1 U2k A1 U2k A1", window=39_990) == {"p2": 1_999}
    told = typed("U1 A1 U2k A1 U2k A1", window=20_000)
    assert 200 <= told["p2"] < 250


def test_a_message_that_was_cut_or_dropped_is_shown_as_it_is_now_due() -> None:
    items = history("U3k- A1 U9k C9k A10 U9k C10; C10")
    items[2].shown, items[2].tokens = Truncated("head", 99), 50
    cuts = changed(plan_of(items))
    assert cuts["p0"] is None
    assert isinstance(cuts["p2"], Quoted)


def calling(notation: str, **names: str) -> list[Item]:
    """Give items of which some hold names in their calls only, so that no line competes."""
    items = history(notation)
    for part_id, name in names.items():
        number = int(part_id[1:])
        items[number] = saying(items[number], "plain words", call=name)
    return items


@pytest.mark.parametrize(("tokens", "numbers"), [(117, [2]), (118, [1, 2])])
def test_the_density_limit_holds(tokens: int, numbers: list[int]) -> None:
    items = calling(f"U10 C{tokens}; C9k; C10; C10", p1="some_name")
    # Called once, three requests ago: 0.148. A tool's result is needed with 0.00004 a token.
    keeping = replace(KEEPING, density=NAMED * 0.148 / 117.5 + 4e-5)
    assert gone(plan_of(items, keeping=keeping)) == numbers


@pytest.mark.parametrize(("keep", "numbers"), [(200, [3, 4]), (199, [1, 3, 4])])
def test_the_room_is_in_tokens(keep: int, numbers: list[int]) -> None:
    items = calling("U10 C120; C80; C120; C9k; C900; C900", p1="aaa_name", p2="bbb_name")
    keeping = replace(KEEPING, keep=keep, density=1e-4)
    assert gone(plan_of(items, keeping=keeping)) == numbers


@pytest.mark.parametrize(("window", "numbers"), [(15_160, [2]), (15_140, [1, 2])])
def test_the_room_is_a_share_of_the_window_at_most(window: int, numbers: list[int]) -> None:
    items = calling("U10 C2000; C9k; C10; C10", p1="some_name")
    assert gone(plan_of(items, keeping=replace(KEEPING, density=1e-6), window=window)) == numbers


def test_what_stays_covers_its_names() -> None:
    texts = {0: "look at some_name", 1: "some_name", 2: "other_name"}
    assert gone(plan_of("U10 A9; A9; C9k; C900; C900", texts)) == [1, 3]
    texts = {1: "some_name", 2: "other_name", 5: "other_name"}
    assert gone(plan_of("U10 A9; A9; C9k; C900; C900", texts)) == [2, 3]


@pytest.mark.parametrize(("text", "stays"), [("Now slot_005:", False), ("slot_005 is 7.", True)])
def test_a_text_that_only_announces_a_call_goes_with_it(text: str, stays: bool) -> None:
    items = scene("U10 A20 C5k; C10; C10", {1: text})
    items[1] = replace(items[1], unit=replace(items[1].unit, names=("slot_005",)))
    assert (1 in gone(plan_of(items))) is not stays


def test_what_was_left_out_comes_back_when_it_is_worth_it_again() -> None:
    texts = {1: "some_name", 2: "other_name"}
    plan = plan_of("U10 A9-; A9#; C9k; C900; C900", texts)
    assert changed(plan) == {"p1": None, "p2": None, "p3": Dropped()}


def test_every_failed_call_that_goes_is_in_the_note() -> None:
    notation = (
        "U10 C5k!:bash(make); C5k!:fix(a.py); C5k!*:bash(kept); C9!:bash(whole); C5k-!:run(old); "
        "C10; C10!:bash(new)"
    )
    texts = {1: "cc\nError: no rule", 2: "No such file\nplain", 4: "some_name", 5: "x"}
    plan = plan_of(notation, texts, keeping=replace(KEEPING, density=4e-4))
    assert plan is not None
    assert gone(plan) == [1, 2]
    assert plan.note.splitlines()[4:] == [
        "Failed, do not repeat:",
        "- bash make → Error: no rule",
        "- fix a.py → No such file",
        "- run old → x",
    ]


def test_what_a_note_quotes_is_not_taken_for_the_id() -> None:
    texts = {1: "Error: no REWRITE here", 2: "REWRITE_RULES and REWRITE", 3: "plain"}
    plan = plan_of("U10 C5k!:bash(make-REWRITE); C5k; C10; C10", texts)
    assert plan is not None
    told = plan.note.replace(REWRITE_ID, "cmp_1")
    assert told.count("cmp_1") == 1
    assert "- bash make-REWRITE → Error: no REWRITE here" in told


def test_calls_of_tools_that_are_not_at_hand_are_named_as_another_agent_s() -> None:
    told = situation("U10 C30k:Edit; C30k:shell; C10:Edit; C10")
    tools = frozenset({"shell", "tool"})
    for offered, line in ((tools, "another agent called below: Edit.]"), (frozenset(), "")):
        plan = rebuild(sift(basis_of(replace(told, tools=offered)), KEEPING), "cold", "test")
        assert plan is not None
        assert plan.note.startswith(HEAD)
        assert (line in plan.note) if line else ("another agent" not in plan.note)
