"""What is kept by tool, by pattern, by agent and by what was typed, whatever policy rewrites."""

from dataclasses import replace

from sidecar.core.conversation.wishes import ANY_AGENT, Preserve
from sidecar.core.errors import NothingToDo
from sidecar.core.policies import policies
from sidecar.core.prompt.prompt import ToolSpec
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.scripted_model import call, says, started, stop
from tests.session.conftest import World
from tests.session.work import TOOLS, Worker

PLAN = ToolSpec("plan", "Plan.", {"type": "object"}, "other", origin="client")
KEPT = {
    ANY_AGENT: Preserve(tools=frozenset({"Plan"})),
    "builder": Preserve(patterns=(r"marker_file_2\b",)),
    "reviewer": Preserve(patterns=(r"marker_file_3\b",)),
}


async def test_every_policy_leaves_alone_what_is_to_be_kept(world: World) -> None:
    world.config = replace(world.config, preserve=KEPT)
    async with world.daemon() as desk:
        desk.model.cache = CacheSimulator(lambda: world.time / 1000)
        desk.editor.tools["plan"] = lambda _: "First the parser.\n" * 60
        given = {"tools": (*TOOLS, PLAN), "agent": "builder", "policy": "manual"}
        worker = Worker(desk, await desk.open(**given))
        await worker.turn(4)
        planned = [started(), *call("plan1", "plan", {"what": "all"}), stop("tool_use")]
        desk.script(planned, says("Planned."))
        await desk.ask(worker.session, "Plan the work.")
        await worker.turn(4, "Look on, and keep src/file_6.py: we need it later.")
        await worker.turns(3, 5)
        done = 0
        for name in policies():
            try:
                await worker.session.rewriting.compact(name, None, dry_run=False)
            except NothingToDo:
                continue
            done += 1
            shown = str((await worker.session.rewriting.preview(())).body)
            assert "First the parser.\\nFirst the parser." in shown, name
            for number in (2, 6):
                assert f"marker_file_{number}\\ndef some_function" in shown, name
            for number in (3, 7):
                assert f"marker_file_{number}\\ndef some_function" not in shown, name
            await worker.turns(1, 5)
        assert done > 8


async def test_every_policy_leaves_what_one_compaction_is_told_to_keep(world: World) -> None:
    async with world.daemon() as desk:
        desk.model.cache = CacheSimulator(lambda: world.time / 1000)
        worker = Worker(desk, await desk.open(tools=TOOLS, policy="manual"))
        await worker.turns(6, 5)
        compact, kept = worker.session.rewriting.compact, 0
        for name in policies():
            plan = (await compact(name, None, dry_run=True))["plan"]
            went = [s["partId"] for s in plan if "thinking after" not in s["reason"]]
            _, segments = await worker.session.rewriting.breakdown()
            calls = [s["partId"] for s in segments if s["region"] == "toolResults"]
            one = next((part for part in went if part in calls), None)
            if one is None:
                continue
            other = await compact(name, None, dry_run=True, keep=[one])
            assert one not in [s["partId"] for s in other["plan"]], name
            kept += 1
        assert kept > 8
