"""What the meter says of growth, of spending, and of where its count is from."""

from dataclasses import replace

import pytest

from sidecar.core.conversation.growing import NEWEST
from sidecar.core.prompt.meter import Meter
from sidecar.session.interface import Wish
from tests.session import inside
from tests.session.conftest import Desk, World

SYSTEM = "Work with care. " * 2_000
HOUR = 3_600_000


async def test_the_first_turn_has_not_brought_what_stood_there_before_it(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", system=SYSTEM)
    first = (await worker.turn(4)).meter
    brought = first.used - first.regions["system"] - first.regions["tools"]
    assert 0 < brought < first.used / 2
    assert first.velocity == brought
    assert abs(inside.gauge(worker.session).usual_growth() - brought) <= 0.1 * brought
    second = (await worker.turn(4)).meter
    assert second.velocity == pytest.approx((second.used - first.used + brought) / 2, rel=0.01)
    left = (second.compact_at - second.used) / second.velocity
    assert second.turns_until_compaction == pytest.approx(left, abs=1)


async def test_zones_begin_where_they_are_set_to(desk: Desk, world: World) -> None:
    worker = await desk.worker(policy="manual", system=SYSTEM)
    await worker.turns(1)
    share = worker.session.meter().percent / 100
    zones = []
    for factor in (1.5, 0.9, 0.8, 0.65):
        starts = (share * factor, share * (factor + 0.15), share * (factor + 0.3))
        desk.reload(replace(world.config, zones=starts))
        zones.append(worker.session.meter().zone)
    assert zones == ["green", "yellow", "orange", "red"]


async def test_all_that_is_spent_in_five_turns_is_burnt(desk: Desk) -> None:
    worker = await desk.worker(policy="manual", system=SYSTEM)
    assert worker.session.meter().burn_rate is None
    begun = desk.world.time
    await worker.turns(4)
    desk.world.time += 200_000
    alone = worker.session.meter()
    assert alone.burn_rate is not None
    passed = (desk.world.time - begun) / HOUR
    assert float(alone.burn_rate) * passed == pytest.approx(float(alone.cost.session), rel=0.01)
    await worker.session.rewriting.compact("opencode", None, dry_run=False)
    assert len(desk.model.summaries) == 1
    summed = worker.session.meter()
    assert float(summed.cost.session) > 1.02 * float(alone.cost.session)
    assert float(summed.burn_rate) * passed == pytest.approx(float(summed.cost.session), rel=0.01)


async def test_what_the_provider_counts_is_held_against_the_estimate(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    assert worker.session.meter().reason == "no response yet: estimated from the text"
    # Here a provider of whom nothing is simulated bills a few tokens for each request.
    desk.model.cache = None
    meter = (await worker.turn(3)).meter
    assert meter.accuracy == "exact"
    assert "as the provider reported it; the text alone was estimated at " in meter.reason
    estimated = int(meter.reason.rpartition(" ")[2])
    assert estimated > 10 * meter.used


async def test_compact_at_is_where_a_policy_that_counts_messages_compacts(desk: Desk) -> None:
    worker = await desk.worker(policy="picoclaw", window=60_000, max_tokens=4_000)
    meter = worker.session.meter()
    while not inside.rewrites(worker.session):
        told, meter = meter, (await worker.turn(1)).meter
    made = inside.rewrites(worker.session)[0]
    assert made.policy == "picoclaw"
    assert made.tokens_before == pytest.approx(told.compact_at, rel=0.15)
    assert made.tokens_before < 0.6 * 56_000


async def test_a_meter_that_was_told_before_tells_what_a_new_one_does(desk: Desk) -> None:
    worker = await desk.worker(policy="manual", window=900_000)

    def agreed() -> Meter:
        told = worker.session.meter()
        anew = inside.gauge(worker.session).read(told.cost.compact_now)
        # A clock that is asked goes on.
        assert float(told.burn_rate) == pytest.approx(float(anew.burn_rate), rel=1e-3)
        assert replace(told, burn_rate=None) == replace(anew, burn_rate=None)
        return told

    for steps in (NEWEST + 2, 1, 2 * NEWEST):
        last = await worker.turn(steps)
        desk.world.time += 90_000
        assert agreed().cost.last_turn == last.cost
    back = worker.results[1].message_id
    await worker.session.rollback.restore(Wish("conversation", before_message_id=back))
    assert agreed().cost.last_turn == worker.results[0].cost
