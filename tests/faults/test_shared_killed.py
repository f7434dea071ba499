"""`kill -9` of windows and of the daemon that they share, at random: nothing is lost, none is left.

`SIDECAR_DEATHS=1000` says how many kills; without it there are 30, in a minute.
"""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.faults.kin import given_orphans
from tests.faults.shared_killing import Deaths, Floor
from tests.figures import Figures

KILLS = int(os.environ.get("SIDECAR_DEATHS") or 30)
SEED = int(os.environ.get("SIDECAR_DEATHS_SEED", "1"))

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="takes orphans as Linux gives them"),
]


def test_no_death_loses_a_prompt_or_leaves_a_process(tmp_path: Path, figures: Figures) -> None:
    deaths, began = Deaths(), time.monotonic()
    with given_orphans():
        floor = Floor(tmp_path, SEED, deaths)
        while deaths.kills < KILLS and not deaths.faults:
            floor.round()
        floor.check([*floor.acknowledged])
        floor.end()
    figures.add("kills of windows and a shared daemon", deaths.kills, KILLS)
    figures.add("  of windows", deaths.windows)
    figures.add("  of daemons", deaths.daemons)
    figures.add("  windows attached", deaths.attached)
    figures.add("  acknowledged prompts asked for again", deaths.prompts)
    figures.add("  children of killed daemons", deaths.children)
    figures.add("    MCP servers among them", deaths.servers)
    figures.add("  seconds", round(time.monotonic() - began))
    assert deaths.faults == []
    assert min(deaths.windows, deaths.daemons, deaths.prompts, deaths.children) > 0
