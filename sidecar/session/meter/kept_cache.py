"""The cache as pings keep it."""

from decimal import Decimal
from itertools import takewhile

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.cache.keep_alive import Pays, chance_back, ping_pays
from sidecar.core.prompt.cache.lifetime import starts_of
from sidecar.core.prompt.cache.misses import Miss
from sidecar.core.prompt.cache.warmth import Prediction
from sidecar.core.prompt.pricing import price
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.message_view import Anchor
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import PingRecord


@dataclass(frozen=True, slots=True)
class Due:
    """A worthwhile ping: the request to repeat, its answer."""

    request: ModelRequest
    anchor: Anchor
    pays: Pays


class KeptCache:
    """Follows the cache through a pause; sends nothing."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        cached: CacheWatch,
        settings: SessionSettings,
        clock: Clock,
    ) -> None:
        self._log = log
        self._view = view
        self._cached = cached
        self._settings = settings
        self._clock = clock

    def due(self) -> Due | None:
        """Returns the ping to send now, if worth its price after the pause's earlier ones.

        The whole prompt must be cached: nothing is written only to be kept alive.
        """
        view, anchor, info = self._view, self._view.anchor, self._settings.info()
        if anchor is None or not info.cache.pings_renew:
            return None
        request = self._again(anchor)
        factor = view.calibration.factor
        foreseen = self._cached.foresee(request, self._clock.now(), info.cache, factor)
        tokens = foreseen.read
        if tokens < max(1, info.cache.minimum) or foreseen.cached > tokens:
            return None
        write = _per_token(price(info, Usage(cache_write_5m=tokens)), tokens)
        read = _per_token(price(info, Usage(cache_read=tokens)), tokens)
        if write is None or read is None:
            return None
        sent = len(self._since(anchor))
        hour = view.static_tokens if view.static_ttl == "1h" else 0
        pays = ping_pays(
            tokens,
            write=write,
            read=read,
            pings=sent,
            chance=chance_back(starts_of(self._log), sent, info.cache.short),
            surviving=min(hour, tokens),
        )
        return Due(request, anchor, pays) if pays.pays else None

    def follow(
        self, request: ModelRequest, started: Millis, usage: Usage
    ) -> tuple[Prediction, Miss | None]:
        rules, factor = self._settings.info().cache, self._view.calibration.factor
        foreseen, miss = self._cached.sent(request, started, rules, factor, usage)
        self._view.renew(started)
        return foreseen, miss

    def restore(self) -> None:
        anchor = self._view.anchor
        if anchor is None:
            return
        for ping in self._since(anchor):
            usage = usage_of(ping)
            if usage.prompt:
                self.follow(self._again(anchor), ping.started, usage)

    def _again(self, anchor: Anchor) -> ModelRequest:
        asked = takewhile(lambda message: message.id != anchor.message_id, self._log)
        prompt = self._view.prompt(asked)
        return ModelRequest(self._view.static.model, prompt, 0, self._settings.effort)

    def _since(self, anchor: Anchor) -> list[PingRecord]:
        pings = (record for record in self._log.records if isinstance(record, PingRecord))
        return [ping for ping in pings if ping.message_id == anchor.message_id]


def usage_of(ping: PingRecord) -> Usage:
    return Usage(ping.uncached, ping.read, ping.write_5m, ping.write_1h, requests=1)


def _per_token(cost: Decimal | None, tokens: int) -> float | None:
    return None if cost is None else float(cost) / tokens
