"""What a session does with its context while the user is away, and what ends that."""

import asyncio
from dataclasses import replace

import pytest

from sidecar.core.parts import ToolPart
from sidecar.session.log.events import EpochChanged
from tests.fakes.scripted_model import SUMMARY, Hold, says, started, stop, text
from tests.session.conftest import LIMIT, Desk, World
from tests.session.work import Worker, shown

ROOM = {"window": 60_000, "max_tokens": 4_000}
SECOND = 1_000


async def nearly_full(desk: Desk) -> Worker:
    """A session whose next turn would need a rewrite."""
    worker = await desk.worker(policy="opencode", **ROOM)
    while worker.session.meter().turns_until_compaction != 1 or len(worker.results) < 3:
        await worker.turns(1, 3)
    assert not desk.model.summaries
    return worker


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_it_waits_until_nothing_has_happened_for_five_seconds(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        await world.let_pass(4 * SECOND)
        await settle()
        assert not desk.model.summaries
        # A turn, however short, begins the wait anew.
        await worker.turn(0, "Thank you.")
        await world.let_pass(4 * SECOND)
        await settle()
        assert not desk.model.summaries
        await world.let_pass(SECOND)
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        [change] = desk.of(EpochChanged)
        assert (change.cause, change.status) == ("idle", "completed")
        assert len(desk.model.summaries) == 1


async def test_after_a_pin_it_waits_once_more(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        await world.let_pass(4 * SECOND)
        part = desk.messages(worker.session)[-1].parts[0]
        await worker.session.rewriting.pin(part.id, pinned=True)
        for seconds in (1, 3):
            await world.let_pass(seconds * SECOND)
            await settle()
        assert not desk.model.summaries
        await world.let_pass(2 * SECOND)
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        assert len(desk.model.summaries) == 1


async def test_what_the_user_has_just_taken_back_is_not_done_again(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        await world.let_pass(4 * SECOND)
        await worker.session.rewriting.compact(None, None, dry_run=False)
        await worker.session.rewriting.undo(None)
        asked = len(desk.model.summaries)
        await world.let_pass(SECOND)
        await settle()
        assert len(desk.model.summaries) == asked
        await world.let_pass(5 * SECOND)
        await settle()
        assert len(desk.model.summaries) == asked
        assert [change.cause for change in desk.of(EpochChanged)] == ["user", "undo"]


async def test_a_rewrite_that_will_be_forced_waits_for_no_third_turn(world: World) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="opencode", **ROOM)
        await worker.turns(2, 8)
        assert worker.session.meter().turns_until_compaction == 1
        await world.let_pass(5 * SECOND)
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        assert [change.cause for change in desk.of(EpochChanged)] == ["idle"]


@pytest.mark.parametrize("steps", [3, 8])
async def test_it_fires_wherever_the_next_turn_would_be_forced(world: World, steps: int) -> None:
    """Turns so long that leaving the newest two alone would leave hardly anything to compact."""
    async with world.daemon() as desk:
        worker = await desk.worker(policy="economic", window=40_000, max_tokens=4_000)
        while worker.session.meter().turns_until_compaction not in (0, 1):
            await worker.turns(1, steps)
        before = len(desk.of(EpochChanged))
        await world.let_pass(5 * SECOND)
        await desk.until(lambda: len(desk.of(EpochChanged)) > before)
        change = desk.of(EpochChanged)[-1]
        assert (change.cause, change.status) == ("idle", "completed")
        assert change.tokens_after < 0.6 * 36_000
        await worker.turns(1, steps)
        assert len(desk.of(EpochChanged)) == before + 1


async def test_the_last_two_turns_are_left_alone(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        await world.let_pass(5 * SECOND)
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        sent = await shown(worker)
        whole = [n for n in range(1, worker.done + 1) if f"file_{n}.py defines marker" in sent]
        assert whole == list(range(worker.done - 5, worker.done + 1))


async def test_whoever_comes_back_does_not_wait(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        desk.model.written.append([started(), Hold(), *text(SUMMARY), stop()])
        hold = desk.model.written[0][1]
        assert isinstance(hold, Hold)
        await world.let_pass(5 * SECOND)
        async with asyncio.timeout(LIMIT):
            await hold.reached.wait()
        desk.model.written.append(says(SUMMARY))
        # The answer that nobody waited for never comes, and the turn ends all the same.
        await worker.turns(1, 3)
        assert not [change for change in desk.of(EpochChanged) if change.cause == "idle"]
        assert "Look at the next files." in await shown(worker)


async def test_what_was_pinned_meanwhile_stays(world: World) -> None:
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        hold = Hold()
        desk.model.written.append([started(), hold, *text(SUMMARY), stop()])
        await world.let_pass(5 * SECOND)
        async with asyncio.timeout(LIMIT):
            await hold.reached.wait()
        parts = (part for m in desk.messages(worker.session) for part in m.parts)
        first = next(part for part in parts if isinstance(part, ToolPart))
        await worker.session.rewriting.pin(first.id, pinned=True)
        hold.released.set()
        await desk.until(lambda: bool(desk.of(EpochChanged)))
        sent = await shown(worker)
        assert "file_1.py defines marker" in sent
        assert "file_2.py defines marker" not in sent


@pytest.mark.parametrize("off", ["idle", "autoCompact", "policy"])
async def test_it_can_be_turned_off(world: World, off: str) -> None:
    world.config = replace(world.config, idle_compaction=off != "idle")
    async with world.daemon() as desk:
        worker = await nearly_full(desk)
        if off != "idle":
            await worker.session.set_option(off, "off" if off == "autoCompact" else "manual")
        revision = worker.session.opened().revision
        await world.let_pass(6 * SECOND)
        await settle()
        assert not desk.model.summaries
        assert worker.session.opened().revision == revision
