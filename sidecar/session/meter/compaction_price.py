"""Prices compactions."""

from collections.abc import Callable

from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView


class CompactionPrice:
    """Caches USD for one revision, until the provider's cache turns warm or cold.

    `plan` returns `None` if unknown, or nothing is worth omitting.
    """

    def __init__(
        self, log: SessionLog, view: ModelView, clock: Clock, plan: Callable[[], str | None]
    ) -> None:
        self._log = log
        self._view = view
        self._clock = clock
        self._plan = plan
        self._basis = (-1, False)
        self._price: str | None = None

    def known(self) -> str | None:
        return self._price if self._basis == self._now() else None

    def find(self) -> None:
        """Plans unless known, or part of the log is unread."""
        now = self._now()
        if self._basis == now or not self._log.is_whole:
            return
        self._price = self._plan()
        self._basis = now

    def stays(self, before: int, after: int) -> None:
        """Keeps the price over records without effect on the context."""
        revision, warm = self._basis
        if revision == before:
            self._basis = (after, warm)

    def _now(self) -> tuple[int, bool]:
        return self._log.row.revision, self._clock.now() <= self._view.warm_until()
