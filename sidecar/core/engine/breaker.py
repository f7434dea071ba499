"""Remembers fruitless plans, so none is made again before a change."""

from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import Standing
from sidecar.core.prompt.visibility import Cause

MOST_TRIES = 2
"""Rungs in vain after which the breaker is open."""
NEAR = 0.95
"""So much of the limit in use, with nothing that may go, is worth a word."""
GROWN = 1.1
"""An open breaker lets one more try pass when the prompt has grown by this factor."""
GROWN_A_LITTLE = 1.03
"""A plan for the same cause is worth making again when the prompt has grown by this factor."""
ARRIVED = 2_000
"""So many tokens that were not sent yet are worth a look for themselves: once sent, cuts cost."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """Counts `failures`: rungs refused since the last progress.

    `used`, in tokens, and `cause` are of the last decision that came to nothing.
    """

    failures: int = 0
    used: int = 0
    cause: Cause | None = None

    @property
    def is_open(self) -> bool:
        return self.failures >= MOST_TRIES

    def after(self, progress: bool, used: int = 0, rungs: int = 1) -> "Breaker":
        """Counts failed `rungs` at `used` tokens, or starts anew after progress."""
        return Breaker() if progress else Breaker(self.failures + rungs, used, self.cause)

    def in_vain(self, refused: int, standing: Standing, cause: Cause) -> "Breaker":
        """Counts a fruitless decision; one that tried nothing counts only above `NEAR`."""
        pressing = standing.used >= NEAR * standing.limit
        rungs = refused or (MOST_TRIES if pressing else 0)
        return replace(self, cause=cause).after(False, standing.used, rungs)

    def left(self, standing: Standing, cause: Cause) -> "Breaker":
        """Remembers that an optional rewrite may wait, without failure."""
        return replace(self, used=standing.used, cause=cause)

    def holds(self, standing: Standing, cause: Cause) -> bool:
        """Whether to plan nothing yet; never if the prompt is too long or a person asks.

        A new turn or growth allows one more try. Until the breaker opens, so do another cause and,
        for `budget`, new arrivals.
        """
        st = standing
        if st.opens_turn or st.is_over or st.overflow or st.asked:
            return False
        if self.is_open:
            return st.used < self.used * GROWN
        if cause == "budget" and st.newest >= ARRIVED:
            return False
        return cause == self.cause and st.used < self.used * GROWN_A_LITTLE
