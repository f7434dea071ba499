"""What a compaction by hand would cost now: planned when it is asked for, never by reading it."""

from collections.abc import Callable

from sidecar.session.meter.gauge import is_warm
from sidecar.session.state import State


class CompactionPrice:
    """One session's price of a compaction, in USD, and what it was planned for.

    It holds for one revision, and while the provider's cache stays warm, or stays cold. `plan`
    gives it for the session as it stands, `None` where it is unknown or nothing may go.
    """

    def __init__(self, state: State, plan: Callable[[], str | None]) -> None:
        self._state = state
        self._plan = plan
        self._basis = (-1, False)
        self._price: str | None = None

    def known(self) -> str | None:
        """Give the price if it was found for the session as it stands; plans nothing."""
        return self._price if self._basis == self._now() else None

    def find(self) -> None:
        """Plan a compaction for its price, unless the price is known or the log was read in part.

        A price takes the whole log to know.
        """
        now = self._now()
        if self._basis == now or self._state.log.past is not None:
            return
        self._price = self._plan()
        self._basis = now

    def stays(self, before: int, after: int) -> None:
        """The records between these revisions leave the context, and so the price, as it was."""
        revision, warm = self._basis
        if revision == before:
            self._basis = (after, warm)

    def _now(self) -> tuple[int, bool]:
        state = self._state
        return state.log.row.revision, is_warm(state.view, state.clock.now())
