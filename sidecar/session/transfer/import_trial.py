"""Tries a log from elsewhere as on opening, then stores all of it or nothing."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sidecar.config import Config
from sidecar.core.errors import BadRequest, Cancelled, SidecarError
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt import broken_pairs
from sidecar.session.changes.timeline import Timeline
from sidecar.session.compaction.session_handoff import ledger_of
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import amiss, is_model_name
from sidecar.session.history.log_updates import LogReplay
from sidecar.session.lifecycle.assembly import caveats_of, compose, options_of, replay_of
from sidecar.session.log.events import Event
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import gauge_of
from sidecar.session.transfer.bundle_screen import odd
from sidecar.session.turn.model_access import ModelAccess
from sidecar.store.content.changes import weight
from sidecar.store.format.values import StoreChange, Stored

_T = TypeVar("_T")


class ImportWork:
    """Runs an import's threads, which stop on cancel."""

    def __init__(self) -> None:
        self._given_up = threading.Event()

    def check(self) -> None:
        if self._given_up.is_set():
            raise Cancelled("the import was cancelled")

    def each(self, things: Iterable[_T]) -> Iterator[_T]:
        for thing in things:
            self.check()
            yield thing

    async def run(self, work: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            self._given_up.set()
            raise


async def store_tried(
    environment: Environment,
    work: ImportWork,
    stored: Stored,
    changes: Callable[[], Sequence[StoreChange]],
) -> None:
    def prepared() -> tuple[Sequence[StoreChange], int]:
        _try_on(environment, stored, work.check)
        made = changes()
        work.check()
        return made, sum(map(weight, made))

    made, size = await work.run(prepared)
    await environment.store.write(*made, size=size)


def settings_here(config: Config, models: ModelAccess, old: JsonObject) -> JsonObject:
    settings: JsonObject = {
        "model": config.model,
        "policy": config.policy,
        "window": config.window,
        "maxTokens": config.max_tokens,
        "agent": config.agent,
        "effort": config.effort,
        "autoCompact": config.auto_compact,
        "autoContinue": config.auto_continue,
    }
    given: JsonObject = {**settings, **old}
    if not is_model_name(str(given["model"])):
        given["model"] = config.model
    info = models.info(str(given["model"]))
    for name in ("window", "maxTokens"):
        if amiss(given, info):
            given[name] = settings[name]
    # What is configured here may be too small for the session's model.
    return {**given, "window": None, "maxTokens": None} if amiss(given, info) else given


def _try_on(environment: Environment, stored: Stored, check: Callable[[], None]) -> None:
    """Reads as on opening. Raises BadRequest if that could never succeed."""
    try:
        _read_all(environment, stored, check)
    except (BadRequest, Cancelled):
        raise
    except SidecarError as error:
        raise odd(error.message) from error
    except Exception as error:
        # Whatever a log from elsewhere does to its readers, it is refused.
        raise odd(f"its log cannot be read ({type(error).__name__})") from error


def _read_all(environment: Environment, stored: Stored, check: Callable[[], None]) -> None:
    log = SessionLog(environment.store, stored, environment.clock.now)
    check()
    state = compose(environment, log, Ownership(environment.store, log.row.id, None))
    check()
    prompt = state.view.prompt(tuple(log))
    check()
    if broken_pairs(prompt) or any(one.role != "user" for one in prompt.messages[:1]):
        raise odd("what it would send is no conversation")
    gauge_of(state).read()
    check()
    options_of(state, caveats_of(state)).described()
    timeline = Timeline(log.messages, log.records)
    timeline.talk(len(timeline.events))
    timeline.head_before(len(timeline.events))
    check()
    ledger_of(log, log.records)
    check()
    asyncio.run(_shown(replay_of(state), check))


async def _shown(replay: LogReplay, check: Callable[[], None]) -> None:
    async def nobody(_: Event) -> None:
        pass

    rest = await replay.tell(None, nobody)
    for _ in rest():
        check()
