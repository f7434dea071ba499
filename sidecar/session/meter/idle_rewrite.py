"""Rewrites in pauses, if the next turn needs it anyway.

Waits for a pause, and for enough to rewrite.
"""

from collections.abc import Awaitable, Callable

from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.store.format.log_records import TurnStartedRecord
from sidecar.store.format.view_records import RewriteRecord, UndoneRecord

DEBOUNCE = 5.0
"""Seconds without a change before any work."""
BATCH = 3
"""Turns since the last rewrite that make an unforced rewrite worthwhile."""


class Idle:
    """Calls `rewrite` once a pause; `True` allows only one the next turn would force."""

    def __init__(
        self, log: SessionLog, clock: Clock, rewrite: Callable[[bool], Awaitable[bool]]
    ) -> None:
        self._log = log
        self._clock = clock
        self._rewrite = rewrite

    async def work(self) -> None:
        log, revision = self._log, -1
        if not turns_since_rewrite(log):
            return
        while revision != log.row.revision:
            revision = log.row.revision
            await self._clock.sleep(DEBOUNCE)
        # What was compacted and taken back meanwhile is not for us to compact again.
        if count := turns_since_rewrite(log):
            await self._rewrite(count < BATCH)


def turns_since_rewrite(log: SessionLog) -> int:
    count = 0
    for record in reversed(log.records):
        if isinstance(record, RewriteRecord | UndoneRecord) and record.opens:
            break
        count += isinstance(record, TurnStartedRecord)
    return count
