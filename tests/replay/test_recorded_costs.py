"""What rewriting and an hour's lifetime cost single sessions that were recorded.

Each is played in one window; `SIDECAR_RECORDED=all` plays all in each.
"""

import pytest

from sidecar.core.policies import policies
from sidecar.replay.measures.needs import needs_of
from sidecar.replay.simulate import simulate
from tests.e2e.recorded import ALL
from tests.replay.recorded import AT_HAND, CARD, SESSIONS, messages_of, overheard

MOST = 1.05
WINDOWS = (64_000, 100_000, 200_000)


@AT_HAND
@pytest.mark.long
@pytest.mark.parametrize("window", WINDOWS)
def test_no_session_costs_much_more_than_carrying_on_without_rewrites(window: int) -> None:
    dear = {}
    paths = sorted((SESSIONS / "normalised").iterdir())
    for path in paths if ALL else paths[WINDOWS.index(window) :: len(WINDOWS)]:
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
