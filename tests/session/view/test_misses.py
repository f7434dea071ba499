"""Why the cache did not serve a request: in the log, in the meter, and after a restart."""

from typing import Any

from sidecar.session.log.events import Event
from tests.fakes.cache_simulator import CacheSimulator
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.work import Worker

SYSTEM = "Work with care. " * 2_000


def newest(worker: Worker) -> dict[str, Any]:
    """What the log says of the first request of the newest turn, held against the meter."""
    records = inside.records(worker.session)
    begun = [i for i, record in enumerate(records) if record.kind == "turn_started"][-1]
    body = dict(next(r.body for r in records[begun:] if r.kind == "step"))
    assert worker.session.meter().cache.last_break == (body["segment"], body["reason"])
    assert body["read"] < worker.session.meter().used
    return body


async def test_each_cause_is_told_with_where_it_began(desk: Desk) -> None:
    worker = await desk.worker(policy="economic", system=SYSTEM)
    await worker.turns(3, 3)
    assert worker.session.meter().cache.last_break is None
    assert all("miss" not in r.body for r in inside.records(worker.session, "step"))

    desk.world.time += 400_000
    await worker.turn(1)
    expired = newest(worker)
    assert (expired["miss"], expired["segment"]) == ("expired", "everything")
    assert "kept for 5 min, and the last request began 6.7 min before" in expired["reason"]
    assert expired["read"] == expired["predictedRead"] == 0

    desk.model.cache = CacheSimulator(lambda: desk.world.time / 1000)
    await worker.turn(1)
    dropped = newest(worker)
    assert (dropped["miss"], dropped["segment"]) == ("unknown", "everything")
    assert dropped["read"] == 0 < dropped["predictedRead"]

    await worker.session.rewriting.compact("economic", None, dry_run=False)
    await worker.turn(1)
    changed = newest(worker)
    assert changed["miss"] == "changed"
    assert changed["segment"].startswith("message 0, block ")
    assert "changed at byte " in changed["reason"]

    await worker.session.set_option("model", "other")
    await worker.turn(1)
    other = newest(worker)
    assert (other["miss"], other["segment"]) == ("model", "everything")
    assert other["reason"] == "the model changed from scripted to other"


async def unwatched(event: Event) -> None:
    assert event is not None


async def test_a_restart_still_says_why(world: World) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="manual", system=SYSTEM)
        await worker.turns(2, 3)
        world.time += 400_000
        await worker.turn(2)
        told = newest(worker)["reason"]
        before = worker.session.meter().cache.last_break
    async with world.daemon() as desk:
        await desk.sessions.load(
            worker.session.id, desk.editor, desk.watch, replay=False, after=None, emit=unwatched
        )
        session = await desk.sessions.get(worker.session.id)
        assert session.meter().cache.last_break == before
        assert before is not None
        assert before[1] == told
