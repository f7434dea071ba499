"""Keep-alive: when a ping is sent, what it says, what it costs, and what ends it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import flat
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import MeterChanged, SessionChanged
from sidecar.store.format.values import Record
from tests.fakes.scripted_model import Hold, says
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World
from tests.session.work import Worker

DUE = 280_000
"""Milliseconds after a request's start; the clock of the tests ticks at each look at it."""


@pytest.fixture
async def desk(world: World) -> AsyncIterator[Desk]:
    world.config = replace(world.config, keep_alive=True)
    async with world.daemon() as running:
        yield running


async def settle() -> None:
    """Let every task run as far as it can without anything else happening."""
    for _ in range(20):
        await asyncio.sleep(0)


async def pinged(desk: Desk, session: Session) -> Record:
    """Let time pass until a ping is due, and wait until it is logged."""
    before = len(pings(session))
    await desk.world.let_pass(DUE)
    await desk.until(lambda: len(told(desk)) > before)
    return pings(session)[-1]


def pings(session: Session) -> list[Record]:
    return inside.records(session, "ping")


def told(desk: Desk) -> list[Any]:
    return [event for event in desk.of(SessionChanged) if event.cause == "ping"]


async def worked(desk: Desk, **given: Any) -> Worker:
    worker = await desk.worker(**given)
    await worker.turn(2)
    return worker


async def test_a_ping_is_the_last_request_without_an_answer(desk: Desk) -> None:
    worker = await worked(desk)
    record = await pinged(desk, worker.session)
    (ping,), asked = desk.model.pings, desk.model.requests[-1]
    assert replace(ping, max_tokens=asked.max_tokens) == replace(
        asked, prompt=replace(asked.prompt, breakpoints=ping.prompt.breakpoints)
    )
    assert ping.max_tokens == 0
    newest = asked.prompt.breakpoints[-1]
    assert (ping.prompt.breakpoints[0].message, ping.prompt.breakpoints[-1]) == (None, newest)
    assert record.body["read"] == record.body["predictedRead"]
    assert [record.body[name] for name in ("uncached", "write5m", "write1h")] == [0, 0, 0]
    assert "back in time" in str(record.body["why"])


async def test_it_is_sent_shortly_before_the_cache_dies_and_not_earlier(desk: Desk) -> None:
    worker = await worked(desk)
    started = inside.model_view(worker.session).anchor.started
    await desk.world.let_pass(started + DUE - 1_000 - desk.world.time)
    await desk.world.let_pass(0)
    assert desk.model.pings == []
    await desk.world.let_pass(1_000)
    await desk.until(lambda: bool(told(desk)))
    assert DUE <= int(str(pings(worker.session)[0].body["started"])) - started < DUE + 100


async def test_its_cost_is_the_sessions_and_the_meter_shows_what_it_kept(desk: Desk) -> None:
    worker = await worked(desk)
    before = inside.row(worker.session).cost
    record = await pinged(desk, worker.session)
    cost = Decimal(str(record.body["cost"]))
    assert cost == Decimal("0.30") * int(str(record.body["read"])) / 1_000_000
    assert inside.cost(worker.session) == Decimal(before) + cost
    shown = desk.of(MeterChanged)[-1].meter
    assert Decimal(shown.cost.session) == Decimal(before) + cost
    assert shown.cache.expires_at == int(str(record.body["started"])) + 300_000
    assert told(desk)[-1].revision == worker.session.opened().revision


async def test_who_comes_back_after_it_reads_all_that_was_cached(desk: Desk) -> None:
    worker = await worked(desk)
    record = await pinged(desk, worker.session)
    desk.world.time += 200_000
    assert worker.session.meter().cache.warm
    await worker.turn(0)
    step = next(r for r in reversed(inside.records(worker.session)) if r.kind == "step")
    assert step.body["read"] == step.body["predictedRead"] == record.body["read"]
    assert "miss" not in step.body


async def test_three_are_sent_in_a_pause_and_three_in_the_next(desk: Desk) -> None:
    worker = await worked(desk)
    for pause in (1, 2):
        for _ in range(3):
            await pinged(desk, worker.session)
        await desk.world.let_pass(DUE)
        await settle()
        assert (len(desk.model.pings), desk.world.sleepers) == (3 * pause, [])
        await worker.turn(1)


async def test_none_is_sent_unless_it_is_wanted(world: World) -> None:
    async with world.daemon() as desk:
        await worked(desk)
        await world.let_pass(DUE)
        await settle()
        assert desk.model.pings == []


async def test_none_is_sent_for_the_offline_model(desk: Desk) -> None:
    await worked(desk, model="offline")
    await desk.world.let_pass(DUE)
    await settle()
    assert desk.model.pings == []


@pytest.mark.parametrize(
    "given",
    [{"model": "a-model-without-price"}, {"builtin_tools": False, "system": "Be brief."}],
    ids=["price unknown", "too short to be cached"],
)
async def test_none_is_sent_where_it_cannot_pay(
    desk: Desk, given: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    worker = await desk.worker(**given)
    await worker.turn(0)
    await desk.world.let_pass(DUE)
    await settle()
    assert (desk.model.pings, desk.world.sleepers, caplog.text) == ([], [], "")


async def test_none_is_sent_for_what_lives_for_an_hour_anyway(desk: Desk) -> None:
    system = "Be brief. " * 5_000
    hour = await desk.worker(system=system)
    for _ in range(3):
        desk.world.time += 600_000
        await hour.turn(0)
    assert inside.model_view(hour.session).static_ttl == "1h"
    await desk.world.let_pass(DUE)
    await settle()
    assert desk.model.pings == []
    minutes = await desk.worker(system=system, policy="manual")
    await minutes.turn(0)
    await pinged(desk, minutes.session)


async def test_none_is_sent_for_a_session_that_another_daemon_writes(desk: Desk) -> None:
    worker = await worked(desk)
    inside.owned(worker.session).read_only = True
    await desk.world.let_pass(DUE)
    await settle()
    assert desk.model.pings == []


async def test_none_is_sent_to_who_never_comes_back_in_time(desk: Desk) -> None:
    worker = await desk.worker()
    for _ in range(20):
        await worker.turn(0)
        desk.world.time += 900_000
    await worker.turn(2)
    await desk.world.let_pass(DUE)
    await settle()
    assert desk.model.pings == []


async def test_none_is_sent_for_what_is_no_longer_sent_like_that(desk: Desk) -> None:
    worker = await worked(desk, system="Be brief. " * 5_000, policy="manual")
    await worker.session.set_option("effort", "high")
    await desk.world.let_pass(DUE)
    await settle()
    assert desk.model.pings == []


async def test_none_is_sent_when_it_would_come_too_late(desk: Desk) -> None:
    await worked(desk)
    await desk.world.let_pass(DUE + 20_000)
    await settle()
    assert (desk.model.pings, desk.world.sleepers) == ([], [])


async def test_a_prompt_ends_the_pause(desk: Desk) -> None:
    worker = await worked(desk)
    await desk.world.let_pass(1_000)
    hold = Hold()
    desk.script([hold, *says("done")])
    async with asyncio.TaskGroup() as group:
        group.create_task(desk.ask(worker.session))
        async with asyncio.timeout(LIMIT):
            await hold.reached.wait()
        assert desk.world.sleepers == []
        hold.released.set()


async def test_a_prompt_cancels_a_ping_that_is_on_its_way(desk: Desk) -> None:
    worker = await worked(desk)
    cost, hold = inside.row(worker.session).cost, Hold()
    desk.model.answers.append(hold)
    await desk.world.let_pass(DUE)
    async with asyncio.timeout(LIMIT):
        await hold.reached.wait()
    await worker.turn(0)
    assert pings(worker.session) == []
    assert inside.cost(worker.session) > Decimal(cost)
    await pinged(desk, worker.session)


async def test_a_failed_ping_ends_the_pings_of_that_pause(desk: Desk) -> None:
    worker = await worked(desk)
    desk.model.answers.append(ModelFailed("busy", kind="overloaded", retryable=True))
    await desk.world.let_pass(DUE)
    await settle()
    assert (len(desk.model.pings), desk.world.sleepers) == (1, [])
    await worker.turn(1)
    await pinged(desk, worker.session)


async def test_who_refuses_pings_gets_no_more_of_them(desk: Desk) -> None:
    worker = await worked(desk)
    desk.model.answers.append(ModelFailed("no", kind="bad_request"))
    await desk.world.let_pass(DUE)
    await settle()
    await worker.turn(1)
    await desk.world.let_pass(DUE)
    await settle()
    assert len(desk.model.pings) == 1
    assert pings(worker.session) == []


async def test_a_bug_in_a_ping_leaves_the_session_alone(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await worked(desk)
    desk.model.answers.append(KeyError("a bug"))
    await desk.world.let_pass(DUE)
    await settle()
    assert "work beside the turns failed" in caplog.text
    await worker.turn(1)


async def test_closing_the_session_ends_it(desk: Desk) -> None:
    worker = await worked(desk)
    await desk.world.let_pass(1_000)
    await desk.sessions.close(worker.session.id)
    await settle()
    assert desk.world.sleepers == []


async def test_a_restart_knows_of_the_pings_before(world: World) -> None:
    world.config = replace(world.config, keep_alive=True)
    async with world.daemon() as desk:
        worker = await worked(desk)
        record = await pinged(desk, worker.session)
        last = flat(desk.model.pings[0].prompt)
        cache = desk.model.cache
    async with world.daemon(name="two") as desk:
        desk.model.cache = cache
        session = await desk.sessions.get(worker.session.id)
        session.audience.attach(desk.watch, desk.editor)
        started = int(str(record.body["started"]))
        assert session.meter().cache.expires_at == started + 300_000
        await desk.world.let_pass(started + DUE - world.time)
        await desk.until(lambda: bool(told(desk)))
        assert flat(desk.model.pings[0].prompt) == last
        assert pings(session)[-1].body["read"] == record.body["read"]
