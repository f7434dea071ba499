"""Real daemons, as tests of the whole have them."""

from tests.faults.forked import spawn
from tests.memory import path_on_disk

__all__ = ["path_on_disk", "spawn"]
