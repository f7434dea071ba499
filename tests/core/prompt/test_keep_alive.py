"""What keeping a prefix costs and saves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.prompt.cache.keep_alive import PINGS, chance_back, ping_pays
from sidecar.core.prompt.cache.lifetime import pauses

CLASSIC = {"write": 3.75e-6, "read": 0.30e-6}
OPUS = {"write": 5e-6, "read": 0.20e-6}
MINUTE = 60_000


def test_a_ping_is_weighed_in_dollars() -> None:
    found = ping_pays(100_000, write=4e-6, read=1e-6, pings=0, chance=0.5)
    assert found.cost == pytest.approx(0.1)
    assert found.saved == pytest.approx(0.15)
    assert found.pays
    assert found.reason == (
        "50% are back in time, which saves 0.1500 USD on average; "
        "reading 100000 tokens once more costs 0.1000"
    )


@pytest.mark.parametrize("prices", [CLASSIC, OPUS])
def test_three_pings_pay_by_what_was_recorded_and_a_fourth_is_not_sent(
    prices: dict[str, float],
) -> None:
    assert [ping_pays(80_000, pings=n, **prices).pays for n in range(6)] == [
        *[True] * PINGS, False, False, False,
    ]  # fmt: skip
    assert ping_pays(80_000, pings=3, **prices).reason.startswith("3 pings were sent")


def test_a_ping_pays_from_the_chance_on_that_the_prices_ask_for() -> None:
    even = 0.30 / (3.75 - 0.30)
    assert not ping_pays(1_000, pings=0, chance=even - 0.001, **CLASSIC).pays
    assert ping_pays(1_000, pings=0, chance=even + 0.001, **CLASSIC).pays


def test_what_lives_for_an_hour_anyway_is_not_saved_by_a_ping() -> None:
    kept = ping_pays(10_000, pings=0, surviving=8_000, **CLASSIC)
    assert kept.cost == ping_pays(10_000, pings=0, **CLASSIC).cost
    assert kept.saved == pytest.approx(ping_pays(2_000, pings=0, **CLASSIC).saved)
    assert not kept.pays


def test_without_caching_a_ping_never_pays() -> None:
    assert not ping_pays(10_000, pings=0, chance=1.0, write=3e-6, read=3e-6).pays


def test_chances_fall_the_longer_a_pause_lasts() -> None:
    assert chance_back((), 0) == pytest.approx(0.415)
    assert chance_back((), 2) == pytest.approx(0.175)
    assert chance_back((), 99) == pytest.approx(0.099)


def test_the_chances_are_those_that_were_counted_in_recorded_sessions() -> None:
    counted = [0.415, 0.278, 0.175, 0.128, 0.134, 0.099]
    assert [chance_back((), pings) for pings in range(6)] == pytest.approx(counted)


def test_the_session_s_own_pauses_come_to_count_more() -> None:
    quick = [n * 6 * MINUTE for n in range(30)]
    slow = [n * 50 * MINUTE for n in range(30)]
    assert chance_back(quick, 0) > 0.9
    assert chance_back(slow, 0) < 0.06
    assert chance_back([0, 10 * MINUTE], 0) > chance_back([0, 10 * MINUTE + 1], 0)
    assert chance_back([0, 5 * MINUTE], 0) == chance_back((), 0)


@given(st.lists(st.integers(0, 10**8)), st.integers(0, 20))
def test_a_chance_is_one(gaps: list[int], pings: int) -> None:
    starts = [sum(gaps[:n]) for n in range(len(gaps))]
    assert 0 < chance_back(starts, pings) < 1
    assert list(pauses(starts)) == gaps[: max(0, len(gaps) - 1)]
