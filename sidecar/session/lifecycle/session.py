"""A session: one inbox, one task, one log. Prompts wait in line; a turn can be cancelled.

Everything that changes the session runs on its task or between two of its awaits, so there is
never a lock to hold.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from sidecar.core.errors import Cancelled, Overloaded, RevisionConflict, innermost
from sidecar.core.parts import JsonObject, Message, MessageId, SessionId, TextPart, TurnId
from sidecar.core.prompt.meter import Meter
from sidecar.session.changes.change_summary import Differences
from sidecar.session.compaction import cache_options
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.session_params import check_fits, not_ours
from sidecar.session.history.part_reader import recall_from
from sidecar.session.history.turn_outcome import ended_event, record_end, result_of
from sidecar.session.interface import Opened, PromptRequest, PromptResult, Recalled
from sidecar.session.lifecycle import config_options
from sidecar.session.lifecycle.audience import Audience
from sidecar.session.lifecycle.context_actions import Rewriting
from sidecar.session.lifecycle.turn_setup import surroundings
from sidecar.session.lifecycle.turn_start import begin, user_message
from sidecar.session.log.content_blocks import parts_of
from sidecar.session.log.events import (
    EpochChanged,
    Event,
    MeterChanged,
    OptionsChanged,
    SessionChanged,
    TitleChanged,
)
from sidecar.session.log.notices import give_notice
from sidecar.session.log.part_updates import user_event
from sidecar.session.meter.gauge import read_meter
from sidecar.session.meter.idle_rewrite import Idle
from sidecar.session.meter.pings import Pings
from sidecar.session.rollback.going_back import Rollback
from sidecar.session.state import State
from sidecar.session.turn.prompt_queue import Waiting, answer, fail
from sidecar.session.turn.turn import Steering, TurnEnd, end_failed, make_whole, run_turn
from sidecar.session.turn.turn_context import TurnContext

logger = logging.getLogger("sidecar.session")

MOST_WAITING = 16
METER_EVERY = 0.25
"""Seconds between meters while text streams; what ends a step or changes a prefix goes at once."""


class Session:
    """An open session. All methods are called on the event loop."""

    def __init__(self, state: State, busy_changed: Callable[["Session"], None]) -> None:
        self._state = state
        self._busy_changed = busy_changed
        self._inbox: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.line: deque[Waiting] = deque()
        self._arriving: list[Waiting] = []
        self._running: Waiting | None = None
        self._turn_id: TurnId | None = None
        self._turn_task: asyncio.Task[TurnEnd] | None = None
        self._cancelling = False
        self._steering = Steering()
        self._metered = 0.0
        self.audience = Audience(state.channel, state.tracking)
        self._task: asyncio.Task[None] | None = None
        self.rewriting = Rewriting(state, self)
        self.differences = Differences(state.store)
        self.turning = asyncio.Lock()
        self.rollback = Rollback(
            state,
            self,
            self.audience.client,
            self.rewriting.gate,
            self.differences,
            self.rewriting.price,
        )
        self._idle = Idle(state, self.rewriting.idle)
        self._pings = Pings(state, self.rewriting.gate, lambda: self.rewritten(None, "ping"))

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self._state.log.row.id

    @property
    def state(self) -> State:
        """What the session is made of."""
        return self._state

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits."""
        return self._running is not None or bool(self.line)

    def opened(self) -> Opened:
        """Say how the session stands, as `session/new` and `session/load` answer."""
        row = self._state.log.row
        return Opened(
            row.id, row.revision, self._state.read_only, config_options.describe(self._state)
        )

    # --- what callers ask --------------------------------------------------------------------

    async def prompt(self, request: PromptRequest) -> PromptResult:
        """Run a turn, after those before it, or steer the running one.

        Raises:
            BadRequest: the prompt is empty, unusable or larger than the window by itself.
            RevisionConflict: the session moved on from `expected_revision`.
            Overloaded: sixteen prompts wait already.
            SessionOwned: another daemon writes this session.
        """
        waiting = Waiting(
            request, (), asyncio.get_running_loop().create_future(), request.cancelled
        )
        self._arriving.append(waiting)
        try:
            await self.writable(request.expected_revision)
            waiting.parts = parts_of(request.blocks, self._state.clock.part_id, "typed")
            await check_fits(self._state, waiting.parts)
            self._enter(waiting)
        finally:
            self._arriving.remove(waiting)
        return await waiting.result

    def _enter(self, waiting: Waiting) -> None:
        """Put a prompt in line, or into the running turn."""
        steers = waiting.request.steer and not waiting.cancelled
        if steers and self._running is not None and self._turn_id is not None:
            parts = tuple(
                replace(part, source="steer") if isinstance(part, TextPart) else part
                for part in waiting.parts
            )
            self._steering.add(user_message(self._state, self._turn_id, parts))
            self._running.steered.append(waiting.result)
        elif len(self.line) + (self._running is not None) > MOST_WAITING:
            raise Overloaded(
                f"{MOST_WAITING} prompts wait already in this session: "
                "send this one when one of them has ended"
            )
        else:
            self.line.append(waiting)
            self._inbox.put_nowait(waiting)

    def remind(self, words: str) -> None:
        """Tell the model something before the running turn's next step."""
        if self._turn_id is not None:
            part = TextPart(self._state.clock.part_id(), words, "steer")
            self._steering.add(user_message(self._state, self._turn_id, (part,)))

    def cancel(self) -> None:
        """Stop the running turn and those in line.

        Each keeps its message in the log and ends as cancelled, so that nothing typed is lost.
        """
        for waiting in (*self._arriving, *self.line):
            waiting.cancelled = True
        self._stop_turn()

    def cancel_prompt(self, ticket: object) -> None:
        """Stop just the prompt that came with this ticket, running or not."""
        for waiting in (*self._arriving, *self.line):
            waiting.cancelled = waiting.cancelled or waiting.request.ticket is ticket
        if self._running is not None and self._running.request.ticket is ticket:
            self._stop_turn()

    async def set_option(
        self, config_id: str, value: object, expected_revision: int | None = None
    ) -> tuple[JsonObject, ...]:
        """Change a config option; another model begins a new epoch at once, or after the turn."""
        await self.writable(expected_revision)
        config_options.change(self._state, config_id, value)
        await self._state.log.commit("option", {"configId": config_id})
        described = config_options.describe(self._state)
        self._tell(OptionsChanged(self.id, self._state.channel.next_seq(), described))
        await known_instructions.look(self._state)
        if self._running is None:
            await self._sync_epoch()
            cache_options.follow(self._state)
        self._changed("option")
        self._show_meter(urgent=True)
        return described

    def meter(self) -> Meter:
        """Measure the context as it would be sent now; a compaction's price only if it is known."""
        return read_meter(self._state, self.rewriting.price.known())

    def priced_meter(self) -> Meter:
        """Give the meter with what a compaction would cost now, which is planned if need be.

        A turn is not kept from its work by that.
        """
        if self._turn_task is None:
            self.rewriting.price.find()
        return self.meter()

    async def writable(self, expected_revision: int | None) -> None:
        """Raise unless this daemon may write the session, at this revision if one is given."""
        if self._state.read_only and not await self._state.take_over():
            raise not_ours(self._state)
        newest = self._state.log.row.revision
        if expected_revision not in (None, newest):
            raise RevisionConflict(
                f"the session is at revision {newest}, not {expected_revision}: load it again",
                revision=newest,
            )

    def rewritten(self, event: EpochChanged | None, cause: str) -> None:
        """Tell clients that the context is another now, with its meter, at once."""
        if event is not None:
            self._tell(event)
        self._changed(cause)
        self._show_meter(urgent=True)

    async def recall(
        self, part_id: str, offset: int, limit: int | None, pattern: str | None
    ) -> Recalled:
        """Read anything the session ever logged.

        Raises:
            BadRequest: there is no such part, or the pattern cannot be used.
        """
        return await recall_from(self._state, part_id, (offset, limit, pattern))

    # --- the session's task ------------------------------------------------------------------

    def start(self, group: asyncio.TaskGroup) -> None:
        """Begin the session's task, in the daemon's task group."""
        if not self._state.read_only:
            self._state.channel.reserve()
        self._task = group.create_task(self._run(group), name=f"session {self.id}")

    async def _run(self, group: asyncio.TaskGroup) -> None:
        """Take prompts from the inbox, one turn at a time, until `end`."""
        while (waiting := await self._next(group)) is not None:
            if waiting not in self.line:
                continue
            self.line.remove(waiting)
            self._running, self._cancelling = waiting, waiting.cancelled
            self._busy_changed(self)
            # In a task of its own: whatever a failed turn leaves behind in its task, such as a
            # count of cancellations, this one goes on. Who cancels this one cancels both.
            await asyncio.wait({group.create_task(self._answer(waiting), name=f"turn {self.id}")})
        if self._state.log.unwritten and not self._state.read_only:
            await self._state.log.write_aside()
        await self.rewriting.checkpoints.closing()

    async def _answer(self, waiting: Waiting) -> None:
        """Take a turn and tell whoever waits for it how it ended, or why it did not begin."""
        try:
            async with self.turning:
                answer(waiting, await self._turn(waiting))
        except Exception as error:  # noqa: BLE001 - each who waits gets it
            # What joined a turn that did not begin is refused with it.
            self._steering.take()
            fail(waiting, innermost(error))
        finally:
            fail(waiting, Cancelled("the daemon is stopping"))
            self._running, self._turn_id = None, None
            self._busy_changed(self)

    async def _next(self, group: asyncio.TaskGroup) -> Waiting | None:
        """Wait for the next prompt, and use the pause until then."""
        return await self._pings.until(self._idle.until(self._inbox.get(), group), group)

    async def end(self) -> None:
        """Stop what runs and take nothing more; the log is whole and durable afterwards."""
        self.cancel()
        self._inbox.put_nowait(None)

    async def ended(self) -> None:
        """Wait until the session's task has ended."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _turn(self, waiting: Waiting) -> PromptResult:
        """Take a turn; once it has begun, whatever goes wrong is told by how it ended."""
        state, untitled = self._state, not self._state.log.row.title
        await known_instructions.look(state)
        await epochs.follow_tools(state)
        await self._sync_epoch()
        cache_options.follow(state)
        self._turn_id = state.clock.turn_id()
        message = await begin(state, self._turn_id, waiting)
        if untitled and (title := state.log.row.title):
            self._tell(TitleChanged(self.id, state.channel.next_seq(), title))
        self._show_message(message)
        self._changed("turn_started")
        turn = self._turn_context(self._turn_id)
        end = await self._carry_out(turn, message.id)
        for late in self._steering.take():
            # The turn ended before another step could take it in: it is kept for the next.
            self._absorb(late)
        end = await record_end(state, turn.turn_id, end)
        self._changed("turn_ended")
        self._show_meter(urgent=True)
        state.tracking.turn_ended()
        await self.rewriting.checkpoints.turn_ended()
        await self.rewriting.fold()
        result = result_of(state, turn.turn_id, message.id, end, self.meter())
        self._tell(ended_event(state, result))
        return result

    async def _carry_out(self, turn: TurnContext, message_id: MessageId) -> TurnEnd:
        turn.tracking.turn_begins(message_id)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(turn.tracking.settle())
                self._turn_task = group.create_task(run_turn(turn, self._steering, self._absorb))
                if self._cancelling:
                    self._turn_task.cancel()
            # A cancel that arrives before the task's first step leaves it without a result.
            stopped = self._turn_task.cancelled()
            return TurnEnd("cancelled") if stopped else self._turn_task.result()
        except Exception as error:
            logger.exception("a turn of %s failed", self.id)
            return await end_failed(turn, innermost(error))
        finally:
            self._turn_task = None

    def _turn_context(self, turn_id: TurnId) -> TurnContext:
        about = self.rewriting, self.audience.client, self.recall, self._show_meter
        return surroundings(self._state, turn_id, *about)

    # --- pieces ------------------------------------------------------------------------------

    def _absorb(self, message: Message) -> None:
        """Log and show a steering message."""
        self._state.log.put(message)
        self._show_message(message)

    def _show_message(self, message: Message) -> None:
        for part in message.parts:
            event = user_event(self._state.channel, message, part)
            if event is not None:
                self._tell(event)

    def _stop_turn(self) -> None:
        if self._running is None or self._cancelling:
            return
        self._cancelling = True
        if self._turn_task is not None:
            self._turn_task.cancel()

    async def _sync_epoch(self) -> None:
        changed = await epochs.follow_model(self._state)
        if changed is not None:
            self._tell(changed)
            self._show_meter(urgent=True)

    def _changed(self, cause: str) -> None:
        self._tell(SessionChanged(self.id, self._state.log.row.revision, cause))

    def _show_meter(self, *, urgent: bool = False) -> None:
        """Show the meter to who watches; where it is `urgent`, the context has changed."""
        if not self._state.channel.watched:
            return
        if urgent or monotonic() - self._metered >= METER_EVERY:
            self._metered = monotonic()
            measured = self.priced_meter() if urgent else self.meter()
            self._tell(MeterChanged(self.id, measured, urgent))

    def _tell(self, event: Event) -> None:
        self._state.channel.publish(event)

    async def recover(self) -> None:
        """Make whole what a killed daemon left open; says so if there was anything."""
        before = self._state.log.row.revision
        # What is told of it next may be all that a client sees before the daemon is killed.
        self._state.channel.reserve()
        await self._state.log.reserved()
        await self._state.tracking.recover()
        await make_whole(self._turn_context(TurnId("")), "interrupted")
        if self._state.log.row.revision != before:
            text = (
                "The last turn was interrupted when the daemon stopped. What had arrived is kept."
            )
            give_notice(self._state.log, self._state.channel, "info", text)
