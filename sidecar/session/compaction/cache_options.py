"""A prompt's cache lifetime and smallest cacheable size."""

from sidecar.core.parts import Millis
from sidecar.core.prompt.keep_alive import Pays, hour_pays, starts_of
from sidecar.core.prompt.prompt import Ttl
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import CachingRecord

OWN = 8
"""Turns after which a session has pauses enough of its own to go by."""


class CacheOptions:
    """Chooses how a session's prompts are cached."""

    def __init__(
        self, log: SessionLog, view: ModelView, settings: SessionSettings, chosen: ChosenPolicy
    ) -> None:
        self._log = log
        self._view = view
        self._settings = settings
        self._chosen = chosen

    def follow(self) -> None:
        """Choose a turn's lifetime; log a choice by the session's own pauses."""
        view = self._view
        view.minimum = self._settings.info().min_cacheable
        asked = starts_of(self._log) if self._log.row.turns >= OWN else ()
        found = self._hour(asked)
        view.static_ttl = "5m" if found is None or not found.pays else "1h"
        if found is not None and asked and self._logged() != view.static_ttl:
            decided = CachingRecord(
                static_ttl=view.static_ttl,
                why=found.reason,
                share=round(found.chance, 4),
                cost=round(found.cost, 6),
                saved=round(found.saved, 6),
                requests=len(asked),
            )
            self._log.writer.put_aside(decided)

    def restore(self) -> None:
        """After a restart, a logged choice takes precedence."""
        view, told = self._view, self._logged()
        found = self._hour(())
        view.minimum = self._settings.info().min_cacheable
        view.static_ttl = "5m" if found is None or not found.pays else "1h"
        if found is not None and told is not None:
            view.static_ttl = told

    def _hour(self, asked: tuple[Millis, ...]) -> Pays | None:
        """`None` without prices or if the policy wants five minutes."""
        card, view = self._settings.info().price, self._view
        if card is None or self._chosen.policy().static_ttl != "1h":
            return None
        return hour_pays(
            view.static_tokens,
            write_5m=float(card.write_5m) / 1e6,
            write_1h=float(card.write_1h) / 1e6,
            read=float(card.read) / 1e6,
            starts=asked,
        )

    def _logged(self) -> Ttl | None:
        records = (*self._log.records, *self._log.waiting)
        told = (r.static_ttl for r in reversed(records) if isinstance(r, CachingRecord))
        return next(told, None)
