"""Counts refused plans."""

from sidecar.core.engine.breaker import MOST_TRIES, Breaker
from sidecar.core.engine.engine import Chosen
from sidecar.core.plans.plan import Standing
from sidecar.core.prompt.visibility import Cause
from sidecar.session.compaction.decision import Decision
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import RefusedRecord

NOTHING = "nothing is left that may go"


class Refusals:
    """Bars new plans for a while after too many refusals."""

    def __init__(self, log: SessionLog, channel: Channel) -> None:
        self._log = log
        self._channel = channel
        self._breaker = Breaker()

    @property
    def are_many(self) -> bool:
        return self._breaker.is_open

    def bar(self, standing: Standing, cause: Cause) -> bool:
        return self._breaker.holds(standing, cause)

    def left_off(self, used: int) -> None:
        """Bars retries after the user stopped one at `used` tokens."""
        self._breaker = self._breaker.after(False, used, MOST_TRIES)

    def end(self) -> None:
        self._breaker = self._breaker.after(True)

    def add(self, chosen: Chosen[Decision], standing: Standing, cause: Cause) -> None:
        before = self._breaker
        self._breaker = chosen.breaker(before, standing, cause)
        if self._breaker.failures == before.failures:
            return
        refused = RefusedRecord(
            reasons=chosen.refused or (NOTHING,),
            used=standing.used,
            limit=standing.limit,
            window=standing.window,
        )
        self._log.writer.put_aside(refused)
        if self._breaker.is_open and not before.is_open:
            why = chosen.why or NOTHING
            text = (
                f"The context cannot be made smaller well: {why}. It goes on as it is; once it is "
                "over the limit the oldest half goes, and where that does not help it is not sent."
            )
            give_notice(self._log, self._channel, "warning", text)
