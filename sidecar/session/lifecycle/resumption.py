"""View, calibration and cache state after a restart.

The newest requests are replayed, each in the view of its time.
"""

from sidecar.core.parts import Message, StepFinishPart
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.tokens import Calibration
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.kept_cache import KeptCache
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Epoch, Views
from sidecar.store.format.log_records import StepRecord

REPLAYED = 20
"""Newest steps replayed, beside the first, which measures the static part."""
FORESEEN = 4
"""Requests whose cache entries are followed; they have read all older entries since."""


def restore(
    log: SessionLog,
    views: Views,
    view: ModelView,
    cached: CacheWatch,
    settings: SessionSettings,
    kept: KeptCache,
) -> None:
    messages = tuple(log)
    epochs = list(views.epochs())
    window = _window(view, views, messages)
    _show(view, epochs.pop(0))
    for index in window:
        while epochs and epochs[0].since <= messages[index].created:
            _show(view, epochs.pop(0))
        foreseen = window[-FORESEEN:]
        if index in foreseen:
            _foresee(view, cached, settings, messages[: index + 1], begin=index == foreseen[0])
        view.observe(messages[index], messages[: index + 1])
    kept.restore()
    for epoch in epochs:
        _show(view, epoch)
    # A replay notes no cache misses; the newest is in the log.
    steps = (r for r in reversed(log.records) if isinstance(r, StepRecord))
    breaks = ((r.segment, r.reason or "") for r in steps if r.segment is not None)
    cached.last_break = next(breaks, None)


def _window(view: ModelView, views: Views, messages: tuple[Message, ...]) -> list[int]:
    """Steps to replay: the first and newest since the view changed, or the last few.

    The first teaches the static part's size.
    """
    opened = views.opened
    steps = [
        index
        for index, message in enumerate(messages)
        if message.role == "assistant"
        and message.model == view.static.model
        and message.created >= view.since
        and _finish(message) is not None
    ]
    since = view.since if opened is None else max(view.since, opened[0])
    newest = [index for index in steps if messages[index].created >= since]
    return [*newest[:-REPLAYED][:1], *newest[-REPLAYED:]] or steps[-FORESEEN:]


def _show(view: ModelView, epoch: Epoch) -> None:
    newest = epoch.newest
    opens = newest is not None and epoch.opened == epoch.since >= view.since
    anchor = None if newest is None else newest.anchor
    view.reshape(epoch.view, anchor, epoch.since if opens else None)
    if newest is not None and opens:
        view.calibration = Calibration(newest.factor, newest.observations, newest.bias)


def _foresee(
    view: ModelView,
    cached: CacheWatch,
    settings: SessionSettings,
    messages: tuple[Message, ...],
    *,
    begin: bool,
) -> None:
    *asked, answer = messages
    finish = _finish(answer)
    assert finish is not None
    request = ModelRequest(view.static.model, view.prompt(asked), 0, settings.effort)
    if begin:
        cached.resume(request, finish.started, finish.usage)
    else:
        minimum, factor = settings.info().min_cacheable, view.calibration.factor
        cached.sent(request, finish.started, minimum, factor, finish.usage)


def _finish(message: Message) -> StepFinishPart | None:
    return next(
        (p for p in message.parts if isinstance(p, StepFinishPart) and p.usage.prompt), None
    )
