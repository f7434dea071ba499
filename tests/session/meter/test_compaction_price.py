"""What a compaction would cost is planned where it is asked for, and never by reading the meter."""

import itertools
from dataclasses import replace

import pytest

from sidecar.session.log.events import MeterChanged, TurnEnded
from sidecar.store.format.log_records import OptionRecord
from tests.fakes.scripted_model import says
from tests.polling import until
from tests.session import inside
from tests.session.conftest import Desk
from tests.session.recorder import entered


def full(desk: Desk) -> None:
    """No context counts as one with much room left."""
    desk.reload(replace(desk.world.config, zones=(0.0, 0.9, 0.95)))


async def test_while_there_is_much_room_a_price_is_planned_only_for_who_asks(desk: Desk) -> None:
    worker = await desk.worker(policy="economic")
    with entered() as seen:
        await worker.turns(3)
        assert worker.session.meter().zone == "green"
        await until(lambda: seen.times["session/lifecycle/session.Session._tell_price"])
        await worker.session.set_option("autoCompact", False)
        assert type(desk.events[-1]) is MeterChanged
    assert not seen.times["session/compaction/decision.Decisions.by_hand"]
    assert worker.session.priced_meter().cost.compact_now is not None


async def test_reading_the_meter_plans_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = await desk.worker(policy="economic")
    full(desk)
    session = worker.session
    inside.plan_prices(monkeypatch, map(str, itertools.count()))
    # A turn that ends has changed the context: its price is found for those who watch, but later.
    await worker.turns(1)
    assert [event.meter.cost.compact_now for event in desk.of(MeterChanged)][-1] is None
    await desk.until(lambda: session.meter().cost.compact_now is not None)
    told = [type(event) for event in desk.events]
    assert told.index(TurnEnded) < len(told) - 1 == told.index(MeterChanged, -1)
    assert [session.meter().cost.compact_now for _ in range(3)] == ["0"] * 3
    assert session.priced_meter().cost.compact_now == "0"
    # The cache has gone cold since: nobody knows the price, until it is asked for.
    desk.world.time += 400_000
    assert [session.meter().cost.compact_now for _ in range(3)] == [None] * 3
    assert session.priced_meter().cost.compact_now == "1"
    assert session.meter().cost.compact_now == "1"


async def test_nothing_is_planned_while_too_little_was_said_to_free_anything(desk: Desk) -> None:
    session = (await desk.worker(policy="economic")).session
    full(desk)
    desk.script(says("done"))
    with entered() as seen:
        await desk.ask(session, "look")
        looked = "session/lifecycle/session.Session._tell_price"
        await until(lambda: seen.times[looked])
        assert session.priced_meter().cost.compact_now is None
    assert not seen.times["session/compaction/decision.Decisions.by_hand"]
    assert not seen.times["core/ledger/units.units_of"]


async def test_a_price_stays_with_what_changes_nothing_of_it(desk: Desk) -> None:
    worker = await desk.worker(policy="economic")
    full(desk)
    await worker.turns(3)
    session = worker.session
    price, log = session.rewriting.price, inside.log(session)
    await desk.until(lambda: price.known() is not None)
    known, revision = price.known(), log.row.revision
    await log.writer.commit(OptionRecord(config_id="mode"))
    assert price.known() is None
    price.stays(revision - 1, log.row.revision)
    assert price.known() is None
    price.stays(revision, log.row.revision)
    assert price.known() == known
