"""A session: one inbox, one task, one log.

Changes run on its task or between two of its awaits, so need no lock.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic

from sidecar.core.errors import Cancelled, innermost
from sidecar.core.parts import JsonObject, Message, MessageId, TurnId
from sidecar.core.prompt.meter import Meter
from sidecar.core.prompt.observation import TurnDone
from sidecar.session.compaction.session_handoff import with_digests
from sidecar.session.epochs.session_params import check_fits, check_stays
from sidecar.session.history.part_reader import recall_from
from sidecar.session.history.turn_outcome import ended_event, record_end, result_of
from sidecar.session.interface import Opened, PromptRequest, PromptResult, Recalled
from sidecar.session.lifecycle.assembly import (
    caveats_of,
    checkpoints_of,
    epochs_of,
    instructions_of,
    options_of,
    pings_of,
    read_again,
    replace_gone_policy,
    replay_of,
    rollback_of,
    starts_of,
)
from sidecar.session.lifecycle.audience import Audience
from sidecar.session.lifecycle.context_actions import Rewriting
from sidecar.session.lifecycle.session_title import rename
from sidecar.session.lifecycle.subtask import Delegating
from sidecar.session.lifecycle.turn_setup import SessionServers, turn_of
from sidecar.session.log.channel import give_notice, tell_damage
from sidecar.session.log.content_blocks import parts_of
from sidecar.session.log.events import (
    EpochChanged,
    MeterChanged,
    OptionsChanged,
    TitleChanged,
)
from sidecar.session.log.part_updates import user_event
from sidecar.session.log.session_log import require_revision
from sidecar.session.meter.idle_rewrite import Idle
from sidecar.session.meter.pause import PauseWork, logged, pause
from sidecar.session.read_state import cache_options_of, gauge_of
from sidecar.session.state import State
from sidecar.session.turn.prompt_line import PromptLine, Waiting
from sidecar.session.turn.turn import TurnEnd
from sidecar.session.turn.turn_log import TurnLog
from sidecar.store.format.log_records import OptionRecord
from sidecar.store.format.values import SessionRow
from sidecar.tools.access import look_around

logger = logging.getLogger("sidecar.session")

ANSWER_FIRST = 0.01
"""Seconds for a turn's answer to go out, unless another prompt waits."""
METER_EVERY = 0.25
"""Seconds between meters while text streams; the end of a step or a changed prefix is sent at
once."""
METER_SHARE = 20
"""Times as long as a meter took until the next: of a huge answer it takes a second to count."""


class Session:
    """An open session. Call all methods on the event loop."""

    def __init__(self, state: State, busy_changed: Callable[["Session"], None]) -> None:
        self._state = state
        self.id = state.log.row.id
        self.environment = state.environment
        self._busy_changed = busy_changed
        self.prompts = PromptLine(state.clock)
        self._metered_from = 0.0
        self._is_green = False
        self._tell = state.channel.publish
        self._turn_log = TurnLog(state.log, state.channel, state.clock, self._show_meter)
        self.audience = Audience(
            state.channel,
            state.tracking,
            state.ownership,
            state.environment,
            self.prompts.asker,
        )
        self._task: asyncio.Task[None] | None = None
        self._instructions = instructions_of(state)
        self.starts = starts_of(state, self._instructions)
        self._epochs = epochs_of(state, self._instructions)
        self._caching = cache_options_of(state)
        self.caveats = caveats_of(state)
        self._options = options_of(state, self.caveats)
        self.replay = replay_of(state)
        self.servers = SessionServers(state.environment, state.trust, state.log.row.id)
        self.permissions = state.permissions
        self.notify = partial(give_notice, state.log, state.channel)
        self.rename = partial(rename, state.log, state.channel, self.writable)
        self.delegating = Delegating(state.tracking)
        self._gauge = gauge_of(state)
        self.rewriting = Rewriting(state, self, self.starts, self._gauge)
        self.checkpoints = checkpoints_of(state)
        self.rollback = rollback_of(
            state,
            self.checkpoints,
            self,
            self.prompts,
            self.rewriting.price,
            self.rewriting.gate,
        )
        self._idle = Idle(state.log, state.clock, self.rewriting.idle)
        self._pings = pings_of(state, self.rewriting.gate, lambda: self.rewritten(None, "ping"))
        self._taking_over = asyncio.Lock()

    @property
    def row(self) -> SessionRow:
        return self._state.log.row

    @property
    def waits(self) -> bool:
        """Whether the turn goes on only once somebody answers."""
        calls = self.permissions.calls
        return calls["waiting"] > 0 and not calls["working"]

    def opened(self) -> Opened:
        state, row = self._state, self._state.log.row
        described = self._options.described()
        return Opened(row.id, row.revision, state.ownership.read_only, described)

    # --- requests of callers -----------------------------------------------------------------

    async def prompt(
        self, request: PromptRequest, arrived: asyncio.Event | None = None
    ) -> PromptResult:
        """Runs a turn in line, or steers the running turn.

        `arrived` is set once the turn needs no caller. Raises BadRequest for an empty, unusable or
        too large prompt, RevisionConflict, Overloaded if sixteen prompts wait, SessionOwned.
        """
        try:
            with self.prompts.arriving(request) as waiting:
                await self.writable(request.expected_revision)
                typed = parts_of(request.blocks, self._state.clock.part_id, "typed")
                waiting.parts = await with_digests(typed, self._state.store, self._state.clock)
                await check_fits(self._gauge, self._state.settings, waiting.parts)
                self.prompts.enter(waiting)
        finally:
            # A turn that ended meanwhile left the daemon busy with this prompt.
            self._busy_changed(self)
        if arrived is not None:
            arrived.set()
        return await waiting.result

    async def set_option(
        self, config_id: str, value: object, expected_revision: int | None = None
    ) -> tuple[JsonObject, ...]:
        """Changes an option; gives all as they are once a model's epoch began, now or later."""
        await self.writable(expected_revision)
        self._options.change(config_id, value)
        await self._state.log.writer.commit(OptionRecord(config_id=config_id))
        described = self._options.described()
        self._tell(OptionsChanged(self.id, self._state.channel.next_seq(), described))
        await self._instructions.look()
        if not self.prompts.running:
            await self._sync_epoch()
            self._caching.follow()
        self._turn_log.announce("option")
        self._show_meter(urgent=True)
        return self._options.described()

    def meter(self) -> Meter:
        return self._gauge.read(self.rewriting.price.known())

    def priced_meter(self) -> Meter:
        """Includes a compaction's price, planned outside a turn."""
        if not self.prompts.in_turn:
            self.rewriting.price.find()
        return self.meter()

    async def writable(self, expected_revision: int | None) -> None:
        """Makes this daemon the writer. Raises SessionOwned, RevisionConflict."""
        async with self._taking_over:
            if self._state.ownership.read_only and not await self._take_over():
                raise self._state.ownership.refusal()
        require_revision(self._state.log, expected_revision, "load it again")

    def rewritten(self, event: EpochChanged | None, cause: str) -> None:
        if event is not None:
            self._tell(event)
        self._turn_log.announce(cause)
        self._show_meter(urgent=True)
        if cause != "ping":
            # What is done after turns, such as a sync, follows a rewrite between them, too.
            self._busy_changed(self)

    async def recall(
        self, part_id: str, offset: int, limit: int | None, pattern: str | None
    ) -> Recalled:
        state = self._state
        return await recall_from(
            state.log, state.views, state.store.outputs, part_id, (offset, limit, pattern)
        )

    # --- the session's task ------------------------------------------------------------------

    def start(self, group: asyncio.TaskGroup) -> None:
        if not self._state.ownership.read_only:
            self._state.channel.reserve()
        self._instructions.follow(self._instructions_changed)
        self._task = group.create_task(self._run(group), name=f"session {self.id}")

    async def _run(self, group: asyncio.TaskGroup) -> None:
        works: tuple[PauseWork, ...] = (self._look_around, self._idle.work, self._pings.work)
        while (waiting := await pause(self.prompts.next(), group, *works)) is not None:
            works = (self._tell_price, self._idle.work, self._pings.work)
            self.prompts.takes(waiting)
            self._busy_changed(self)
            # A turn has its own task: leftovers of a failed turn, such as a count of
            # cancellations, do not touch this task. A cancel of this task cancels both.
            await asyncio.wait({group.create_task(self._answer(waiting), name=f"turn {self.id}")})
            if not self.prompts.busy:
                # The answer goes out before the turn's outcome takes the interpreter.
                await asyncio.sleep(ANSWER_FIRST)
            await logged(self._conclude)
        if self._state.log.writer.unwritten and not self._state.ownership.read_only:
            await self._state.log.writer.write_aside()
        await self.rewriting.checkpoints.at("close")

    async def _answer(self, waiting: Waiting) -> None:
        try:
            async with self.prompts.turning:
                waiting.answer(await self._turn(waiting))
        except Exception as error:  # noqa: BLE001 - each who waits gets it
            # Messages steering a turn that did not begin are refused too.
            self.prompts.steering.clear()
            waiting.fail(innermost(error))
        except asyncio.CancelledError:
            waiting.fail(Cancelled("the daemon is stopping"))
            raise
        finally:
            self.prompts.ended()
            self._busy_changed(self)

    async def _conclude(self) -> None:
        self._state.tracking.turn_ended()
        await self.rewriting.checkpoints.at("turn")
        await self.rewriting.keep()

    async def end(self) -> None:
        """Stops turn and inbox; the log is whole and durable after `ended`."""
        self.prompts.close()

    async def ended(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _turn(self, waiting: Waiting) -> PromptResult:
        """Runs a turn; errors after its beginning become its end."""
        state, untitled = self._state, not self._state.log.row.title
        await check_stays(state.log.row.cwd)
        await self._instructions.look()
        await self._epochs.follow_tools()
        await self._sync_epoch()
        turn_id = self.prompts.begins()
        message = await self.starts.begin(turn_id, waiting)
        if untitled and (title := state.log.row.title):
            self._tell(TitleChanged(self.id, state.channel.next_seq(), title))
        self._show_message(message)
        self._turn_log.announce("turn_started")
        end = await self._carry_out(turn_id, message.id)
        while self.prompts.steering:
            # The turn ended before another step: the message is logged for the next turn.
            self._absorb(self.prompts.steering.popleft())
        end = await record_end(state.log, state.views, turn_id, end)
        self._turn_log.announce("turn_ended")
        meter = self.meter()
        if state.channel.watchers:
            self._tell_meter(meter)
        result = result_of(state.log, turn_id, message.id, end, meter)
        done = TurnDone(self.id, turn_id, state.clock.now(), result.stop_reason, result.meter)
        state.environment.observe(done)
        self._tell(ended_event(self.id, state.channel.next_seq(), result))
        return result

    async def _carry_out(self, turn_id: TurnId, message_id: MessageId) -> TurnEnd:
        state, rewriting, client = self._state, self.rewriting, self.audience.everyone
        turn = turn_of(
            state,
            turn_id,
            rewriting,
            client,
            self.recall,
            self._turn_log,
            self.delegating,
            self._caching,
        )
        state.tracking.turn_begins(message_id)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(state.tracking.settle())
                steering = self.prompts.steering
                running = group.create_task(turn.run(steering, self._absorb))
                self.prompts.asks(running)
            # A cancel before the task's first step leaves no result.
            return TurnEnd("cancelled") if running.cancelled() else running.result()
        except Exception as error:
            logger.exception("a turn of %s failed", self.id)
            return await turn.fail(innermost(error))
        finally:
            self.prompts.asks(None)

    # --- pieces ------------------------------------------------------------------------------

    def _absorb(self, message: Message) -> None:
        self._state.log.writer.put(message)
        self._show_message(message)

    def _show_message(self, message: Message) -> None:
        author = self.prompts.asker(message.id)
        for part in message.parts:
            event = user_event(self._state.channel, message, part, author)
            if event is not None:
                self._tell(event)

    async def _sync_epoch(self) -> None:
        changed = await self._epochs.follow_model()
        if changed is not None:
            self._tell(changed)
            self._show_meter(urgent=True)

    def _instructions_changed(self, paths: str) -> None:
        state = self._state
        if not state.ownership.read_only and state.channel.watchers:
            text = f"Instructions changed: {paths}. The model is told with your next message."
            give_notice(state.log, state.channel, "info", text)

    def _show_meter(self, *, urgent: bool = False) -> None:
        """Shows the meter, at once only if `urgent`."""
        if not self._state.channel.watchers:
            return
        if urgent:
            self._tell_meter(self.meter() if self._is_green else self.priced_meter())
        elif (begun := monotonic()) >= self._metered_from:
            self._tell_meter(self.meter(), urgent=False)
            self._metered_from += METER_SHARE * (monotonic() - begun)

    def _tell_meter(self, meter: Meter, *, urgent: bool = True) -> None:
        self._metered_from = monotonic() + METER_EVERY
        self._is_green = meter.zone == "green"
        self._tell(MeterChanged(self.id, meter, urgent))

    async def _tell_price(self) -> None:
        if self._is_green or not self._state.channel.watchers:
            return
        if await self.rewriting.find_price():
            self._tell_meter(self.meter())

    async def _look_around(self) -> None:
        """Reads the workspace ahead, for a quick first edit."""
        state = self._state
        variables = state.environment.workspaces.variables
        await asyncio.to_thread(look_around, Path(state.log.row.cwd), variables)

    async def refresh(self) -> None:
        """Takes over from a stopped daemon, or reads what another wrote."""
        async with self._taking_over:
            if self._state.ownership.read_only and not await self._take_over():
                await read_again(self._state)

    async def _take_over(self) -> bool:
        """Tries to become the writer. Hold `_taking_over`: a second reading undoes news."""
        state = self._state
        if not await state.ownership.claim():
            return False
        problems = await read_again(state, writes=True)
        state.ownership.take()
        state.channel.skip_to(state.log.row.seq)
        tell_damage(state.log, state.channel, problems)
        replace_gone_policy(state)
        await self.recover()
        return True

    async def recover(self) -> None:
        """Completes a turn that a killed daemon left open."""
        before = self._state.log.row.revision
        # The next event may be the last that a client sees before the daemon is killed.
        self._state.channel.reserve()
        await self._state.log.entry.reserved()
        await self._state.tracking.recover()
        await self._turn_log.make_whole("interrupted")
        if self._state.log.row.revision != before:
            text = (
                "The last turn was interrupted when the daemon stopped. What had arrived is kept."
            )
            give_notice(self._state.log, self._state.channel, "info", text)
