"""A wrapped agent's session as one of ours."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from time import monotonic

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError
from sidecar.core.parts import JsonObject, SessionId
from sidecar.session.desk.open_sessions import RecordedSession
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.session_params import checked_folder
from sidecar.session.lifecycle.assembly import compose
from sidecar.session.lifecycle.damage import open_log
from sidecar.session.lifecycle.fork import fork
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.change_records import newest
from sidecar.session.log.channel import give_notice
from sidecar.session.log.events import Event, Notice
from sidecar.session.log.restore_records import restore_news
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.state import State
from sidecar.store.format.log_records import CreatedRecord, ImportedRecord, OptionRecord
from sidecar.store.format.values import Owner, SessionRow
from sidecar.tools.builtin_tools import BUILTIN
from sidecar.wrap.acp_fold import (
    AcpEvent,
    CallSeen,
    CommandsSeen,
    ModelSeen,
    PlanSeen,
    PromptEnded,
    PromptSeen,
    SpeechSeen,
    TerminalSeen,
    TitleSeen,
    UsageSeen,
    WriteSeen,
)
from sidecar.wrap.context_gauge import ContextGauge, settled
from sidecar.wrap.wrapped_turn import FORMAT, WrappedTurn

logger = logging.getLogger("sidecar.wrap")

WRAPPED = "wrapped"
"""The setting that names the agent's session, behind ours: copies of ours are not the agent's."""
QUIET = 0.1
"""Seconds without a message after which the agent is not ahead, with what its next call writes."""
SMALL = 24_000
"""Tokens; a window that these fill so far that the user is warned has no agent's model."""
ENDS_WITHIN = 10.0
"""Seconds for a recorder that was left to end what it began, such as a going back."""
PAGE, MOST_PAGES = 100, 20
"""Sessions looked through for one that the agent loads."""
MOST_NOTED = 5
"""Warnings told with the next command's answer, the newest."""
LATE = (
    "The snapshot before this prompt came {ms} ms after the prompt had gone on: what changed by "
    "then is the agent's only where the agent reports it."
)
GAP = "Some of what passed here came too fast to be recorded."


@dataclass(frozen=True, slots=True)
class SessionWriter:
    """A recorder as writer of sessions; `release` gives one back, later if the disk is full."""

    environment: Environment
    owner: Owner
    release: Callable[[Environment, SessionId], Awaitable[None]]


class WrappedSession:
    """Takes events of one of the agent's sessions, in order.

    `session` is not started: nothing of ours is sent to a model.
    """

    def __init__(self, session: Session, state: State, agent: str) -> None:
        self.session, self.state, self.log = session, state, state.log
        self.model = agent
        self.commands: tuple[str, ...] = ()
        self.gauge = ContextGauge()
        self._turn: WrappedTurn | None = None
        self._request = ""
        spent = state.log.row.cost
        self._cost = None if spent is None or spent == "0" else Decimal(spent)
        self._cost_before = Decimal(0)

        self._noted: list[str] = []
        state.channel.attach(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Notice) and event.level != "info" and event.text not in self._noted:
            self._noted = [*self._noted, event.text][-MOST_NOTED:]

    def noted(self) -> tuple[str, ...]:
        """Warnings since the last call, which the user has not seen."""
        found, self._noted = tuple(self._noted), []
        return found

    def news(self) -> str:
        """What was taken back since the last prompt, in the user's words."""
        told = restore_news(self.log.records, "I")
        return f"[{told} Read these files again before you edit them.]" if told else ""

    async def prompt(
        self, seen: PromptSeen, words: str, late: Callable[[], bool] = lambda: False
    ) -> None:
        """`late`: whether the agent has had the prompt for a while."""
        await self.end(PromptEnded(seen.session, "interrupted", None))
        await self.session.prompts.turning.acquire()
        self._turn, self._request = (
            WrappedTurn(self.state, self.model, self.state.clock.turn_id()),
            seen.request,
        )
        self._cost_before = self._cost or Decimal(0)
        self.state.tracking.late = late
        await self._turn.begin(seen.blocks, words)

    async def take(self, event: AcpEvent) -> None:
        """Raises StorageFailed."""
        turn = self._turn
        match event:
            case ModelSeen(model=model) if model:
                self.model = model
            case TitleSeen(title=title):
                self.log.entry.change(title=title[:200])
            case CommandsSeen(names=names):
                self.commands = names
            case UsageSeen(used=used, size=size, cost=cost):
                self._measured(ContextGauge(used, size, reported=True))
                self._cost = self._cost if cost is None else Decimal(repr(cost))
            case PromptEnded(request=request) if request == self._request:
                await self.end(event)
            case PromptSeen():
                await self.prompt(event, "")
            case SpeechSeen() if turn is not None:
                turn.speech(event)
            case CallSeen() if turn is not None:
                await turn.call(event)
            case PlanSeen() if turn is not None:
                await turn.plan(event)
            case WriteSeen(path=path) if turn is not None:
                await turn.wrote(path)
            case TerminalSeen(terminal=name, output=output) if turn is not None:
                turn.terminals[name] = output
            case _:
                pass

    @property
    def patience(self) -> float | None:
        """Seconds without a message after which files are looked at, in a turn."""
        if self._turn is None or self._turn.open_calls:
            return None
        return QUIET if self._turn.due else self._turn.pause

    async def look_on(self) -> None:
        """Looks at files in a turn."""
        if self._turn is not None:
            await self._turn.look()

    async def end(self, seen: PromptEnded) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        try:
            cost = self._cost
            if cost is not None and cost >= self._cost_before:
                # Else the agent has begun to count anew.
                cost -= self._cost_before
            await turn.end(seen.stop, seen.usage, cost, seen.error)
        finally:
            self.session.prompts.turning.release()
        if not self.gauge.reported:
            self._measured(self._estimated())

    def _measured(self, gauge: ContextGauge) -> None:
        self.gauge = settled(gauge, self.gauge)

    def _estimated(self) -> ContextGauge:
        used = self.state.view.size(self.log).total
        return ContextGauge(used, self._window() if used > SMALL else 0)

    def _window(self) -> int:
        """Other vendors' take 8 MiB to know."""
        return self.state.models.info(self.model).window

    def gauge_asked_for(self) -> ContextGauge:
        """With the window, where that is looked up."""
        gauge = self.gauge
        return gauge if gauge.reported or not gauge.used else replace(gauge, size=self._window())

    async def look(self) -> None:
        """Remembers the files as they are now, unless the log knows an earlier state."""
        tracking = self.state.tracking
        with suppress(SidecarError):
            _, found = await tracking.since()
            if newest(self.log) is None:
                tracking.reached(found.after)

    async def history(self, events: Sequence[AcpEvent]) -> None:
        """Takes what the agent says was said before; files were not followed then."""
        turn: WrappedTurn | None = None
        speaker = ""
        for event in events:
            # Others have their turn amid a long history.
            await asyncio.sleep(0)
            said = event.speaker if isinstance(event, SpeechSeen) else "agent"
            if isinstance(event, SpeechSeen) and said == "user":
                if turn is not None and speaker != "user":
                    await turn.end("end_turn", None, None)
                    turn = None
                if turn is None:
                    name = self.state.clock.turn_id()
                    turn = WrappedTurn(self.state, self.model, name, follows=False)
                    await turn.begin(({"type": "text", "text": event.text},))
                speaker = said
            elif turn is not None:
                speaker = said
                match event:
                    case SpeechSeen():
                        turn.speech(event)
                    case CallSeen():
                        await turn.call(event)
                    case PlanSeen():
                        await turn.plan(event)
                    case _:
                        pass
        if turn is not None:
            await turn.end("end_turn", None, None)

    def warned(self) -> None:
        self.gauge = replace(self.gauge, warned=True)

    def came_late(self, milliseconds: int) -> None:
        self.note(LATE.format(ms=milliseconds))

    def note(self, text: str) -> None:
        give_notice(self.log, self.state.channel, "warning", text)

    async def close(self) -> None:
        """The lease stays."""
        try:
            await self.end(PromptEnded("", "interrupted", None))
            if self.log.writer.unwritten:
                await self.log.writer.write_aside()
        finally:
            self.session.environment.forget(self.session.id)


async def begun(by: SessionWriter, name: str, cwd: str, agent: str) -> WrappedSession:
    """A new session of ours for the agent's session `name`. Raises BadRequest, StorageFailed."""
    environment = by.environment
    config, folder = environment.settings.config, checked_folder(cwd)
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
    log = environment.new_log(folder, "", settings)
    log.entry.configure({**settings, WRAPPED: [log.row.id, name]})
    trusted = environment.trust(folder).granted
    static = await known_instructions.begin(environment, log.row, trusted, BUILTIN, None)
    epochs.begin(log, static, environment.clock.new_id("cmp"), "new")
    log.writer.note(ImportedRecord(format=FORMAT, source=agent or None))
    await log.writer.commit(CreatedRecord())
    ownership = Ownership(environment.store, log.row.id, by.owner)
    await ownership.claim()
    ownership.take()
    return _wrapped(environment, log, ownership, agent)


async def found(
    by: SessionWriter,
    name: str,
    cwd: str,
    agent: str,
    others: Mapping[SessionId, RecordedSession],
) -> WrappedSession | None:
    """The newest session of ours for the agent's, unless somebody else writes it.

    `others` are recorded in this process; a recorder whose tap was killed may have work to end.
    """
    environment = by.environment
    row = await _row(environment, name, checked_folder(cwd))
    if row is None:
        return None
    ownership, until = Ownership(environment.store, row.id, by.owner), monotonic() + ENDS_WITHIN
    while not await ownership.claim():
        other = others.get(row.id)
        if other is None or not other.is_left() or monotonic() > until:
            return None
        await asyncio.sleep(QUIET)
    async with _claimed(by, row.id):
        log, _ = await open_log(environment, row.id, writes=True)
        ownership.take()
        wrapped = _wrapped(environment, log, ownership, agent)
        await wrapped.session.recover()
    return wrapped


async def copied(
    by: SessionWriter, name: str, source: WrappedSession, agent: str
) -> WrappedSession:
    """A fork of `source`, as the agent has forked its own into `name`."""
    environment = by.environment
    made = await fork(environment.store, environment.clock, source.session.id, None)
    ownership = Ownership(environment.store, made, by.owner)
    await ownership.claim()
    async with _claimed(by, made):
        log, _ = await open_log(environment, made, writes=True)
        ownership.take()
        log.entry.configure({**log.row.settings, WRAPPED: [log.row.id, name]})
        await log.writer.commit(OptionRecord(config_id=WRAPPED))
        return _wrapped(environment, log, ownership, agent)


@asynccontextmanager
async def _claimed(by: SessionWriter, session_id: SessionId) -> AsyncIterator[None]:
    """Gives the session back where it cannot be opened."""
    try:
        yield
    except BaseException:
        by.environment.forget(session_id)
        await by.release(by.environment, session_id)
        raise


async def _row(environment: Environment, name: str, folder: str) -> SessionRow | None:
    before: str | None = None
    for _ in range(MOST_PAGES):
        page = await environment.store.sessions.page(cwd=folder, before=before, limit=PAGE)
        known = (row for row in page.rows if row.settings.get(WRAPPED) == [row.id, name])
        if (row := next(known, None)) is not None:
            return row
        before = page.next
        if before is None:
            break
    return None


def _wrapped(
    environment: Environment, log: SessionLog, ownership: Ownership, agent: str
) -> WrappedSession:
    state = compose(environment, log, ownership)
    state.channel.reserve()
    state.tracking.opened(writes=True)
    return WrappedSession(Session(state, lambda _: None), state, agent)
