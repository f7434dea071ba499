"""What policies are told is the same in a new daemon, whatever happened in the old one."""

import asyncio
import gc
from typing import Any, TypeVar

import pytest

from sidecar.core.errors import ModelFailed, NothingToDo
from sidecar.core.ledger.units import Unit
from sidecar.core.policies import policies
from sidecar.core.prompt.visibility import Note
from sidecar.session.compaction import planner
from tests.fakes.scripted_model import says, started, text
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.work import Worker

AUTOMATIC = sorted(policies().keys() - {"manual"})
TOO_LONG = ModelFailed("too long", kind="context_overflow", status=400)
NETWORK = ModelFailed("gone", kind="network")
T = TypeVar("T")


async def plans(session: Any) -> dict[str, Any]:
    """What every policy would do now."""
    found = {}
    for name in AUTOMATIC:
        try:
            found[name] = await session.rewriting.compact(name, None, dry_run=True)
        except NothingToDo:
            found[name] = None
    return found


async def eventful(desk: Desk) -> Worker:
    """A session with a refused prompt, a failed request and one that broke off."""
    worker = await desk.worker(policy="temporal")
    await worker.turns(2, 7)
    desk.script([TOO_LONG], says("fits"))
    await desk.ask(worker.session, "more")
    await worker.turns(1, 6)
    desk.script(worker.step(), [NETWORK])
    await desk.ask(worker.session, "fails")
    desk.script([started(), *text("half an answer"), NETWORK])
    await desk.ask(worker.session, "breaks off")
    await worker.turns(1, 6)
    return worker


@pytest.mark.parametrize("kill", [True, False])
async def test_plans_are_the_same_after_a_restart(world: World, kill: bool) -> None:
    async with world.daemon(kill=kill) as desk:
        worker = await eventful(desk)
        before = await plans(worker.session)
    async with world.daemon() as desk:
        after = await plans(await desk.sessions.get(worker.session.id))
    assert before == after
    assert sum(plan is not None for plan in before.values()) > 10


@pytest.mark.parametrize(("limit", "value"), [("SLICE", 2), ("THREAD_CHARS", 0)])
async def test_a_log_is_taken_in_slices_and_threads_while_others_have_the_loop(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    async with world.daemon() as desk:
        worker = await eventful(desk)
        before = await plans(worker.session)
    monkeypatch.setattr(planner, limit, value)
    async with world.daemon() as desk:
        session = await desk.sessions.get(worker.session.id)
        log, made = inside.log(session), inside.planner(session)
        others = 0

        async def other() -> None:
            nonlocal others
            while True:
                others += 1
                await asyncio.sleep(0)

        asked = asyncio.create_task(other())
        await made.catch_up()
        asked.cancel()
        settled = sum(message.status != "discarded" for message in log)
        assert others >= settled // 2 - 1
        scene = made.scene(planner.Occasion(), inside.static(session))
        standing = made.standing(scene)
        taken = made.situation(scene, standing)
        at_once = inside.planner(session).situation(scene, standing)
        assert (taken.items, taken.step) == (at_once.items, at_once.step)
        assert await plans(session) == before


async def test_of_notes_only_those_in_view_are_kept_apart_and_no_text_twice(desk: Desk) -> None:
    others = _units_of_notes()
    worker = await desk.worker(policy="manual")
    for _ in range(6):
        await worker.turns(2)
        await worker.session.rewriting.compact("economic", None, dry_run=False)
    await plans(worker.session)
    rewrites = inside.rewrites(worker.session)
    made = {note.id for one in rewrites for note in one.rewrite.notes}
    gc.collect()
    known = {*map(id, others)}
    kept = [one for one in _units_of_notes() if id(one) not in known]
    live = [note for note in _live(Note) if note.id in made]
    view = inside.view(worker.session).notes
    assert 0 < len(kept) <= len(view) <= len(live) < len(made) / 2
    texts = [note.text for note in live]
    # A rewrite may say the same of two places.
    assert len({*map(id, texts)}) < 1.1 * len({*texts})


def _live(kind: type[T]) -> list[T]:
    return [one for one in gc.get_objects() if isinstance(one, kind)]


def _units_of_notes() -> list[Unit]:
    kinds = ("ledger", "excerpt", "image")
    return [one for one in _live(Unit) if one.kind in kinds]
