"""Assembles states from logs."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sidecar.core.policies import policies
from sidecar.core.prompt.observation import SnapshotTaken
from sidecar.session.changes.change_summary import Differences
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.tracker import Tracking
from sidecar.session.environment import Environment
from sidecar.session.epochs.caveats import Caveats
from sidecar.session.epochs.epochs import Epochs
from sidecar.session.epochs.known_instructions import KnownInstructions
from sidecar.session.history.checkpoint_list import Checkpoints
from sidecar.session.history.log_updates import LogReplay
from sidecar.session.lifecycle.config_options import ConfigOptions
from sidecar.session.lifecycle.damage import begin_if_lost
from sidecar.session.lifecycle.turn_start import TurnStart
from sidecar.session.lifecycle.work_news import WorkNews
from sidecar.session.log.channel import Channel, give_notice, tell_damage
from sidecar.session.log.session_log import Rest, SessionLog
from sidecar.session.meter.compaction_price import CompactionPrice
from sidecar.session.meter.observations import observe_record
from sidecar.session.meter.pings import Pings
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import kept_cache_of, restore, view_of
from sidecar.session.rollback.conversation_restore import ConversationPlans
from sidecar.session.rollback.file_restore import FilePlans
from sidecar.session.rollback.going_back import Rollback, RollbackHost
from sidecar.session.session_settings import SessionSettings
from sidecar.session.state import State
from sidecar.session.turn.prompt_line import PromptLine
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.view_history import Views
from sidecar.session.view.whole_view import take_rest
from sidecar.store.format.log_records import OURS, ImportedRecord, OptionRecord
from sidecar.tools.rules.permission import Rules
from sidecar.workspace.variables import shed_import_paths


def compose(
    environment: Environment,
    log: SessionLog,
    ownership: Ownership,
    above: State | None = None,
) -> State:
    """A subtask has the trust and permissions of `above`."""
    shed_import_paths(Path(log.row.cwd))
    if above is None:
        rules, trust = environment.settings.config.permissions, environment.trust(log.row.cwd)
        given = Rules(rules.allow, rules.reject)
        permissions = Permissions(given, Path(log.row.cwd), environment.root)
    else:
        trust, permissions = above.trust, above.permissions.for_subtask()
    view = view_of(environment.models, log)

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
        models=environment.models,
        configured=environment.settings,
        clock=environment.clock,
        environment=environment,
        store=environment.store,
        buffers=environment.workspaces.buffers,
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
    restore(state)
    if not ownership.read_only:
        replace_gone_policy(state)
        _take_configured_model(state)
    return state


def _take_configured_model(state: State) -> None:
    """Gives another agent's session the configured model until one was chosen or asked here."""
    came = state.log.last_record(ImportedRecord)
    if came is None or came.format == OURS or any(one.created > came.at for one in state.log):
        return
    since = (record for record in state.log.records if record.revision > came.revision)
    if not any(isinstance(one, OptionRecord) and one.config_id == "model" for one in since):
        state.settings.change("model", state.config.model)


def replace_gone_policy(state: State) -> None:
    gone, kept = state.settings.text("policy"), state.config.policy
    if gone not in policies():
        state.settings.change("policy", kept)
        text = f"There is no policy {gone!r} any more: this session goes on with {kept!r}."
        give_notice(state.log, state.channel, "warning", text)


async def read_again(state: State, *, writes: bool = False) -> Sequence[str]:
    """Reads a session that another daemon has written; returns what was unreadable.

    If this daemon `writes`, a log without epochs gets one. Raises StorageFailed.
    """
    problems = state.log.become(await state.store.logs.load(state.log.row.id))
    if writes:
        await begin_if_lost(state.environment, state.log)
    state.view.become(view_of(state.models, state.log))
    state.views.forget()
    state.cached.forget()
    restore(state)
    return problems


def pings_of(state: State, gate: asyncio.Lock, told: Callable[[], None]) -> Pings:
    kept, environment = kept_cache_of(state), state.environment
    settings, ownership = state.settings, state.ownership
    return Pings(environment, state.log, state.view, kept, settings, ownership, gate, told)


def instructions_of(state: State) -> KnownInstructions:
    environment, trust = state.environment, state.trust
    return KnownInstructions(environment, state.log, state.view, trust, state.settings)


def starts_of(state: State, instructions: KnownInstructions) -> TurnStart:
    log, clock, workspaces = state.log, state.clock, state.environment.workspaces
    news = WorkNews(log, state.buffers, clock, state.store.folder)
    trust, permissions = state.trust, state.permissions
    return TurnStart(log, state.views, clock, workspaces, trust, permissions, instructions, news)


def epochs_of(state: State, instructions: KnownInstructions) -> Epochs:
    environment, channel = state.environment, state.channel
    return Epochs(environment, state.log, state.view, channel, state.settings, instructions)


def checkpoints_of(state: State) -> Checkpoints:
    return Checkpoints(state.log, state.tracking, Differences(state.store.logs.contents))


def rollback_of(
    state: State,
    checkpoints: Checkpoints,
    host: RollbackHost,
    prompts: PromptLine,
    price: CompactionPrice,
    gate: asyncio.Lock,
) -> Rollback:
    log, tracking, rows = state.log, state.tracking, state.store.restores
    conversation = ConversationPlans(
        log, state.view, state.views, state.channel, state.clock, price
    )

    def guarded(path: str) -> str:
        variables, trusted = state.environment.workspaces.variables, state.trust.granted
        return state.permissions.why_not_restored(path, variables, trusted=trusted)

    files = FilePlans(tracking, state.buffers, rows, checkpoints.differences, guarded)
    return Rollback(state.environment, log, conversation, files, checkpoints, host, prompts, gate)


def options_of(state: State, caveats: Caveats) -> ConfigOptions:
    return ConfigOptions(state.log, state.settings, state.models, caveats)


def caveats_of(state: State) -> Caveats:
    return Caveats(state.environment, state.log, state.channel, state.settings, state.view)


def replay_of(state: State) -> LogReplay:
    logs = state.store.logs
    return LogReplay(state.log, state.view, state.views, state.channel, logs)
