"""A session whose provider caches any common prefix for nothing, and says not for how long."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.session.meter.gauge import rates
from tests.fakes.prefix_simulator import PrefixSimulator
from tests.fakes.scripted_model import Hold, says
from tests.session import inside
from tests.session.conftest import Desk, World, info
from tests.session.work import Worker

SYSTEM = "Work with care. " * 2_000
MINUTE = 60_000
RULES = CacheRules(
    by="prefix",
    marks=0,
    lookback=None,
    granularity=128,
    minimum=1_024,
    life="evict",
    short=10 * MINUTE,
    long=0,
    writes_cost=False,
    pings_renew=False,
)


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    world.known = replace(info("scripted"), cache=RULES)
    async with world.daemon() as running:
        yield running


async def cached(desk: Desk) -> Worker:
    desk.model.cache = PrefixSimulator(lambda: desk.world.time / 1000, RULES.minimum)
    return await desk.worker(policy="economic", system=SYSTEM)


async def test_what_is_foreseen_is_what_is_read_across_a_rewrite(desk: Desk) -> None:
    worker = await cached(desk)
    await worker.turns(3)
    await worker.session.rewriting.compact(None, None, dry_run=False)
    await worker.turns(2)
    steps = [record.body for record in inside.records(worker.session, "step")]
    assert len(steps) > 40
    assert sum(bool(step["read"]) for step in steps) == len(steps) - 1
    off = [abs(step["read"] - step["predictedRead"]) for step in steps]
    # At a rewrite the static part alone is common, of which the size was never reported.
    assert sorted(off)[-2] <= RULES.granularity
    assert max(off) < 0.05 * max(step["read"] for step in steps)


async def test_nothing_is_marked(desk: Desk) -> None:
    await (await cached(desk)).turn(3)
    assert not any(prompt.breakpoints for prompt in desk.prompts())


async def test_the_price_of_the_next_request_is_that_of_what_is_read(desk: Desk) -> None:
    worker = await cached(desk)
    await worker.turn(3)
    meter = worker.session.meter()
    assert meter.cost.next_request is not None
    warm = float(meter.cost.next_request)
    desk.world.time += 11 * MINUTE
    cold = float(str(worker.session.meter().cost.next_request))
    assert 8 * warm < cold < 11 * warm


async def test_an_end_that_nobody_knows_is_not_counted_down_to(desk: Desk) -> None:
    worker = await cached(desk)
    await worker.turn(3)
    found = worker.session.meter().cache
    assert (found.warm, found.expires_at) == (True, None)
    desk.world.time += 11 * MINUTE
    assert not worker.session.meter().cache.warm


@pytest.fixture
async def marking(world: World) -> AsyncIterator[Desk]:
    """Have four marks as usual, but free, for five minutes alone, and without pings."""
    rules = replace(MARKED, long=0, writes_cost=False, pings_renew=False)
    known = info("scripted")
    assert known.price is not None
    # As where one price is listed for writes.
    price = replace(known.price, write_1h=known.price.write_5m)
    world.known = replace(known, price=price, cache=rules)
    world.config = replace(world.config, keep_alive=True)
    async with world.daemon() as running:
        yield running


async def test_no_ping_is_sent_where_none_renews(marking: Desk) -> None:
    worker = await marking.worker(policy="economic", system=SYSTEM)
    await worker.turn(3)
    await marking.world.let_pass(280_000)
    for _ in range(20):
        await asyncio.sleep(0)
    assert marking.model.pings == []


async def test_no_hour_is_bought_where_none_is_sold(marking: Desk) -> None:
    worker = await marking.worker(policy="economic", system=SYSTEM)
    for _ in range(5):
        await worker.turn(3)
        marking.world.time += 20 * MINUTE
    assert {mark.ttl for prompt in marking.prompts() for mark in prompt.breakpoints} == {"5m"}


async def test_nobody_waits_for_a_prefix_that_is_written_for_nothing(marking: Desk) -> None:
    one, two = await marking.open(system=SYSTEM), await marking.open(system=SYSTEM)
    hold = Hold()
    marking.script([hold, *says("first")], says("second"))
    async with asyncio.TaskGroup() as group:
        first = group.create_task(marking.ask(one))
        async with asyncio.timeout(10):
            await hold.reached.wait()
        assert (await marking.ask(two)).stop_reason == "end_turn"
        assert not first.done()
        hold.released.set()


def test_unknown_prices_have_writes_at_the_price_of_input_where_they_are_free() -> None:
    unpriced = replace(info("scripted"), price=None)
    usual, free = rates(unpriced), rates(replace(unpriced, cache=RULES))
    assert usual.write == pytest.approx(1.25 * usual.input)
    assert free == replace(usual, write=usual.input)
