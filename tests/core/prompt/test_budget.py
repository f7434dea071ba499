"""The window's arithmetic."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.prompt.budget import (
    REGIONS,
    Zone,
    budget,
    burn_rate,
    is_spike,
    over_soft_limit,
    shares,
    spread,
    turns_until,
    velocity,
    zone,
    zones,
)
from sidecar.core.prompt.meter import CacheState, Costs, Size, measure


@pytest.mark.parametrize(
    ("used", "expected"),
    [(0, "green"), (49, "green"), (50, "yellow"), (74, "yellow"), (75, "orange"), (90, "red")],
)
def test_a_zone_is_told_by_the_share_that_is_used(used: int, expected: str) -> None:
    assert zone(used, 100) == expected


def test_zones_begin_where_they_are_set_to() -> None:
    assert [zone(used, 100, (0.2, 0.3, 0.4)) for used in (19, 20, 30, 40)] == [*get_args(Zone)]
    assert [low for low, _, _ in zones((0.2, 0.3, 0.4))] == [0.0, 0.2, 0.3, 0.4]


def test_each_zone_ends_where_the_next_begins() -> None:
    bounds = [bound for low, high, _ in zones() for bound in (low, high)]
    assert bounds == [0.0, 0.5, 0.5, 0.75, 0.75, 0.9, 0.9, 1.0]


def test_output_is_reserved_and_never_squeezed() -> None:
    assert budget(200_000, 32_000).limit == 168_000
    assert budget(200_000, 100).reserved_output == 4_000
    assert budget(2_000, 32_000).limit == 0


def test_velocity_looks_at_five_turns() -> None:
    assert velocity([0, 100, 200, 300, 400, 500, 1500]) == 280
    assert velocity([40]) == 40
    assert velocity([]) == 0
    assert velocity([500, 100]) == 0
    assert velocity([1000, 2000, 3000, 500, 1500]) == 1000


def test_turns_until_full_are_counted_where_the_prompt_grows() -> None:
    assert turns_until(0, 100, 30) == 4
    assert turns_until(200, 100, 30) == 0
    assert turns_until(0, 100, 0) is None


@given(st.dictionaries(st.sampled_from(REGIONS), st.integers(0, 10**6)), st.integers(0, 2_000_000))
def test_regions_always_add_up(raw: dict, total: int) -> None:
    shares = spread(raw, total)
    assert sum(shares.values()) == total
    assert set(shares) == set(REGIONS)
    assert all(tokens >= 0 for tokens in shares.values())


def test_the_meter_is_one_sum() -> None:
    meter = measure(
        session_id="s",
        revision=3,
        room=budget(200_000, 32_000),
        compact_at=151_200,
        burn_rate=None,
        size=Size(84_000, {"system": 2, "user": 2}, "exact", "as reported"),
        turn_sizes=[20_000, 40_000, 84_000],
        cache=CacheState(warm=True, expires_at=1, hit_rate=0.9),
        cost=Costs("1", "0.1", None, None),
    )
    assert meter.used == sum(meter.regions.values()) == 84_000
    assert (meter.percent, meter.zone, meter.free) == (50.0, "yellow", 84_000)
    assert meter.velocity == 32_000
    assert meter.turns_until_compaction == 3
    assert meter.tools_by_server == {}


def test_the_meter_counts_tools_by_server() -> None:
    tools = (("", 10), ("notes", 7), ("notes", 6), ("", 1), ("web", 9))
    size = Size(100, {"system": 17, "tools": 33}, "exact", "as reported", tools)
    cache, cost = CacheState(True, 1, 0.9), Costs(None, None, None, None)
    meter = measure(
        session_id="s", revision=3, room=budget(1_000, 100), compact_at=800, burn_rate=None,
        size=size, turn_sizes=[], cache=cache, cost=cost,
    )  # fmt: skip
    assert meter.regions["tools"] == 66
    assert meter.tools_by_server == {"notes": 26, "web": 18}


@given(st.lists(st.integers(0, 10_000), min_size=1), st.integers(0, 1_000_000))
def test_shares_add_up_and_are_fair(raw: list[int], total: int) -> None:
    told = shares(raw, total)
    weight = sum(raw)
    assert sum(told) == (total if weight else 0)
    for one, given_to_it in zip(raw, told, strict=True):
        assert abs(given_to_it - (one * total / weight if weight else 0)) <= 1


def test_a_turn_that_adds_three_times_what_is_usual_is_a_spike() -> None:
    assert is_spike([0, 1_000, 2_000, 5_000])
    assert not is_spike([0, 1_000, 2_000, 4_900])
    assert not is_spike([0, 90_000])
    assert not is_spike([0, 1_000, 500, 600])


def test_a_region_over_four_fifths_of_its_room_is_named() -> None:
    regions = {"system": 20, "tools": 10, "toolResults": 57, "user": 3}
    assert over_soft_limit(100, regions) == ("toolResults",)
    assert over_soft_limit(100, {**regions, "toolResults": 56}) == ()
    assert over_soft_limit(100, {"system": 81}) == ("system",)


def test_the_history_gets_what_the_prefix_leaves() -> None:
    before = {"system": 10, "tools": 20, "ledger": 5}
    assert over_soft_limit(100, {**before, "user": 53}) == ("user",)
    assert over_soft_limit(100, {**before, "user": 52}) == ()
    assert over_soft_limit(20, {"system": 16, "tools": 16, "user": 1}) == ("user",)


def test_what_is_burnt_is_told_by_the_hour() -> None:
    assert burn_rate([(0, 0.5), (1_800_000, 0.5)], 3_600_000) == 1.0
    assert burn_rate([(0, 0.5)], 30_000) is None
    assert burn_rate([], 30_000) is None
