"""The hourly sweep: when, by whom, what goes, and the warning before a quota bites."""

import asyncio
from dataclasses import replace
from typing import Any

from sidecar.config.retention import DAY, HOUR, Retention
from sidecar.core.files.tree import MIB
from sidecar.core.parts import JsonObject, MessageId, SessionId
from sidecar.session.transfer.archive import bundles_of
from sidecar.session.transfer.quotas import Quota
from sidecar.session.transfer.sweep import Sweeping, SweptSessions, carry_out
from sidecar.store.content.chains import Appended
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
)
from tests.fakes.scripted_model import calls, says
from tests.session.conftest import Desk, World
from tests.session.work import TOOLS
from tests.store.contents import added, blob, kept, noise
from tests.store.holders import ground_beside, hold
from tests.store.on_disk import behind
from tests.store.samples import message, session, tool


def sweeping(
    desk: Desk, rules: Retention | None = None, token: str = "one", snapshots_mib: int = 0
) -> Any:
    """A sweep by a process of its own; `warned` and `status` are what it told."""
    ground = ground_beside(desk, token)
    warned: list[Quota] = []
    status: JsonObject = {}
    made: Any = Sweeping(
        ground,
        lambda: rules or Retention(),
        warned.append,
        status,
        desk.world.sleep,
        60.0,
        snapshots_mib,
    )
    made.warned, made.told = warned, status
    return made


async def put(desk: Desk, name: str, size: int = 5000, ago: int = 8 * DAY) -> None:
    """A session of some time ago, with a call whose output was cut."""
    at = desk.world.time - ago
    call = tool("part_1", "shown", noise(name, size))
    await desk.store.write(
        PutSession(replace(session(name, updated=at), created=at)),
        PutMessage(SessionId(name), message()),
        blob(noise(name, size)),
        PutPart(
            SessionId(name),
            MessageId("msg_1"),
            0,
            replace(call, state=replace(call.state, finished=at)),
        ),
    )


async def test_it_sweeps_once_an_hour_and_one_daemon_does_it(desk: Desk) -> None:
    await put(desk, "ses_1")
    one, other = sweeping(desk), sweeping(desk, token="other")
    first = await one.once()
    assert first is not None
    assert first.outputs.count == 1
    await put(desk, "ses_2")
    assert await one.once() is None
    assert await other.once() is None
    desk.world.time += HOUR
    # Another process is at it.
    assert await desk.store.keeping.claim(ground_beside(desk, "third").owner)
    assert await one.once() is None
    await desk.store.keeping.swept("third", whole=False)
    second = await other.once()
    assert second is not None
    assert second.outputs.count == 1
    # A clock that goes back by years does not keep it from sweeping.
    desk.world.time -= 900 * DAY
    assert await one.once() is not None


async def test_it_runs_by_the_clock_it_is_given(world: World) -> None:
    async with world.daemon() as desk:
        await put(desk, "ses_1")
        made = sweeping(desk)
        task = asyncio.get_running_loop().create_task(made.run())
        assert await kept(desk.store, noise("ses_1")) is not None
        await world.let_pass(60_000)
        # It sleeps again when it is done.
        await world.let_pass(0)
        assert "sweptAt" in made.told
        assert await kept(desk.store, noise("ses_1")) is None
        task.cancel()
        await asyncio.wait({task})


async def test_a_dry_run_says_exactly_what_the_real_one_does(desk: Desk) -> None:
    worker = await desk.open(tools=TOOLS)
    desk.editor.tools["look"] = lambda _: "\n".join(f"line {n} of it" for n in range(20_000))
    desk.script(calls(("a", "look", {"path": "x"})), says("Long."))
    await desk.ask(worker)
    await desk.sessions.fork(worker.id, None, desk.editor, desk.watch)
    for name in [one.session_id for one in (await desk.sessions.list(None, None, 9))[0]]:
        await desk.sessions.close(name)
    for n in range(5):
        await put(desk, f"ses_{n}", ago=n * 10 * DAY)
    desk.world.time += 8 * DAY
    ground = ground_beside(desk)
    for rules in (Retention(), Retention(archive_days=25), Retention(0, 0, 0, 0)):
        plan = await desk.store.keeping.plan(rules)
        assert plan == await desk.store.keeping.plan(rules)
        before = await desk.store.keeping.weigh()
        done: SweptSessions = await carry_out(ground, plan)
        assert done.outputs.count == len(plan.outputs)
        assert done.outputs.size == plan.outputs_size
        assert [one.session_id for one in done.sessions] == [one.id for one in plan.sessions]
        assert [one.freed for one in done.sessions] == [one.size for one in plan.sessions]
        assert done.skipped == ()
        left = await desk.store.keeping.plan(rules)
        assert (left.outputs, left.sessions) == ((), ())
        after = await desk.store.keeping.weigh()
        freed = before.texts + before.outputs - after.texts - after.outputs
        assert freed == plan.size
        assert (await desk.store.verify()).problems == ()
    assert len(bundles_of(desk.world.folder)) == 3


async def test_sessions_go_by_size_those_used_longest_ago_first(desk: Desk) -> None:
    for n in range(4):
        await put(desk, f"ses_{n}", MIB, ago=(9 - n) * DAY)
    await hold(desk.store, "ses_0", "open")
    rules = Retention(outputs_days=0, sessions_mib=3)
    plan = await desk.store.keeping.plan(rules)
    assert [one.id for one in plan.sessions] == ["ses_1", "ses_2"]
    made = sweeping(desk, rules)
    # It is told first, and an hour later done.
    done = await made.once()
    assert (done.sessions, len(made.warned)) == ((), 1)
    assert made.warned[0].message == (
        "Sessions take 4.0 MiB of the 3 that retention.sessions_mib allows. Beyond that, those "
        "that were used longest ago are archived."
    )
    assert made.told["warnings"] == [made.warned[0].message]
    desk.world.time += HOUR
    done = await made.once()
    assert [one.session_id for one in done.sessions] == ["ses_1", "ses_2"]
    assert len(made.warned) == 1


async def test_a_quota_warns_before_it_bites(desk: Desk) -> None:
    rules = Retention(outputs_days=0, outputs_mib=2)
    made = sweeping(desk, rules)
    await put(desk, "ses_1", MIB)
    assert (await made.once()).outputs.count == 0
    assert made.warned == []
    await put(desk, "ses_2", 700 * 1024)
    desk.world.time += HOUR
    assert (await made.once()).outputs.count == 0
    assert [quota.name for quota in made.warned] == ["retention.outputs_mib"]
    await put(desk, "ses_3", MIB, ago=0)
    desk.world.time += HOUR
    assert (await made.once()).outputs.count == 1
    assert len(made.warned) == 1
    # What was over is forgotten once it is well below, and told again the next time.
    desk.world.time += HOUR
    await desk.store.delete(SessionId("ses_3"))
    assert (await made.once()).outputs.count == 0
    assert made.told["warnings"] == []
    await put(desk, "ses_4", 9 * MIB)
    desk.world.time += HOUR
    assert (await made.once()).outputs.count == 0
    assert len(made.warned) == 2


async def test_snapshots_of_a_folder_warn_before_the_oldest_go(desk: Desk) -> None:
    made = sweeping(desk, snapshots_mib=1)
    rows = desk.store.snapshots
    for root, size in ((b"/small", 700 * 1024), (b"/large \xff", 900 * 1024)):
        space = await rows.begin(root, 1)
        one = added(b"a", noise("a", size))
        assert isinstance(await rows.append(space.id, space.head, one, 2), Appended)
    assert await made.once() is not None
    [told] = made.warned
    assert (told.name, told.bound) == ("snapshots.workspace_mib", 1)
    assert told.message.startswith(r"Snapshots of /large \xff take 0.9 MiB of the 1 that snap")
    assert made.told["warnings"] == [told.message]
    desk.world.time += HOUR
    assert await made.once() is not None
    assert made.warned == [told]


async def test_what_cannot_be_archived_stays_and_is_said(desk: Desk) -> None:
    for n in range(3):
        await put(desk, f"ses_{n}", ago=20 * DAY)
    damage = "UPDATE part SET hash = 'x' WHERE session_id = 'ses_1'"
    await behind(desk.store, lambda con: con.execute(damage) and None)
    done = await sweeping(desk, Retention(archive_days=10)).once()
    assert [one.session_id for one in done.sessions] == ["ses_0", "ses_2"]
    assert [line.partition(":")[0] for line in done.skipped] == ["ses_1 stays"]


async def test_a_subtask_does_not_go_without_the_session_that_began_it(desk: Desk) -> None:
    await put(desk, "child", ago=40 * DAY)
    await put(desk, "parent", ago=5 * DAY)
    child = await desk.store.sessions.row(SessionId("child"))
    record = Record(1, "delegated", child.created, {"sessionId": "child", "callId": "a"})
    await desk.store.write(
        PutSession(replace(child, settings={"parent": "parent"})),
        AppendRecord(SessionId("parent"), record),
    )
    plan = await desk.store.keeping.plan(Retention(0, archive_days=10))
    assert plan.sessions == ()
    plan = await desk.store.keeping.plan(Retention(0, archive_days=4))
    assert [(one.id, one.parent) for one in plan.sessions] == [
        ("child", "parent"),
        ("parent", None),
    ]
