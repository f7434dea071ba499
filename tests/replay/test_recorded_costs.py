"""What rewriting and an hour's lifetime cost single sessions that were recorded."""

import pytest

from sidecar.core.policies import policies
from sidecar.replay.measures.needs import needs_of
from sidecar.replay.simulate import simulate
from tests.replay.recorded import AT_HAND, CARD, SESSIONS, messages_of, overheard

MOST = 1.05


@AT_HAND
@pytest.mark.long
@pytest.mark.parametrize("window", [64_000, 100_000, 200_000])
def test_no_session_costs_much_more_than_carrying_on_without_rewrites(window: int) -> None:
    dear = {}
    for path in sorted((SESSIONS / "normalised").iterdir()):
        talk = overheard(messages_of(path), path.name)
        if not talk.requests:
            continue
        ours, plain = (
            simulate(talk, policies()[name], window, CARD, needs=needs_of(talk))
            for name in ("economic", "manual")
        )
        times = (ours.cost + ours.verbatim.reread_cost) / plain.cost
        if times > MOST:
            dear[path.name] = round(times, 3)
    assert dear == {}
