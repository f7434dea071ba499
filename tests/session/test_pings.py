"""A cached prefix is kept alive through a pause: three times at most, and only when it pays."""

import asyncio
from dataclasses import replace

import pytest

from sidecar.core.keepalive import PINGS
from sidecar.core.parts import Usage
from sidecar.core.prompt import flat
from sidecar.session import pings
from sidecar.session.events import SessionChanged
from tests.fakes.scripted_model import says
from tests.session.conftest import Desk, World

WHOLE = Usage(cache_read=9_000, requests=1)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pings, "AFTER", 0)


def told(desk: Desk) -> list[SessionChanged]:
    return [event for event in desk.of(SessionChanged) if event.cause == "ping"]


async def test_the_prefix_is_read_again_and_what_that_cost_is_logged(world: World) -> None:
    world.config = replace(world.config, keep_alive=True)
    async with world.daemon() as desk:
        desk.model.ping_usage = WHOLE
        session = (await desk.worker(system="Be brief. " * 4_000)).session
        desk.script(says("Done."))
        await desk.ask(session)
        cost = session.state.log.row.cost
        await desk.until(lambda: len(told(desk)) >= 1)
        sent, again = desk.model.requests[-1].prompt, desk.model.pings[0].prompt
        assert desk.model.pings[0].max_tokens == 0
        assert flat(again)[: len(flat(sent))] == flat(sent)
        assert again.messages[-1].role == "user"
        assert next(r.body["read"] for r in session.state.log.records if r.kind == "ping") == 9_000
        assert float(session.state.log.row.cost or 0) > float(cost or 0)


async def test_three_are_sent_at_most_and_a_prompt_begins_anew(world: World) -> None:
    world.config = replace(world.config, keep_alive=True)
    async with world.daemon() as desk:
        desk.model.ping_usage = WHOLE
        session = (await desk.worker(system="Be brief. " * 4_000)).session
        desk.script(says("Done."), says("Again."))
        await desk.ask(session)
        await desk.until(lambda: len(told(desk)) >= 2)
        # The fourth would have come by now if there were one.
        await asyncio.sleep(0.3)
        first = len(told(desk))
        assert first <= PINGS
        await desk.ask(session)
        await desk.until(lambda: len(told(desk)) > first)


async def test_nothing_is_pinged_unless_it_is_asked_for(world: World) -> None:
    async with world.daemon() as desk:
        desk.model.ping_usage = WHOLE
        session = (await desk.worker(system="Be brief. " * 4_000)).session
        desk.script(says("Done."))
        await desk.ask(session)
        await asyncio.sleep(0.2)
        assert desk.model.pings == []
