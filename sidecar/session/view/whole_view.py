"""Widens views to whole logs."""

from collections.abc import Callable

from sidecar.core.parts import Millis
from sidecar.session.log.losses import unsigned
from sidecar.session.log.session_log import Rest, SessionLog
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views


def take_rest(
    log: SessionLog, view: ModelView, views: Views, rest: Rest, now: Callable[[], Millis]
) -> None:
    """Widens the view; only lost records begin an epoch."""
    sent = view.size([m for m in log if m.id not in rest.messages]).messages
    view.take_rest(views.take_rest(), views.view())
    if view.size(log).messages != sent:
        # A rewrite is lost, and what it left out is there again: thinking is not bound to
        # that, and its size is not known.
        log.take(unsigned(m) for m in log.messages if m.status != "open")
        view.reshape(views.view(), views.anchor, now())
