"""Real sessions: how much every rewrite of `economic` leaves free, and how far it compresses."""

import pytest

from sidecar.core.plans.guard import must_stay
from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.policies.economic import LEAST_COMPRESSION, RUNWAY, Economic, compression
from sidecar.replay.prices import read_card
from sidecar.replay.simulate import simulate
from tests.replay.recorded import AT_HAND, Watched, conversation

PREFIXES = ("claude-cli-1284c080", "codex-agentv-019efc87", "pi-pi-mono", "opencode-go-Noora-25")
BESIDE = 0.25
"""Share of the room that may stay beside what must: the note, and some blocks."""

pytestmark = AT_HAND


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("window", [pytest.param(200_000, marks=pytest.mark.long), 64_000])
def test_every_rewrite_leaves_runway_and_compresses_three_times(prefix: str, window: int) -> None:
    made: list[tuple[Situation, Plan, int]] = []

    def look(plan: Plan, situation: Situation) -> None:
        if plan.note:
            must = must_stay(situation)
            floor = sum(i.tokens for i in situation.items if i.unit.part_id in must)
            made.append((situation, plan, floor))

    run = simulate(conversation(prefix), Watched(Economic(), look), window, read_card("classic"))
    assert run.rewrites
    assert run.summaries <= len(run.rewrites)
    for situation, plan, floor in made:
        st = situation.standing
        room = st.limit - st.static
        left = plan.tokens_after - st.static
        assert left <= max(RUNWAY * room, floor + BESIDE * room)
        if plan.cause in ("cold", "pays"):
            assert compression(situation, plan) >= LEAST_COMPRESSION
