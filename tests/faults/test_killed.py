"""`kill -9` at thousands of random moments: nothing acknowledged is missing, nothing is half.

`SIDECAR_KILLS=5000` says how many rounds; without it there are 120, which take half a minute. Where
one is too short for them, the table says so. Most daemons are forked from a process that has all of
it imported (`nursery.py`), which saves a second each; what runs, and dies, is the whole daemon.
Some are started by hand.
"""

import os
import time
from pathlib import Path

import pytest

from tests.e2e.plain import Spawn
from tests.faults.killing import Reached, kill_often
from tests.figures import Figures

ASKED = os.environ.get("SIDECAR_KILLS")
ROUNDS = int(ASKED or 120)
SEED = int(os.environ.get("SIDECAR_KILLS_SEED", "1"))
STARTED = max(4, ROUNDS // 50)
"""Rounds whose daemons are started as an editor starts them."""
SECONDS = 60.0
LEAST = 40

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux's pidfds"),
]


def told(figures: Figures, what: str, reached: Reached, goal: object) -> None:
    figures.add(f"kill -9 rounds, {what}", reached.rounds, goal)
    figures.add("  killed while it started or loaded", reached.starting)
    figures.add("  killed while a turn ran", reached.working)
    figures.add("  requests answered before the kill", reached.answers)
    figures.add("  acknowledged items asked for again", reached.items)
    figures.add("  next prompts found valid", reached.prompts)
    figures.add("  stores read whole after a kill", reached.verified)
    figures.add("  lost, half or refused", len(reached.lost), 0)
    for line in reached.lost[:50]:
        figures.add(f"    {line:.200}", "")


def test_nothing_acknowledged_is_missing(tmp_path: Path, spawn: Spawn, figures: Figures) -> None:
    reached = Reached()
    until = time.monotonic() + SECONDS
    goal = str(ROUNDS)
    try:
        for _ in kill_often(tmp_path, ROUNDS, SEED, spawn, reached):
            if not ASKED and time.monotonic() > until and LEAST <= reached.rounds < ROUNDS:
                goal = f"{ROUNDS}, but {SECONDS:.0f} seconds were over"
                break
    finally:
        # A long run that is interrupted says how far it got.
        told(figures, "forked daemons", reached, goal)
    assert reached.lost == []
    assert min(reached.working, reached.answers, reached.verified) > 0
    assert reached.items > reached.rounds


def test_nothing_is_missing_where_daemons_are_started_as_editors_do(
    tmp_path: Path, figures: Figures
) -> None:
    reached = Reached()
    for _ in kill_often(tmp_path, STARTED, SEED, None, reached):
        pass
    told(figures, "started daemons", reached, STARTED)
    assert reached.lost == []
