"""Refreshes the provider's cache in pauses, where worth the price.

A ping repeats the last request without an answer, shortly before its life is over.
"""

import asyncio
import logging
from collections.abc import Callable

from sidecar.config import OFFLINE_MODEL
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Millis, Usage
from sidecar.session.environment import Environment
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.kept_cache import Due, KeptCache
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.cache_state import with_cache
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import PingRecord

logger = logging.getLogger("sidecar.session")

AHEAD: Millis = 20_000
"""Milliseconds before the end of the cache's life to send a ping, enough for it to arrive."""
SLICE = 5.0
"""Seconds slept at a time, since the clock may be moved, and stops in a suspended machine. The
daemon wakes as often for its leases."""


class Pings:
    """Sends pings, holding `gate`; `told` publishes the new state."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        view: ModelView,
        kept: KeptCache,
        settings: SessionSettings,
        ownership: Ownership,
        gate: asyncio.Lock,
        told: Callable[[], None],
    ) -> None:
        self._environment = environment
        self._log = log
        self._view = view
        self._kept = kept
        self._settings = settings
        self._ownership = ownership
        self._gate = gate
        self._told = told
        self._refused_by = ""

    async def work(self) -> None:
        wanted = self._environment.settings.config.keep_alive
        if wanted and self._settings.model_id not in (OFFLINE_MODEL, self._refused_by):
            while await self._sleep() and await self._ping():
                pass

    async def _sleep(self) -> bool:
        """Waits for a due ping; returns whether a cache exists."""
        clock = self._environment.clock
        while (anchor := self._view.anchor) is not None:
            left = anchor.started + self._view.rules.short - AHEAD - clock.now()
            if left <= 0:
                return True
            await clock.sleep(min(SLICE, left / 1000))
        return False

    async def _ping(self) -> bool:
        """Returns whether to consider another ping."""
        async with self._gate:
            due = self._due()
            # How long pauses last is learned from all of them.
            if due is not None and await self._log.whole():
                due = self._due()
            if due is None:
                return False
            started = self._environment.clock.now()
            models = self._environment.models
            try:
                async with models.wait_if_cold(self._view, due.request) as begun:
                    usage = await models.find(due.request.model).ping(due.request)
                    begun()
            except ModelFailed as error:
                logger.warning("a ping was not answered: %s", error.message)
                if not error.retryable:
                    # Some servers know no request without an answer.
                    self._refused_by = due.request.model
                return False
            await self._record(due, started, usage)
        self._told()
        return usage.prompt > 0

    def _due(self) -> Due | None:
        return None if self._ownership.read_only else self._kept.due()

    async def _record(self, due: Due, started: Millis, usage: Usage) -> None:
        cost = self._environment.models.cost(due.request.model, usage)
        record = PingRecord(
            message_id=due.anchor.message_id,
            started=started,
            cost=cost,
            why=due.pays.reason,
            uncached=usage.input,
            read=usage.cache_read,
            write_5m=usage.cache_write_5m,
            write_1h=usage.cache_write_1h,
        )
        if usage.prompt:
            record = with_cache(record, *self._kept.follow(due.request, started, usage), usage)
        self._log.entry.spend(cost)
        await self._log.writer.commit(record)
