"""`economic`: when a rewrite is due, which stretch is rebuilt, and what no plan may touch."""

from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.plans.plan import Plan, Rates, Situation
from sidecar.core.plans.rebuild import basis_of, rebuild, sift
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.economic import (
    FULL,
    GOAL,
    KEEPING,
    LEAST_COMPRESSION,
    LESS,
    MOST_TOLD,
    POLICIES,
    RUNWAY,
    SPARE,
    SUMMARY_TOKENS,
    Economic,
    less,
)
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.visibility import Cause
from tests.core.policies.situations import STATIC, shown_after, situation, standing

Given: TypeAlias = dict[str, Any]
"""What a standing is to be."""
ECONOMIC = Economic(
    most=0.80, cold=0.10, whole=0.40, rent=3.0, least=12_000, first=0.35, arrival=0.10,
    within=3.0, spacing=20, said=1_000,
)  # fmt: skip
"""With numbers of its own, so that fitting the policy anew leaves the thresholds here alone."""
SHARES = 2.0**-20
RATES = Rates(4 * SHARES, 20 * SHARES, 5 * SHARES, SHARES)
"""Powers of two, so that thresholds can be met exactly: a write costs 4 more than a read."""
NO_CACHE = Rates(4 * SHARES, 20 * SHARES, 4 * SHARES, 4 * SHARES)


def due(used: int, policy: Economic = ECONOMIC, **given: Any) -> Cause | None:
    return policy.due(standing(used, **{"rates": RATES, **given}))


def test_the_default_is_the_balanced_one_of_three_dials() -> None:
    assert DEFAULT == "economic"
    assert next(iter(policies())) == DEFAULT
    dials = ["economic", "economic-lean", "economic-rich"]
    assert [policy.name for policy in POLICIES] == dials
    assert all(policies()[policy.name] == policy for policy in POLICIES)
    assert all(policy.static_ttl == "1h" for policy in POLICIES)


def test_the_default_has_the_numbers_that_were_fitted() -> None:
    """Whoever changes one has a study to show, and changes it here and in the docs as well."""
    assert Economic() == Economic(
        most=0.80, cold=0.10, whole=0.50, rent=8.0, within=22.0, least=11_000, first=0.35,
        arrival=0.25, spacing=20, said=None,
    )  # fmt: skip
    assert (GOAL, RUNWAY, SPARE, FULL) == (0.60, 0.58, 0.10, 0.90)
    assert (KEEPING.keep, KEEPING.density) == (8_400, 3e-4)
    assert LESS == (0.85, 0.7, 0.55, 0.4, 0.3, 0.15)
    assert (LEAST_COMPRESSION, SUMMARY_TOKENS, MOST_TOLD) == (3.5, 600, 1_200)


def test_a_small_warm_session_is_left_alone() -> None:
    assert due(STATIC) is None
    assert due(100_000) is None
    assert due(100_000, requests=500) is None


def test_the_provider_and_the_user_come_first() -> None:
    assert due(STATIC, overflow=True, asked=True) == "overflow"
    assert due(199_000, asked=True, newest=90_000) == "user"


@pytest.mark.parametrize(
    ("used", "given", "cause"),
    [
        (169_999, {}, None),
        (170_000, {}, "budget"),
        (99_999, {"limit": 100_000}, None),
        (100_000, {"limit": 100_000}, "budget"),
        (170_000, {"warm": False}, "budget"),
        (170_000, {"requests": 0}, "budget"),
        (170_000, {"base": 169_000}, "budget"),
    ],
)
def test_the_ceiling_is_four_fifths_of_the_window_above_the_static_part(
    used: int, given: Given, cause: Cause | None
) -> None:
    assert due(used, **given) == cause


def test_a_tenth_of_the_window_may_come_at_once() -> None:
    assert due(50_000, newest=20_000) is None
    assert due(50_000, newest=20_001) == "budget"
    assert due(50_000, newest=20_000, window=199_000) == "budget"


@pytest.mark.parametrize(
    ("used", "given", "cause"),
    [
        (29_999, {}, None),
        (30_000, {}, "cold"),
        (30_000, {"warm": True}, None),
        (30_000, {"rates": NO_CACHE}, None),
        (30_000, {"requests": 0}, None),
        (31_999, {"base": 20_000}, None),
        (32_000, {"base": 20_000}, "cold"),
    ],
)
def test_a_cold_cache_makes_a_rewrite_free_from_a_tenth_of_the_window_on(
    used: int, given: Given, cause: Cause | None
) -> None:
    assert due(used, **{"warm": False, **given}) == cause


ANEW = ({"cooling_ms": 3_600_001}, {"guessed": 100_000})
"""Away for more than an hour; nothing of the prompt counted by the provider, as after an import."""


@pytest.mark.parametrize("anew", ANEW)
def test_what_is_taken_up_anew_with_room_left_is_not_cut_because_it_is_cold(anew: Given) -> None:
    given = {"warm": False, "rent": 10**9, **anew}
    assert due(79_999, **given) is None
    assert due(80_000, **given) == "cold"
    assert due(79_999, base=STATIC + 1, **given) == "cold"
    assert due(198_000, **given) == "budget"


def test_a_session_that_is_gone_on_with_within_the_hour_is_rewritten_while_it_is_cold() -> None:
    assert due(79_999, warm=False, cooling_ms=3_600_000, guessed=79_998) == "cold"


@pytest.mark.parametrize(
    ("rent", "given", "cause"),
    [
        # As much is expected to be left as a rebuild leaves: 3 times 4 times 15,000.
        (179_999, {}, None),
        (180_000, {}, "pays"),
        (180_000, {"requests": 19}, None),
        # What the last rewrite left is more than that: 3 times 4 times 50,000.
        (599_999, {"base": 60_000}, None),
        (600_000, {"base": 60_000}, "pays"),
        (10**9, {"base": 98_001}, None),
        (10**9, {"base": 98_000}, "pays"),
        (10**9, {"requests": 0}, None),
        (0, {"rates": NO_CACHE}, "pays"),
        (0, {"rates": NO_CACHE, "requests": 19}, None),
    ],
)
def test_rent_pays_when_it_is_three_times_what_rebuilding_costs(
    rent: int, given: Given, cause: Cause | None
) -> None:
    assert due(110_000, **{"rent": rent, "requests": 20, **given}) == cause


def test_of_a_short_history_a_third_is_expected_to_be_left() -> None:
    assert due(40_000, rent=125_999, requests=20) is None
    assert due(40_000, rent=126_000, requests=20) == "pays"


def test_within_a_turn_a_rewrite_that_only_pays_waits_for_longer() -> None:
    policy = replace(ECONOMIC, within=5.0)
    given = {"rent": 180_000, "requests": 20}
    assert due(110_000, policy, opens_turn=True, **given) == "pays"
    assert due(110_000, policy, opens_turn=False, **given) is None
    assert due(110_000, policy, opens_turn=False, **{**given, "rent": 299_999}) is None
    assert due(110_000, policy, opens_turn=False, **{**given, "rent": 300_000}) == "pays"


def test_only_the_rich_dial_has_a_model_summarise_unasked() -> None:
    balanced, lean, rich = POLICIES
    assert (balanced.said, lean.said, rich.said) == (None, None, 1_200)


def test_a_lean_dial_is_due_earlier_and_a_rich_one_keeps_more() -> None:
    balanced, lean, rich = POLICIES
    assert lean.most < balanced.most == rich.most
    assert lean.rent < balanced.rent == rich.rent
    assert rich.keeping.keep > balanced.keeping.keep > lean.keeping.keep


@given(
    st.integers(0, 250_000), st.integers(0, 200_000), st.integers(0, 10**7), st.integers(0, 99),
    st.integers(0, 60_000), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_whoever_grows_is_not_due_less(
    used: int, base: int, rent: int, requests: int, newest: int, warm: bool, over: bool, asked: bool
) -> None:
    told = standing(
        used, base=base, rent=rent, requests=requests, newest=newest, warm=warm, overflow=over,
        asked=asked, rates=RATES,
    )  # fmt: skip
    cause = ECONOMIC.due(told)
    assert cause == ECONOMIC.due(told)
    if cause is not None:
        assert ECONOMIC.due(replace(told, newest=newest + 1)) is not None
        assert ECONOMIC.due(replace(told, requests=requests + 1)) is not None
        assert ECONOMIC.due(replace(told, rent=rent + 1)) is not None
        assert ECONOMIC.due(replace(told, asked=True, overflow=True)) == "overflow"


def planned(told: Situation, cause: Cause, policy: Economic = ECONOMIC) -> Plan:
    plan = policy.plan(told, cause)
    assert plan is not None
    return plan


def test_what_has_just_come_is_cut_before_anything_is_rebuilt() -> None:
    told = situation("U10 C90k; C30010 C20010 C1k", 175_000, sent=2, newest=51_020)
    plan = planned(told, "budget")
    # A tenth of the window together: what the small one leaves is shared by the others.
    assert [(c.part_id, c.tokens_after - 30) for c in plan.changes] == [
        ("p2", 9_505),
        ("p3", 9_505),
    ]
    assert plan.tokens_after == 175_000 - 50_020 + 2 * 9_535
    told = situation("U10 C90k; C30010", 100_000, sent=2, newest=30_010)
    assert [c.tokens_after - 30 for c in planned(told, "budget").changes] == [20_000]
    assert "1 long results" in planned(told, "budget").reason


def test_where_nothing_new_can_be_cut_it_is_rebuilt_only_if_that_is_due_too() -> None:
    notation = "U10 C90k; C30k*; C10"
    assert ECONOMIC.plan(situation(notation, sent=2, newest=30_000), "budget") is None
    told = situation(notation, 170_000, sent=2, newest=30_000)
    assert (planned(told, "budget").cause, planned(told, "budget").first) == ("budget", 0)
    told = situation(notation, sent=2, newest=30_000, warm=False)
    assert planned(told, "budget").cause == "cold"


@pytest.mark.parametrize("cause", ["budget", "cold", "pays", "user", "overflow"])
def test_where_nothing_may_go_there_is_no_plan(cause: Cause) -> None:
    assert ECONOMIC.plan(situation("U9 C90k*; C90k; C9"), cause) is None
    assert ECONOMIC.plan(situation("L9 U9 C90k*; C90k; C9"), cause) is None


def test_all_is_rebuilt_and_earlier_notes_are_retired() -> None:
    for cause in ("budget", "pays", "cold", "user", "overflow"):
        plan = planned(situation("L300 U10 A59690; C20k; C20k; C10; C10"), cause)
        assert (plan.first, plan.retired) == (0, ("p0",))
        assert shown_after(plan) == dict.fromkeys(["p2", "p3", "p4"], "dropped")


def test_a_session_without_an_earlier_rewrite_is_rebuilt_from_its_beginning() -> None:
    plan = planned(situation("U10 C20k; C20k; C10; C10"), "pays")
    assert (plan.first, list(shown_after(plan))) == (0, ["p1", "p2"])


def test_notes_are_weighed_as_the_model_counts() -> None:
    usual = situation("U10 C20k; C20k; C10; C10")
    dear = replace(usual, factor=2 * usual.factor)
    notes = [planned(one, "pays").note_tokens for one in (usual, dear)]
    # Each of the note and its passage is framed by eight tokens.
    assert notes[1] - 16 == pytest.approx(2 * (notes[0] - 16), abs=2)


def test_what_may_be_too_long_is_rewritten_before_it_is_known_to_be() -> None:
    """The estimate of what has just come is off by a fiftieth at most."""
    about = {"newest": 40_000, "guessed": 40_000, "limit": 192_000, "window": 300_000}
    told = situation("U10 C20k; C20k; C10; C10 U10k", 191_201, sent=5, **about)
    assert planned(told, "budget").reason.endswith(
        ": 40000 are estimated, so 192000 may not be enough"
    )
    told = situation(told.items, 191_200, sent=5, **about)
    assert not told.standing.is_over
    assert ECONOMIC.plan(told, "budget") is None


def test_where_it_is_asked_for_less_is_kept_before_nothing_is_done() -> None:
    items = "U10 A1 " + "U1k A1 " * 7 + "U10 C10; C10; C10"
    most = round(RUNWAY * 52_000 - MOST_TOLD)
    for used in (most - 1, most + 1):
        assert ECONOMIC.plan(situation(items, used, window=60_000), "user") is not None
    assert ECONOMIC.plan(situation(items, most - 1, window=60_000), "budget") is None


def test_where_even_the_least_cannot_be_sent_all_that_may_goes() -> None:
    told = situation("U10 A1 " + "U1k A1 " * 7 + "U10 C10; C10; C10", 90_000, window=60_000)
    least = rebuild(sift(basis_of(told), less(ECONOMIC.keeping, LESS[-1])), "budget", "test")
    assert least is not None
    limit = at_most(least.tokens_after, least.tokens_after) - 1
    plan = planned(replace(told, standing=replace(told.standing, limit=limit)), "budget")
    assert at_most(plan.tokens_after, plan.tokens_after) <= limit


@pytest.mark.parametrize(
    ("cause", "given", "words"),
    [
        ("budget", {}, "at {used} the ceiling of 170000 is reached"),
        ("cold", {"warm": False, "cooling_ms": 540_000}, "the cache went cold 9 min ago"),
        ("cold", {"warm": False}, "the cache went cold a while ago"),
        (
            "pays",
            {"rent": 2**20, "requests": 25},
            "carrying 40030 tokens above the base over 25 requests has cost 1.0000 USD, 3 times "
            "the 0.0534 USD that rebuilding costs",
        ),
        ("overflow", {}, "the provider said that the prompt is too long"),
        ("user", {}, "asked for"),
    ],
)
def test_a_plan_says_why_with_its_numbers(cause: Cause, given: Given, words: str) -> None:
    told = situation("U10 C20k; C20k; C10; C10", rates=RATES, **given)
    plan = planned(told, cause)
    used = told.standing.used
    size = f"{used} to {plan.tokens_after} tokens: "
    assert plan.reason.startswith(size + words.format(used=used))
    assert plan.figures["ceiling"] == 170_000
    assert plan.figures["base"] == STATIC
    assert plan.figures["grown"] == used - STATIC
    assert plan.figures["rentPaidUsd"] == pytest.approx(told.standing.rent * SHARES, abs=1e-6)
    assert plan.figures["rebuildPremiumUsd"] == pytest.approx(0.35 * 40_030 * 4 * SHARES, abs=1e-6)
