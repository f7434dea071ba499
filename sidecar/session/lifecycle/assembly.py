"""Assemble a session's state from the log."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sidecar.core.policies import policies
from sidecar.core.prompt.observation import SnapshotTaken
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.tracker import Tracking
from sidecar.session.compaction.cache_options import CacheOptions
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs
from sidecar.session.epochs.caveats import Caveats
from sidecar.session.history.log_updates import LogReplay
from sidecar.session.lifecycle.resumption import restore
from sidecar.session.log.channel import Channel, give_notice, tell_damage
from sidecar.session.log.losses import readable
from sidecar.session.log.session_log import Rest, SessionLog
from sidecar.session.meter.gauge import Gauge
from sidecar.session.meter.kept_cache import KeptCache
from sidecar.session.meter.observations import observe_record
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.state import State
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views
from sidecar.session.view.whole_view import take_rest
from sidecar.tools.rules.permission import Rules
from sidecar.workspace.variables import shed_import_paths


def compose(
    environment: Environment,
    log: SessionLog,
    ownership: Ownership,
    above: State | None = None,
) -> State:
    """Compose a state as logged; a subtask's session is trusted and allowed as the one above."""
    shed_import_paths(Path(log.row.cwd))
    if above is None:
        rules, trust = environment.settings.config.permissions, environment.trust(log.row.cwd)
        permissions = Permissions(Rules(rules.allow, rules.reject))
    else:
        trust, permissions = above.trust, above.permissions.for_subtask()
    view = _view(environment.models, log)

    def reserve(seq: int) -> None:
        # The row belongs to whoever owns the session.
        if not ownership.read_only:
            state.log.entry.reserve(seq)

    def tell(text: str) -> None:
        give_notice(state.log, state.channel, "warning", text)

    def take(rest: Rest) -> None:
        take_rest(log, view, state.views, rest, environment.clock.now)
        tell_damage(log, state.channel, rest.problems)

    state = State(
        environment=environment,
        log=log,
        view=view,
        views=Views(log.records),
        cached=CacheWatch(environment.models.count),
        channel=Channel(log.row.id, log.row.seq, reserve),
        trust=trust,
        permissions=permissions,
        tracking=Tracking(
            environment.workspaces.snapshots,
            log,
            environment.clock.part_id,
            tell,
            lambda seconds: environment.observe(SnapshotTaken(log.row.id, seconds)),
        ),
        settings=SessionSettings(log, environment.models),
        ownership=ownership,
    )
    log.writer.durable = partial(observe_record, environment.observe, environment.models.info, log)
    log.filled = take
    cache_options_of(state).restore()
    restore(state, kept_cache_of(state))
    if not ownership.read_only:
        _replace_gone_policy(state.settings, environment.settings.config.policy, tell)
    return state


def _replace_gone_policy(settings: SessionSettings, kept: str, tell: Callable[[str], None]) -> None:
    """Replace a loaded session's removed policy by the configured policy, with a warning."""
    gone = settings.text("policy")
    if gone in policies():
        return
    settings.change("policy", kept)
    tell(f"There is no policy {gone!r} any more: this session goes on with {kept!r}.")


async def read_again(state: State) -> Sequence[str]:
    """Make a session's parts what another daemon has made of them.

    Returns sentences on what is unreadable. Raises StorageFailed.
    """
    found = await state.store.logs.load(state.log.row.id)
    stored = readable(found)
    state.log.become(stored)
    state.log.damaged |= stored.messages != found.messages
    state.view.become(_view(state.environment.models, state.log))
    state.views.forget()
    state.cached.forget()
    cache_options_of(state).restore()
    restore(state, kept_cache_of(state))
    return stored.problems


def _view(models: ModelAccess, log: SessionLog) -> ModelView:
    static, since = epochs.stored_static(log)
    factor = models.info(static.model).token_factor
    return ModelView(static, models.count, factor, since, epochs.bound_since(log))


def cache_options_of(state: State) -> CacheOptions:
    """How a session's prompts are cached."""
    chosen = ChosenPolicy(state.settings, state.environment.settings)
    return CacheOptions(state.log, state.view, state.settings, chosen)


def kept_cache_of(state: State) -> KeptCache:
    """A session's cache, as pings keep it."""
    return KeptCache(state.log, state.view, state.cached, state.settings, state.clock)


def gauge_of(state: State) -> Gauge:
    """A session's meter."""
    models = state.environment.models
    return Gauge(state.log, state.view, state.cached, state.settings, models, state.clock)


def caveats_of(state: State) -> Caveats:
    """A session's warnings."""
    return Caveats(state.environment, state.log, state.channel, state.settings, state.view)


def replay_of(state: State) -> LogReplay:
    """A session's history, to be told."""
    logs = state.store.logs
    return LogReplay(state.log, state.view, state.views, state.channel, logs)
