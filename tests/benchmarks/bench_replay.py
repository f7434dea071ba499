"""How fast a replay simulates: requests a minute on one core, by policy, on made-up sessions."""

from time import perf_counter

from sidecar.core.policies import policies
from sidecar.replay.prices import CARDS
from sidecar.replay.simulate import simulate
from tests.benchmarks.bench_context import conversation
from tests.replay.recorded import overheard

PARTS = 1_600
WINDOW = 100_000


def main() -> None:
    """Print the figures."""
    begun = perf_counter()
    talk = overheard(conversation(PARTS), "made up")
    read = perf_counter() - begun
    requests = len(talk.requests)
    print(f"taking in            {requests / read * 60:10,.0f} requests a minute")
    for name in ("manual", "opencode", "economic"):
        begun = perf_counter()
        run = simulate(talk, policies()[name], WINDOW, CARDS["classic"])
        spent = perf_counter() - begun
        print(
            f"simulating {name:<10}{requests / spent * 60:10,.0f} requests a minute  "
            f"({len(run.rewrites)} rewrites)"
        )
