"""What is set for one agent holds for its sessions, and for no others."""

from dataclasses import replace

from sidecar.config.strategies import Strategy
from sidecar.core.plans.plan import Policy
from sidecar.core.policies import policies
from sidecar.core.policies.evict import HYBRID, Evict
from sidecar.core.policies.scorers import scorer
from tests.core.policies.situations import situation
from tests.session import inside
from tests.session.conftest import Desk, World


async def test_each_agent_has_its_policy_and_whether_it_is_used_by_itself(
    desk: Desk, world: World
) -> None:
    agents = {"plan": Strategy("economic-lean"), "build": Strategy(auto_compact=False)}
    await desk.sessions.shared.ready()
    desk.reload(replace(world.config, agents=agents, policy="manual"))
    plan = await desk.open(agent="plan")
    build = await desk.open(agent="build")
    told = await desk.open(agent="plan", policy="codex")
    plain = await desk.open()
    policies = [inside.policy(session).name for session in (plan, build, told, plain)]
    assert policies == ["economic-lean", "manual", "codex", "manual"]
    automatic = [inside.row(s).settings["autoCompact"] for s in (plan, build, told, plain)]
    assert automatic == [True, False, True, True]


async def test_an_agent_that_is_set_has_its_policy(world: World) -> None:
    agents = {"plan": Strategy("economic-lean"), "build": Strategy("codex")}
    world.config = replace(world.config, agents=agents, agent="plan", policy="manual")
    async with world.daemon() as desk:
        session, other = await desk.open(), await desk.open(agent="build")
        assert inside.policy(session).name == "economic-lean"
        assert inside.policy(other).name == "codex"


async def test_weights_of_an_agent_are_those_of_its_scorer(desk: Desk, world: World) -> None:
    """With one scorer alone, the weighed one says exactly what that one says."""
    agents = {"plan": Strategy(HYBRID, {"fifo": 3.0})}
    await desk.sessions.shared.ready()
    desk.reload(replace(world.config, agents=agents))
    plan = await desk.open(agent="plan")
    other = await desk.open(policy=HYBRID)
    given = situation("U10 C3000; C3000; U5 C900; U5")

    def worth(policy: Policy) -> list[float]:
        assert isinstance(policy, Evict)
        score = scorer(given, dict(policy.weights))
        return [score(item) for item in given.items]

    assert worth(inside.policy(plan)) == worth(policies()["evict-fifo"])
    assert worth(inside.policy(other)) != worth(inside.policy(plan))
