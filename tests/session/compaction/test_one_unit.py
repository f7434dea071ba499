"""Items and totals are in one unit, and plans foretell what is then sent.

The provider counts with the daemon's vocabulary, by a factor and a framing of its own.
`SIDECAR_RECORDED=all` plays all recordings; else it is those of the small set.
"""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from sidecar.core.parts import StepFinishPart, Usage
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.session.compaction.planner import Occasion
from sidecar.session.lifecycle.session import Session
from tests.e2e.recorded import ALL, RECORDED, catalogue, script
from tests.session import inside
from tests.session.compaction.test_same_plans import PRESETS, TOOLS, Story, opened, quiet
from tests.session.conftest import Desk, World

FORETOLD = 0.03
FACTORS = (0.55, 1.4)


class Counting(Story):
    """Bills `factor` tokens for each raw one, and `hidden` ones for what no client sees."""

    def __init__(self, desk: Desk, factor: float, hidden: int = 400) -> None:
        self.factor, self.hidden = factor, hidden
        super().__init__(desk, Random(5))

    def billed(self, request: ModelRequest, tokens: int) -> Usage:
        output = round(self.factor * self.outputs.pop(0))
        return Usage(input=round(self.factor * tokens) + self.hidden, output=output)


def summed(session: Session) -> int:
    """Hold what the items come to against what is used; gives how many items there are."""
    planner = inside.planner(session)
    scene = planner.scene(Occasion(), inside.static(session))
    standing = planner.standing(scene)
    items = planner.situation(scene, standing).items
    total = standing.static + sum(item.tokens for item in items)
    assert abs(total - standing.used) <= len(items)
    assert standing.used == inside.model_view(session).size(inside.conversation(session)).total
    return len(items)


def foretold(session: Session) -> int:
    """Hold rewrites against the requests after them; gives how many there were."""
    usages = [part.usage for part in inside.parts(session, StepFinishPart)]
    made = [one for one in inside.rewrites(session) if one.opens and one.steps < len(usages)]
    for one in made:
        sent = usages[one.steps].prompt
        assert one.tokens_after == pytest.approx(sent, rel=FORETOLD)
    return len(made)


@pytest.mark.parametrize("factor", FACTORS)
async def test_items_and_the_static_part_sum_to_what_is_used(world: World, factor: float) -> None:
    quiet(world, summaries=False)
    async with world.daemon() as desk:
        session = await opened(desk, "economic", 30_000, TOOLS)
        story = Counting(desk, factor)
        made = 0
        for _ in range(2):
            await story.play(session, 3)
            made = max(made, summed(session))
        assert made > 20
        assert foretold(session)


@pytest.mark.long
@pytest.mark.parametrize("policy", PRESETS)
async def test_items_sum_and_plans_foretell_under_each_policy(world: World, policy: str) -> None:
    quiet(world, summaries=False)
    async with world.daemon() as desk:
        session = await opened(desk, policy, 64_000, TOOLS)
        story = Counting(desk, FACTORS[len(policy) % 2])
        for _ in range(4):
            await story.play(session, 3)
            summed(session)
            foretold(session)


@pytest.mark.long
@pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded sessions are beside this checkout")
@pytest.mark.parametrize("path", catalogue(core=not ALL), ids=lambda path: path.name[:24])
async def test_plans_foretell_what_is_sent_of_a_recording(world: World, path: Path) -> None:
    quiet(world, summaries=False)
    world.config = replace(world.config, max_steps=10_000)
    recording = script(path, 12)
    blocks = (block for turn in recording.turns for one in turn.answers for block in one.blocks)
    if any(block.get("id", "") is None for block in blocks):
        pytest.skip("calls of this recording have no ids")
    tools = [ToolSpec(name, name, {"type": "object"}, origin="client") for name in recording.tools]
    async with world.daemon() as desk:
        session = await opened(desk, "economic", 40_000, tools)
        await Counting(desk, FACTORS[len(path.name) % 2]).replay(session, recording)
        summed(session)
        foretold(session)
