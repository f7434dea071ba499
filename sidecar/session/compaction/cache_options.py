"""A prompt's cache lifetime and smallest cacheable size."""

from sidecar.core.parts import Millis
from sidecar.core.prompt.keep_alive import Pays, hour_pays, starts_of
from sidecar.core.prompt.prompt import Ttl
from sidecar.session.compaction.decision import policy_of
from sidecar.session.state import State
from sidecar.store.format.log_records import CachingRecord

OWN = 8
"""Turns after which a session has pauses enough of its own to go by."""


def follow(state: State) -> None:
    """Choose a turn's lifetime; log a choice by the session's own pauses."""
    view = state.view
    view.minimum = state.settings.info().min_cacheable
    asked = starts_of(state.log) if state.log.row.turns >= OWN else ()
    found = _hour(state, asked)
    view.static_ttl = "5m" if found is None or not found.pays else "1h"
    if found is not None and asked and _logged(state) != view.static_ttl:
        decided = CachingRecord(
            static_ttl=view.static_ttl,
            why=found.reason,
            share=round(found.chance, 4),
            cost=round(found.cost, 6),
            saved=round(found.saved, 6),
            requests=len(asked),
        )
        state.log.writer.put_aside(decided)


def restore(state: State) -> None:
    """Choose after a restart; a logged choice takes precedence."""
    view, told = state.view, _logged(state)
    found = _hour(state, ())
    view.minimum = state.settings.info().min_cacheable
    view.static_ttl = "5m" if found is None or not found.pays else "1h"
    if found is not None and told is not None:
        view.static_ttl = told


def _hour(state: State, asked: tuple[Millis, ...]) -> Pays | None:
    """Weigh an hour; `None` without prices or if the policy wants five minutes."""
    card, view = state.settings.info().price, state.view
    if card is None or policy_of(state).static_ttl != "1h":
        return None
    return hour_pays(
        round(view.static_tokens * view.calibration.factor),
        write_5m=float(card.write_5m) / 1e6,
        write_1h=float(card.write_1h) / 1e6,
        read=float(card.read) / 1e6,
        starts=asked,
    )


def _logged(state: State) -> Ttl | None:
    records = (*state.log.records, *state.log.waiting)
    told = (r.static_ttl for r in reversed(records) if isinstance(r, CachingRecord))
    return next(told, None)
