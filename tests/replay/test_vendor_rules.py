"""When a recording would be rewritten, and what it costs, by other rules of the cache."""

from dataclasses import replace

import pytest

from sidecar.core.plans.plan import Rates
from sidecar.core.policies import policies
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.replay.simulate import SimulatedRun, simulate
from sidecar.replay.simulated_cache import USUAL
from tests.replay.talks import RATES, WINDOW, talk

PREFIX = CacheRules(
    by="prefix",
    marks=0,
    lookback=None,
    granularity=128,
    minimum=1_024,
    life="evict",
    short=3_600_000,
    long=0,
    writes_cost=False,
)
FREE_WRITES = replace(RATES, write=RATES.input)
NOTHING = replace(PREFIX, by="nothing", minimum=0)
NO_CACHE = replace(FREE_WRITES, read=RATES.input)
FREE = Rates(0.0, 0.0, 0.0, 0.0)
PAUSE = "; ".join([f"{10 * n}: c3000" for n in range(1, 12)] + ["760: p10"])
STEADY = "; ".join(f"{10 * n}: c700" for n in range(1, 120))


def played(
    notation: str, rates: Rates, rules: CacheRules, policy: str = "economic"
) -> SimulatedRun:
    return simulate(talk(f"0: t1000; {notation}"), policies()[policy], WINDOW, rates, rules=rules)


def rewrites(notation: str, rates: Rates, rules: CacheRules) -> list[tuple[int, str]]:
    return [(one.step, one.cause) for one in played(notation, rates, rules).rewrites]


def test_a_pause_makes_a_rewrite_free_only_where_the_cache_goes_cold() -> None:
    assert rewrites(PAUSE, RATES, USUAL) == [(12, "cold")]
    assert rewrites(PAUSE, FREE_WRITES, PREFIX) == []
    assert rewrites(PAUSE, FREE_WRITES, replace(PREFIX, short=600_000)) == [(12, "cold")]


def test_where_nothing_is_cached_a_rewrite_pays_as_soon_as_it_may() -> None:
    usual, cheaper, none = (
        rewrites(STEADY, rates, rules)
        for rates, rules in ((RATES, USUAL), (FREE_WRITES, PREFIX), (NO_CACHE, NOTHING))
    )
    assert none[0] == (policies()["economic"].spacing, "pays")
    assert usual[0] > cheaper[0] > none[0]


def test_where_all_is_free_nothing_is_rewritten_to_save() -> None:
    assert {cause for _, cause in rewrites(STEADY, FREE, PREFIX)} <= {"budget"}


def test_a_prefix_is_billed_as_read_and_the_rest_as_input() -> None:
    run = played("10: p500; 20: p500; 4000: p500", FREE_WRITES, PREFIX, "manual")
    assert [(one.read, one.write, one.uncached) for one in run.sent] == [
        (0, 0, 3_000), (2_944, 0, 556), (3_456, 0, 544), (0, 0, 4_500),
    ]  # fmt: skip
    assert run.cost == pytest.approx(3_000 + 556 + 544 + 4_500 + 0.1 * (2_944 + 3_456))
    assert run.alike == run.cost
