"""Derives view, calibration, cache state and settings from a log.

The newest requests are replayed in the views of their times.
"""

from collections.abc import Iterator, Sequence

from sidecar.config.reload import CurrentSettings
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, Millis, StepFinishPart
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.tokens import Calibration
from sidecar.session.compaction.cache_options import CacheOptions
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.epochs.static_prompt import bound_since, stored_static
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.gauge import Gauge, MeterChoices
from sidecar.session.meter.kept_cache import KeptCache
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Epoch, Views
from sidecar.store.format.log_records import StepRecord

REPLAYED = 20
"""Newest steps replayed, beside the first, which measures the static part."""
FORESEEN = 4
"""Requests whose cache entries are followed; they have read all older entries since."""


@dataclass(frozen=True, slots=True)
class ReadState:
    """State as logged; `configured` holds where the session sets nothing."""

    models: ModelAccess
    configured: CurrentSettings
    clock: Clock
    log: SessionLog
    view: ModelView
    views: Views
    cached: CacheWatch
    settings: SessionSettings


def read_log(
    models: ModelAccess, configured: CurrentSettings, clock: Clock, log: SessionLog
) -> ReadState:
    """Raises StorageFailed without a readable epoch."""
    cached, settings = CacheWatch(models.count), SessionSettings(log, models)
    view, views = view_of(models, log), Views(log.records)
    made = ReadState(models, configured, clock, log, view, views, cached, settings)
    restore(made)
    return made


def view_of(models: ModelAccess, log: SessionLog) -> ModelView:
    static, since = stored_static(log)
    factor = models.info(static.model).token_factor
    return ModelView(static, models.count, factor, since, bound_since(log))


def restore(reading: ReadState) -> None:
    cache_options_of(reading).restore()
    view, views, cached, settings = reading.view, reading.views, reading.cached, reading.settings
    messages = tuple(reading.log)
    epochs = list(views.epochs())
    window = _window(view, views, messages)
    begun = messages[window[0]].created if window else 0
    passed = [epochs.pop(0), *_until(epochs, begun)]
    for epoch in _lasting(view, passed):
        _show(view, epoch)
    for index in window:
        for epoch in _until(epochs, messages[index].created):
            _show(view, epoch)
        foreseen = window[-FORESEEN:]
        if index in foreseen:
            _foresee(view, cached, settings, messages[: index + 1], begin=index == foreseen[0])
        view.observe(messages[index], messages[: index + 1])
    kept_cache_of(reading).restore()
    for epoch in epochs:
        _show(view, epoch)
    # A replay notes no cache misses; the newest is in the log.
    steps = (r for r in reversed(reading.log.records) if isinstance(r, StepRecord))
    breaks = ((r.segment, r.reason or "") for r in steps if r.segment is not None)
    cached.last_break = next(breaks, None)


def cache_options_of(reading: ReadState) -> CacheOptions:
    log, view, settings = reading.log, reading.view, reading.settings
    return CacheOptions(log, view, settings, _chosen(reading), reading.clock)


def kept_cache_of(reading: ReadState) -> KeptCache:
    log, view, settings = reading.log, reading.view, reading.settings
    return KeptCache(log, view, reading.cached, settings, reading.clock)


def gauge_of(reading: ReadState) -> Gauge:
    return Gauge(
        reading.log,
        reading.view,
        reading.cached,
        reading.settings,
        reading.models,
        reading.clock,
        MeterChoices(
            _chosen(reading).policy,
            lambda: reading.configured.config.zones,
            cache_options_of(reading).next_ttl,
        ),
    )


def _chosen(reading: ReadState) -> ChosenPolicy:
    return ChosenPolicy(reading.settings, reading.configured)


def _window(view: ModelView, views: Views, messages: tuple[Message, ...]) -> list[int]:
    """Finds answers to replay: the first and newest since the view changed, or the last few.

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


def _until(epochs: list[Epoch], time: Millis) -> list[Epoch]:
    """Takes the first ones away."""
    later = next((n for n, epoch in enumerate(epochs) if epoch.since > time), len(epochs))
    passed, epochs[:] = epochs[:later], epochs[later:]
    return passed


def _lasting(view: ModelView, passed: Sequence[Epoch]) -> Iterator[Epoch]:
    """Of views before any answer, those whose traces stay."""
    since, opened = view.since, passed[0]
    for epoch in passed:
        if _opens(epoch, since):
            since, opened = epoch.since, epoch
    yield opened
    if opened is not passed[-1]:
        yield passed[-1]


def _opens(epoch: Epoch, since: Millis) -> bool:
    return epoch.newest is not None and epoch.opened == epoch.since >= since


def _show(view: ModelView, epoch: Epoch) -> None:
    newest, opens = epoch.newest, _opens(epoch, view.since)
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
    rules = settings.info().cache
    if begin:
        cached.resume(request, finish.started, rules, finish.usage)
    else:
        cached.sent(request, finish.started, rules, view.calibration.factor, finish.usage)


def _finish(message: Message) -> StepFinishPart | None:
    return next(
        (p for p in message.parts if isinstance(p, StepFinishPart) and p.usage.prompt), None
    )
