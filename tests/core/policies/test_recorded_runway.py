"""Real sessions: how much every rewrite of `economic` leaves free, and how far it compresses."""

from dataclasses import dataclass, field

import pytest

from sidecar.core.plans.guard import goal_parts, untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.policies.economic import LEAST_COMPRESSION, RUNWAY, Economic, compression
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause
from sidecar.replay.prices import read_card
from sidecar.replay.simulate import simulate
from tests.replay.recorded import AT_HAND, conversation

PREFIXES = ("claude-cli-1284c080", "codex-agentv-019efc87", "pi-pi-mono", "opencode-go-Noora-25")
BESIDE = 0.25
"""Share of the room that may stay beside what must: the note, and some blocks."""

pytestmark = AT_HAND


@dataclass
class Watched:
    """The policy, and every rewrite that it planned."""

    policy: Economic = field(default_factory=Economic)
    made: list[tuple[Situation, Plan, int]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def static_ttl(self) -> Ttl:
        return self.policy.static_ttl

    def due(self, standing: Standing) -> Cause | None:
        return self.policy.due(standing)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        plan = self.policy.plan(situation, cause)
        if plan is not None and plan.note:
            must = untouchable(situation) | goal_parts(situation)
            floor = sum(i.tokens for i in situation.items if i.unit.part_id in must)
            self.made.append((situation, plan, floor))
        return plan


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("window", [200_000, 64_000])
def test_every_rewrite_leaves_runway_and_compresses_three_times(prefix: str, window: int) -> None:
    watched = Watched()
    run = simulate(conversation(prefix), watched, window, read_card("classic"))
    assert run.rewrites
    assert run.summaries <= len(run.rewrites)
    for situation, plan, floor in watched.made:
        st = situation.standing
        room = st.limit - st.static
        left = plan.tokens_after - st.static
        assert left <= max(RUNWAY * room, floor + BESIDE * room)
        if plan.cause in ("cold", "pays"):
            assert compression(situation, plan) >= LEAST_COMPRESSION
