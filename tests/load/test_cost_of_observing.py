"""What it costs to be observed, of a step's time: in the long run alone, because it is timed."""

import os

import pytest

from tests.benchmarks.bench_telemetry import AIM, ANSWER, costs
from tests.figures import Figures


@pytest.mark.skipif(os.environ.get("SIDECAR_LOAD") != "full", reason="timed: SIDECAR_LOAD=full")
def test_observing_takes_less_than_a_hundredth_of_a_step(figures: Figures) -> None:
    off, *ways = costs()
    figures.add("our own CPU time of a step, nobody observes, ms", f"{off.own:.2f}")
    for one in ways:
        figures.add(f"{one.name}: % of that, in the step", f"{one.in_step:.2f}", f"< {AIM:.0f}")
        figures.add("  % of that, later work included", f"{one.of_own:.2f}")
        what = f"  % of the wall time of a step whose model answers in {ANSWER:.0f} s"
        figures.add(what, f"{one.of_wall:.4f}", f"< {AIM:.0f}")
    for one in ways:
        assert one.in_step < AIM, one
        assert one.of_wall < AIM, one
