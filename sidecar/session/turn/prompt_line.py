"""A session's queue of prompts."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import Cancelled, Overloaded
from sidecar.core.parts import Message, MessageId, Part, TextPart, TurnId
from sidecar.session.interface import PromptRequest, PromptResult
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.turn import TurnEnd

MOST_WAITING = 16


@dataclass(slots=True)
class Waiting:
    """An unfinished prompt; the `steered` joined its turn and share its result."""

    request: PromptRequest
    parts: tuple[Part, ...]
    result: "asyncio.Future[PromptResult]"
    cancelled: bool = False
    steered: list["asyncio.Future[PromptResult]"] = field(default_factory=list)

    def answer(self, result: PromptResult) -> None:
        for future in (self.result, *self.steered):
            if not future.done():
                future.set_result(result)

    def fail(self, error: Exception) -> None:
        for future in (self.result, *self.steered):
            if not future.done():
                future.set_exception(error)


def user_message(clock: Clock, turn_id: TurnId, parts: tuple[Part, ...]) -> Message:
    return Message(clock.message_id(), turn_id, "user", parts, clock.now())


class PromptLine:
    """Queues prompts; `next` awaits one, or `None` after `close`.

    `steering` holds messages for the next step; `turning` is held by a turn, or to keep turns away.
    """

    def __init__(self, clock: Clock) -> None:
        self.turning = asyncio.Lock()
        self.steering = deque[Message]()
        self._clock = clock
        self._inbox: asyncio.Queue[Waiting | None] = asyncio.Queue()
        self.next = self._inbox.get
        self._line: deque[Waiting] = deque()
        self._arriving: list[Waiting] = []
        self._running: Waiting | None = None
        self._joined: dict[MessageId | None, object] = {}
        self._turn_id: TurnId | None = None
        self._task: asyncio.Task[TurnEnd] | None = None
        self._cancelling = False
        self._closed = False

    @property
    def busy(self) -> bool:
        return self._running is not None or bool(self._line or self._arriving)

    @property
    def running(self) -> bool:
        return self._running is not None

    def asker(self, joined: MessageId | None = None) -> object:
        """Returns the window whose prompt runs, or whose message `joined` the turn."""
        if joined in self._joined:
            return self._joined[joined]
        return None if self._running is None else self._running.request.window

    @property
    def in_turn(self) -> bool:
        return self._task is not None

    def waiting(self) -> int:
        return len(self._line)

    # --- who prompts -------------------------------------------------------------------------

    @contextmanager
    def arriving(self, request: PromptRequest) -> Iterator[Waiting]:
        """Encloses a prompt's preparation, which can be cancelled."""
        result = asyncio.get_running_loop().create_future()
        waiting = Waiting(request, (), result, request.cancelled)
        self._arriving.append(waiting)
        try:
            yield waiting
        finally:
            self._arriving.remove(waiting)

    def enter(self, waiting: Waiting) -> None:
        """Joins the line or the running turn.

        Raises Overloaded if sixteen wait, Cancelled after `close`.
        """
        if self._closed:
            raise Cancelled("the session was closed: load it again")
        steers = waiting.request.steer and not waiting.cancelled
        if steers and self._running is not None and self._turn_id is not None:
            self._steer(
                self._turn_id,
                waiting.request.window,
                *(
                    replace(part, source="steer") if isinstance(part, TextPart) else part
                    for part in waiting.parts
                ),
            )
            self._running.steered.append(waiting.result)
        elif len(self._line) + (self._running is not None) > MOST_WAITING:
            raise Overloaded(
                f"{MOST_WAITING} prompts wait already in this session: "
                "send this one when one of them has ended"
            )
        else:
            self._line.append(waiting)
            self._inbox.put_nowait(waiting)

    def remind(self, words: str) -> None:
        if self._turn_id is not None:
            self._steer(self._turn_id, None, TextPart(self._clock.part_id(), words, "steer"))

    def _steer(self, turn_id: TurnId, window: object, *parts: Part) -> None:
        message = user_message(self._clock, turn_id, parts)
        self._joined[message.id] = window
        self.steering.append(message)

    def cancel(self) -> None:
        """Cancels all prompts; each keeps its message."""
        for waiting in (*self._arriving, *self._line):
            waiting.cancelled = True
        self._stop_turn()

    def cancel_prompt(self, ticket: object) -> None:
        for waiting in (*self._arriving, *self._line):
            waiting.cancelled = waiting.cancelled or waiting.request.ticket is ticket
        if self._running is not None and self._running.request.ticket is ticket:
            self._stop_turn()

    def _stop_turn(self) -> None:
        if self._running is None or self._cancelling:
            return
        self._cancelling = True
        if self._task is not None:
            self._task.cancel()

    # --- who runs the turns ------------------------------------------------------------------

    def close(self) -> None:
        self._closed = True
        self.cancel()
        self._inbox.put_nowait(None)

    def takes(self, waiting: Waiting) -> None:
        self._line.remove(waiting)
        self._running, self._cancelling = waiting, waiting.cancelled

    def begins(self) -> TurnId:
        self._turn_id = self._clock.turn_id()
        return self._turn_id

    def asks(self, task: "asyncio.Task[TurnEnd] | None") -> None:
        """Sets what a cancel stops; `None`: the turn takes no more messages."""
        self._task = task
        if task is None:
            self._turn_id = None
        elif self._cancelling:
            task.cancel()

    def ended(self) -> None:
        self._running, self._turn_id = None, None
        self._joined.clear()
