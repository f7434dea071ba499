"""Carrying out and taking back when writing fails, callers go away, or several come at once."""

import asyncio
from typing import Any

import pytest

from sidecar.core.errors import NothingToDo, StorageFailed
from sidecar.core.parts import ToolCompleted, ToolPart
from sidecar.session.log.events import EpochChanged
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk, World, _refused
from tests.session.work import Worker, shown


async def compact(worker: Worker, strategy: str = "economic", **given: Any) -> Any:
    given = {"expected_revision": None, "dry_run": False, **given}
    return await worker.session.rewriting.compact(strategy, **given)


def told(desk: Desk) -> list[tuple[str, str]]:
    return [(change.compaction_id, change.status) for change in desk.of(EpochChanged)]


def calls(desk: Desk, worker: Worker) -> list[ToolPart]:
    found = (p for m in desk.messages(worker.session) for p in m.parts)
    return [part for part in found if isinstance(part, ToolPart)]


async def test_a_failed_undoing_leaves_the_rewrite(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    whole = await shown(worker)
    done = await compact(worker)
    before, meter = await shown(worker), worker.session.meter()
    write = desk.store.write
    desk.store.write = _refused  # type: ignore[method-assign]
    with pytest.raises(StorageFailed):
        await worker.session.rewriting.undo(done["compactionId"])
    desk.store.write = write  # type: ignore[method-assign]
    assert await shown(worker) == before
    assert worker.session.meter().used == meter.used
    await worker.session.rewriting.undo(done["compactionId"])
    assert await shown(worker) == whole
    name = done["compactionId"]
    assert told(desk) == [(name, "completed"), (name, "failed"), (name, "undone")]
    await worker.turns(1, 2)


async def test_a_failed_pin_pins_nothing(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        worker = await desk.worker(policy="manual")
        await worker.turns(3)
        part = calls(desk, worker)[2]
        write = desk.store.write
        desk.store.write = _refused  # type: ignore[method-assign]
        with pytest.raises(StorageFailed):
            await worker.session.rewriting.pin(part.id, pinned=True)
        desk.store.write = write  # type: ignore[method-assign]
        assert not inside.pinned(worker.session)
        revision = worker.session.opened().revision
        assert await worker.session.rewriting.pin(part.id, pinned=True) > revision
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        assert inside.pinned(session) == {part.id}


async def test_a_caller_that_goes_away_leaves_a_whole_rewrite(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    write, held = desk.store.write, asyncio.Event()

    def noticed(*changes: Any, **given: Any) -> Any:
        held.set()
        return write(*changes, **given)

    desk.store.write = noticed  # type: ignore[method-assign]
    asked = asyncio.create_task(compact(worker))
    await held.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    desk.store.write = write  # type: ignore[method-assign]
    await desk.until(lambda: bool(desk.of(EpochChanged)))
    assert told(desk) == [("cmp_1", "completed")]
    await worker.turns(1, 2)
    await worker.session.rewriting.undo("cmp_1")
    await worker.turns(1, 2)


async def test_several_at_once_are_one_after_another(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(4)
    names = ("economic", "picoclaw", "economic", "gemini")
    asked = [compact(worker, name) for name in names]
    done = await asyncio.gather(*asked, return_exceptions=True)
    made = [one["compactionId"] for one in done if isinstance(one, dict)]
    assert made
    assert all(isinstance(one, dict | NothingToDo) for one in done)
    assert told(desk) == [(name, "completed") for name in made]
    undone = await asyncio.gather(
        *(worker.session.rewriting.undo(made[0]) for _ in range(3)), return_exceptions=True
    )
    assert sum(isinstance(one, NothingToDo) for one in undone) == 2
    assert told(desk)[len(made) :] == [(made[0], "undone")]
    await worker.turns(1, 2)


async def test_a_call_that_ends_while_a_rewrite_is_written_is_kept(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    running, released = asyncio.Event(), asyncio.Event()
    look = desk.editor.tools["look"]

    async def slow(given: Any) -> Any:
        running.set()
        await released.wait()
        return look(given)

    desk.editor.tools["look"] = slow
    desk.script(worker.step(), says("Done."))
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        turn = group.create_task(desk.ask(worker.session, "more"))
        await running.wait()
        done = group.create_task(compact(worker))
        released.set()
    assert turn.result().stop_reason == "end_turn"
    assert isinstance(calls(desk, worker)[-1].state, ToolCompleted)
    meter = worker.session.meter()
    assert meter.used == sum(meter.regions.values())
    await worker.session.rewriting.undo(done.result()["compactionId"])
    desk.editor.tools["look"] = look
    await worker.turns(1, 2)
    assert await shown(worker)
