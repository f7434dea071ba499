"""What is marked to be cached, from what size on, and for how long."""

from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.parts import StepFinishPart
from sidecar.core.prompt.pricing import price
from sidecar.model.catalogue import lookup
from tests.fakes.cache_simulator import CacheSimulator
from tests.session import inside
from tests.session.conftest import Desk, World, info
from tests.session.work import Worker, looked

CHOOSY = "claude-haiku-4-5"
"""Caches nothing shorter than this, and our tools and system text alone are shorter."""
MINIMUM = lookup(CHOOSY).cache.minimum
MINUTE = 60_000
SYSTEM = "Work with care. " * 2_000


async def choosy(desk: Desk, **given: Any) -> Worker:
    desk.model.cache = CacheSimulator(lambda: desk.world.time / 1000, MINIMUM)
    return await desk.worker(policy="manual", model=CHOOSY, **given)


def static(worker: Worker) -> int:
    regions = worker.session.meter().regions
    return regions["tools"] + regions["system"]


def marked(desk: Desk) -> list[list[int | None]]:
    """Give where each request had breakpoints: the message, `None` for the static part."""
    return [[mark.message for mark in prompt.breakpoints] for prompt in desk.prompts()]


async def test_nothing_is_marked_that_is_shorter_than_the_model_caches(desk: Desk) -> None:
    worker = await choosy(desk)
    assert static(worker) < 0.8 * MINIMUM
    await worker.turns(3, 12)
    marks = marked(desk)
    assert marks[0] == []
    assert not any(None in one for one in marks)
    steps = [r.body for r in inside.records(worker.session, "step")]
    begun = next(number for number, one in enumerate(marks) if one)
    assert 0 < begun < len(marks) / 2
    assert all(marks[begun:])
    assert any(body["read"] for body in steps)


async def test_a_static_part_that_is_long_enough_is_marked_with_every_request(desk: Desk) -> None:
    worker = await choosy(desk, system=SYSTEM)
    assert static(worker) > MINIMUM
    await worker.turns(2, 3)
    assert all(one[0] is None for one in marked(desk))


async def test_what_is_foreseen_of_a_short_static_part_is_what_is_read(desk: Desk) -> None:
    worker = await choosy(desk)
    await worker.turns(2, 12)
    steps = [r.body for r in inside.records(worker.session, "step")]
    assert [body["predictedRead"] for body in steps] == [body["read"] for body in steps]
    assert any(body["read"] for body in steps)


def told(worker: Worker) -> list[dict[str, Any]]:
    records = inside.records(worker.session)
    return [dict(record.body) for record in records if record.kind == "caching"]


async def paused(worker: Worker, turns: int, minutes: int) -> None:
    for _ in range(turns):
        worker.desk.world.time += minutes * MINUTE
        await worker.turn(0)


async def test_the_static_part_is_kept_for_an_hour_once_the_session_s_own_pauses_pay_for_that(
    world: World,
) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="economic", system=SYSTEM)
        await worker.turn(2)
        await paused(worker, 1, 10)
        # The price of an hour is more than a twentieth of what was spent.
        assert {p.breakpoints[0].ttl for p in desk.prompts()} == {"5m"}
        assert not told(worker)
        await paused(worker, 1, 10)
        (body,) = told(worker)
        assert desk.prompts()[-1].breakpoints[0].ttl == body["staticTtl"] == "1h"
        assert body["saved"] > body["cost"] > 0
        assert body["why"].startswith("after 1 pauses of 5 to 60 min and 0 longer ones")
        await paused(worker, 2, 50)
        assert desk.prompts()[-1].breakpoints[0].ttl == "1h"
        assert len(told(worker)) == 1
        assert read_of_the_static_part(worker)
        session_id, cache = worker.session.id, desk.model.cache
    async with world.daemon(name="two") as desk:
        desk.model.cache = cache
        session = await desk.sessions.get(session_id)
        assert inside.model_view(session).static_ttl == "1h"
        worker = Worker(desk, session)
        await paused(worker, 1, 20)
        assert read_of_the_static_part(worker)
        await paused(worker, 12, 150)
        assert [body["staticTtl"] for body in told(worker)] == ["1h", "5m"]
        assert desk.prompts()[-1].breakpoints[0].ttl == "5m"


def read_of_the_static_part(worker: Worker) -> bool:
    """Whether the newest request read from the cache, and just what was foreseen."""
    body = inside.records(worker.session, "step")[-1].body
    return bool(body["predictedRead"] == body["read"] > 0)


async def test_a_pause_within_a_turn_counts_as_one_between_turns(desk: Desk) -> None:
    def slow(given: Any) -> str:
        desk.world.time += 10 * MINUTE
        return looked(given)

    worker = await desk.worker(policy="economic", system=SYSTEM)
    desk.editor.tools["look"] = slow
    await worker.turn(2)
    assert [prompt.breakpoints[0].ttl for prompt in desk.prompts()] == ["5m", "5m", "1h"]


async def test_a_preview_is_marked_as_its_request_will_be(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", system=SYSTEM)
    await worker.turn(2)
    await paused(worker, 1, 10)
    desk.world.time += 10 * MINUTE
    foreseen = await worker.session.rewriting.preview(({"type": "text", "text": "go"},))
    assert foreseen.breakpoints[0]["ttl"] == "1h"
    assert not told(worker)
    assert inside.model_view(worker.session).static_ttl == "5m"
    await worker.turn(0)
    assert desk.prompts()[-1].breakpoints[0].ttl == "1h"


async def test_the_meter_prices_the_next_request_as_it_is_sent_where_its_lifetime_changes(
    desk: Desk,
) -> None:
    worker = await desk.worker(policy="economic", system=SYSTEM)
    model = info(inside.static(worker.session).model)
    await worker.turn(2)
    for minutes in (10, 1, 10, 50, 1, *[150] * 12, 10):
        desk.world.time += minutes * MINUTE
        foretold = worker.session.meter().cost.next_request
        await worker.turn(0)
        usage = inside.parts(worker.session, StepFinishPart)[-1].usage
        billed = price(model, replace(usage, output=0))
        assert billed is not None
        assert float(foretold) == pytest.approx(float(billed), rel=0.03), minutes
    assert [body["staticTtl"] for body in told(worker)] == ["1h", "5m"]
