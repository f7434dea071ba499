"""Reading again what was logged, when its complete output is stored no more."""

from sidecar.config.retention import DAY, Retention
from sidecar.core.files.tree import MIB
from sidecar.core.parts import ToolPart
from sidecar.session.history.part_reader import recall_left_out
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.work import TOOLS
from tests.store.contents import blob

LINES = "\n".join(f"line {n} of a long output" for n in range(20_000))
WHY = (
    "[The complete output, 548889 bytes in 20000 lines, was removed on 2023-11-22 22:13 UTC, "
    "because outputs are kept for 7 days (retention.outputs_days). What was shown of it when it "
    "was new is all there is.]\n"
)


async def looked(desk: Desk) -> tuple[Session, ToolPart]:
    """A session with one long output."""
    session = await desk.open(tools=TOOLS)
    desk.editor.tools["look"] = lambda _: LINES
    desk.script(calls(("a", "look", {"path": "x"})), says("Long."))
    await desk.ask(session)
    found = iter(inside.parts(session, ToolPart))
    return session, next(found)


async def sweep(desk: Desk, rules: Retention | None = None) -> int:
    """Let go of what is due."""
    plan = await desk.store.keeping.plan(rules or Retention())
    return (await desk.store.outputs.let_go(plan.outputs)).count


async def test_an_output_that_went_says_when_and_why(world: World) -> None:
    async with world.daemon() as desk:
        session, part = await looked(desk)
        shown = (await session.recall(part.id, 0, 60, None)).content
        world.time += 8 * DAY
        # It is open, so nothing of it goes, however old.
        assert await sweep(desk) == 0
        await desk.sessions.close(session.id)
        assert await sweep(desk) == 1
        again = await desk.sessions.get(session.id)
        said = await again.recall(part.id, 0, 60, None)
        assert said.content == WHY + shown
        # Whatever is asked for, it is said: nothing found would be taken for nothing there.
        assert (await again.recall(part.id, 500_000, None, None)).content == WHY
        assert (await again.recall(part.id, 0, None, "line 10000 ")).content == WHY
        assert "line 3 of" in (await again.recall(part.id, 0, None, "line 3 ")).content
        assert (await desk.store.verify()).problems == ()


async def test_the_prompt_is_the_same_bytes_without_it(world: World) -> None:
    async with world.daemon() as desk:
        session, _ = await looked(desk)
        before = (await session.rewriting.preview(({"type": "text", "text": "go"},))).body
        world.time += 8 * DAY
        await desk.sessions.close(session.id)
        assert await sweep(desk) == 1
        again = await desk.sessions.get(session.id)
        assert (await again.rewriting.preview(({"type": "text", "text": "go"},))).body == before


async def test_what_a_rewrite_left_out_says_it_too(world: World) -> None:
    async with world.daemon() as desk:
        session, part = await looked(desk)
        world.time += 8 * DAY
        await desk.sessions.close(session.id)
        assert await sweep(desk) == 1
        found = await recall_left_out((part,), desk.store.outputs, (0, None, "line 10000 "))
        assert found.content == f"{part.id}:{WHY.strip()}"


async def test_a_quota_and_an_output_that_was_never_there_are_told_apart(world: World) -> None:
    async with world.daemon() as desk:
        session, part = await looked(desk)
        world.time += 2 * DAY
        await desk.sessions.close(session.id)
        plan = await desk.store.keeping.plan(Retention(outputs_mib=1))
        assert plan.outputs == ()
        assert (await desk.store.keeping.weigh()).outputs < MIB
        plan = await desk.store.keeping.plan(Retention(outputs_days=1))
        one = plan.outputs[0]
        assert one.hash == blob(LINES.encode()).hash
        quota = type(one)(one.session_id, one.part_id, one.hash, one.at, "quota", 3)
        await desk.store.outputs.let_go((quota,))
        again = await desk.sessions.get(session.id)
        said = (await again.recall(part.id, 0, 10, None)).content
        assert "because outputs took more than 3 MiB (retention.outputs_mib)" in said
