"""A rewrite while the user is away, if the next turn would need a rewrite anyway.

Waits for a pause, and for enough to rewrite. A returning user does not wait.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.store.format.log_records import TurnStartedRecord
from sidecar.store.format.view_records import RewriteRecord, UndoneRecord

logger = logging.getLogger("sidecar.session")

DEBOUNCE = 5.0
"""Seconds without a change before any work."""
BATCH = 3
"""Turns since the last rewrite that make an unforced rewrite worthwhile."""

T = TypeVar("T")


class Idle:
    """Calls `rewrite` at most once.

    `True`: only a rewrite that the next turn could not do without.
    """

    def __init__(
        self, log: SessionLog, clock: Clock, rewrite: Callable[[bool], Awaitable[bool]]
    ) -> None:
        self._log = log
        self._clock = clock
        self._rewrite = rewrite

    async def until(self, coming: Awaitable[T], group: asyncio.TaskGroup) -> T:
        """Await the end of the idle time; then give up unfinished work."""
        task = group.create_task(self._use()) if turns_since_rewrite(self._log) else None
        try:
            return await coming
        finally:
            if task is not None:
                task.cancel()

    async def _use(self) -> None:
        log = self._log
        try:
            revision = -1
            while revision != log.row.revision:
                revision = log.row.revision
                await self._clock.sleep(DEBOUNCE)
            # What was compacted and taken back meanwhile is not for us to compact again.
            if count := turns_since_rewrite(log):
                await self._rewrite(count < BATCH)
        except Exception:  # nothing that nobody waits for is worth a session
            logger.exception("compacting while idle failed")


def turns_since_rewrite(log: SessionLog) -> int:
    """Turns begun since the last rewrite."""
    count = 0
    for record in reversed(log.records):
        if isinstance(record, RewriteRecord | UndoneRecord) and record.opens:
            break
        count += isinstance(record, TurnStartedRecord)
    return count
