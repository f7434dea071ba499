"""A compaction's price, planned only on request."""

from collections.abc import Callable

from sidecar.session.state import State


class CompactionPrice:
    """Cached USD of a compaction.

    For one revision, until the provider's cache turns warm or cold. `plan` returns the price;
    `None` if unknown, or if nothing can be left out.
    """

    def __init__(self, state: State, plan: Callable[[], str | None]) -> None:
        self._state = state
        self._plan = plan
        self._basis = (-1, False)
        self._price: str | None = None

    def known(self) -> str | None:
        """The price, if still valid; plans nothing."""
        return self._price if self._basis == self._now() else None

    def find(self) -> None:
        """Plan for the price, unless known, or part of the log is unread."""
        now = self._now()
        if self._basis == now or not self._state.log.is_whole:
            return
        self._price = self._plan()
        self._basis = now

    def stays(self, before: int, after: int) -> None:
        """Keep the price over records without effect on the context."""
        revision, warm = self._basis
        if revision == before:
            self._basis = (after, warm)

    def _now(self) -> tuple[int, bool]:
        state = self._state
        return state.log.row.revision, state.clock.now() <= state.view.warm_until()
