"""How the provider caches a session's prompts."""

from sidecar.core.prompt.cache.lifetime import Lifetime, is_kept, lifetime, starts_of
from sidecar.core.prompt.pricing import Price
from sidecar.core.prompt.prompt import Ttl
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import CachingRecord


class CacheOptions:
    """Chooses the cache lifetime of the static text."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        settings: SessionSettings,
        chosen: ChosenPolicy,
        clock: Clock,
    ) -> None:
        self._log = log
        self._view = view
        self._settings = settings
        self._chosen = chosen
        self._clock = clock

    def follow(self) -> None:
        """Before a request that writes the static text anew, chooses and logs a lifetime."""
        ttl, found = self._choice(self._view)
        self._view.static_ttl, self._view.rules = ttl, self._settings.info().cache
        if found is not None:
            decided = CachingRecord(
                static_ttl=ttl,
                why=found.reason,
                cost=round(found.cost, 6),
                saved=round(found.saved, 6),
            )
            self._log.writer.put_aside(decided)

    def next_ttl(self, view: ModelView) -> Ttl:
        """Returns the static text's lifetime if `view` were sent now."""
        return self._choice(view)[0]

    def restore(self) -> None:
        self._view.static_ttl = self._logged() if self._hour_prices() else "5m"
        self._view.rules = self._settings.info().cache

    def _choice(self, view: ModelView) -> tuple[Ttl, Lifetime | None]:
        card = self._hour_prices()
        if card is None:
            return "5m", None
        kept, last, now = view.static_ttl, view.last, self._clock.now()
        rules = self._settings.info().cache
        if is_kept(rules.lives(kept), None if last is None else last.started, now):
            return kept, None
        found = lifetime(
            view.static_tokens,
            write_5m=float(card.write_5m) / 1e6,
            write_1h=float(card.write_1h) / 1e6,
            read=float(card.read) / 1e6,
            starts=starts_of(self._log),
            now=now,
            spent=float(self._log.row.cost or 0),
            rules=rules,
        )
        return found.ttl, None if found.ttl == kept else found

    def _hour_prices(self) -> Price | None:
        info = self._settings.info()
        wanted = self._chosen.policy().static_ttl == "1h" and info.cache.long > 0
        return info.price if wanted else None

    def _logged(self) -> Ttl:
        records = (*self._log.records, *self._log.waiting)
        told = (r.static_ttl for r in reversed(records) if isinstance(r, CachingRecord))
        return next(told, "5m")
