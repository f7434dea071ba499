"""Complete outputs of tools: which go, which stay, and what is known of those that went."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.config.retention import DAY, Retention
from sidecar.core.files.tree import MIB
from sidecar.core.parts import MessageId, PartId, SessionId, ToolPart
from sidecar.store.content.outputs import Freed
from sidecar.store.format.migrations import MIGRATIONS, migrate
from sidecar.store.format.values import (
    AppendRecord,
    CopyLog,
    Gone,
    PutPart,
    PutSession,
    Record,
)
from tests.store.contents import blob, kept, noise
from tests.store.holders import hold
from tests.store.on_disk import opened_beside
from tests.store.repair.test_rebuilt_store import mend
from tests.store.samples import NOW, session, tool
from tests.store.years import LATER, WEEK, Years


@pytest.fixture
def years(tmp_path: Path) -> Years:
    return Years(tmp_path)


async def test_an_output_is_there_for_seven_days_and_then_goes(years: Years) -> None:
    whole = noise("a")
    await years.put("ses_1", whole)
    years.now = NOW + 7 * DAY
    assert await years.sweep() == []
    assert await kept(years.store, whole) == whole
    years.now += 1
    assert await years.sweep() == ["ses_1/part_1"]
    assert await kept(years.store, whole) is None
    assert await years.store.outputs.gone(blob(whole).hash) == Gone(years.now, "age", 7)
    # The log itself is as it was: the part still says what was shown, and names the output.
    assert await years.store.logs.part(SessionId("ses_1"), PartId("part_1")) is not None
    assert (await years.store.logs.load(SessionId("ses_1"))).problems == ()
    assert await years.sweep() == []
    await years.store.close()


async def test_none_goes_while_its_session_is_live(years: Years) -> None:
    for name in ("open", "used", "rests"):
        await years.put(name, noise(name))
    years.now = LATER
    await hold(years.store, "open")
    await years.store.write(PutSession(session("used", updated=LATER - DAY + 1)))
    assert await years.sweep() == ["rests/part_1"]
    await years.store.leases.release(SessionId("open"), "one")
    years.now += 1
    assert await years.sweep() == ["open/part_1", "used/part_1"]
    await years.store.close()


async def test_a_session_that_comes_to_life_before_the_sweep_keeps_its_outputs(
    years: Years,
) -> None:
    await years.put("ses_1", noise("a"))
    years.now = LATER
    plan = await years.store.keeping.plan(WEEK)
    assert len(plan.outputs) == 1
    await hold(years.store, "ses_1")
    assert await years.store.outputs.let_go(plan.outputs) == Freed(0, 0)
    assert await kept(years.store, noise("a")) is not None
    await years.store.close()


async def test_what_a_live_session_refers_to_stays_for_all(years: Years) -> None:
    await years.put("old", noise("same"))
    await years.put("new", noise("same"), at=LATER)
    years.now = LATER
    plan = await years.store.keeping.plan(WEEK)
    assert (len(plan.outputs), plan.outputs_size) == (1, 0)
    assert await years.sweep() == ["old/part_1"]
    assert await kept(years.store, noise("same")) == noise("same")
    years.now = LATER + 8 * DAY
    plan = await years.store.keeping.plan(WEEK)
    assert plan.outputs_size == len(noise("same"))
    assert await years.sweep() == ["new/part_1"]
    assert await kept(years.store, noise("same")) is None
    await years.store.close()


async def test_a_subtask_is_live_while_the_session_is_that_began_it(years: Years) -> None:
    await years.put("parent", noise("p"))
    await years.put("child", noise("c"))
    row = replace(session("child", updated=NOW), created=NOW, settings={"parent": "parent"})
    await years.store.write(PutSession(row))
    years.now = LATER
    await hold(years.store, "parent")
    assert await years.sweep() == []
    await years.store.leases.release(SessionId("parent"), "one")
    assert await years.sweep() == ["child/part_1", "parent/part_1"]
    await years.store.close()


async def test_a_fork_keeps_what_it_took_over_and_knows_what_had_gone(years: Years) -> None:
    await years.put("ses_1", noise("a"))
    await years.put("ses_1", noise("b"), at=NOW + 2 * DAY, part="part_2")
    years.now = LATER
    assert await years.sweep() == ["ses_1/part_1"]
    await years.store.write(
        PutSession(replace(session("ses_2", updated=LATER), created=LATER)),
        CopyLog(SessionId("ses_1"), SessionId("ses_2"), (MessageId("msg_1"),), 0),
        AppendRecord(SessionId("ses_2"), Record(1, "forked", LATER, {})),
    )
    assert (await years.store.verify()).problems == ()
    years.now = NOW + 12 * DAY
    assert await years.sweep() == ["ses_1/part_2"]
    assert await kept(years.store, noise("b")) is not None
    gone = await years.store.outputs.gone_of(SessionId("ses_2"))
    assert gone == {blob(noise("a")).hash: Gone(LATER, "age", 7)}
    await years.store.delete(SessionId("ses_1"))
    years.now = LATER + 7 * DAY + 1
    assert await years.sweep() == ["ses_2/part_2"]
    assert (await years.store.verify()).blobs == 0
    await years.store.close()


async def test_over_the_quota_the_oldest_go_but_none_of_live_sessions(years: Years) -> None:
    for day in range(4):
        await years.put(f"ses_{day}", noise(f"{day}", MIB), at=NOW + day)
    years.now = NOW + 2 * DAY
    await hold(years.store, "ses_0")
    assert await years.sweep(Retention(outputs_days=0, outputs_mib=5)) == []
    gone = await years.sweep(Retention(outputs_days=0, outputs_mib=2))
    assert gone == ["ses_1/part_1", "ses_2/part_1"]
    about = await years.store.outputs.gone(blob(noise("1", MIB)).hash)
    assert about == Gone(years.now, "quota", 2)
    assert await years.sweep(Retention(outputs_days=0)) == []
    await years.store.close()


async def test_a_part_that_is_written_again_does_not_call_back_what_went(years: Years) -> None:
    await years.put("ses_1", noise("a"))
    years.now = LATER
    await years.sweep()
    call = tool("part_1", "shown", noise("a"))
    call = replace(call, state=replace(call.state, finished=NOW))
    await years.store.write(PutPart(SessionId("ses_1"), MessageId("msg_1"), 0, call))
    assert (await years.store.verify()).problems == ()
    assert await years.store.outputs.gone(blob(noise("a")).hash) is not None
    await years.store.close()


async def test_outputs_of_before_are_found(years: Years) -> None:
    await years.put("ses_1", noise("a"))
    await years.store.close()
    with opened_beside(years.folder) as con:
        at = next(n for n, (name, _) in enumerate(MIGRATIONS) if name == "retention")
        for table in ("output", "swept", "erasing"):
            con.execute(f"DROP TABLE {table}")
        con.execute(f"PRAGMA user_version = {at}")
        con.execute("DELETE FROM migration WHERE name = 'retention'")
        migrate(con, MIGRATIONS[: at + 1], NOW)
        con.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    again = Years(years.folder)
    again.now = LATER
    assert await again.sweep() == ["ses_1/part_1"]
    await again.store.close()


async def test_a_repair_knows_what_had_gone_before(years: Years) -> None:
    await years.put("ses_1", noise("a"))
    await years.put("ses_2", noise("b"), at=LATER)
    years.now = LATER
    await years.sweep()
    await years.store.close()
    done = mend(years.folder)
    assert [line for line in done.lost if "output" in line] == []
    again = Years(years.folder)
    assert (await again.store.verify()).problems == ()
    assert await again.store.outputs.gone(blob(noise("a")).hash) == Gone(LATER, "age", 7)
    part = await again.store.logs.part(SessionId("ses_1"), PartId("part_1"))
    assert isinstance(part, ToolPart)
    assert blob(noise("a")).hash in str(part)
    assert await kept(again.store, noise("b")) == noise("b")
    await again.store.close()
