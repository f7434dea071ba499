"""Longer work, shown and cancellable."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sidecar.core.errors import Cancelled, innermost
from sidecar.core.parts import SessionId
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Progressed

T = TypeVar("T")

Token = str | int
"""Name of a piece of work on the wire: the client's own, or minted here."""


class Works:
    """Work under way, by token."""

    def __init__(self, session_id: SessionId, channel: Channel) -> None:
        self._session_id = session_id
        self._channel = channel
        self._under_way: dict[Token, Work] = {}
        self._number = 0

    @contextmanager
    def show(self, title: str, token: Token | None = None) -> Iterator["Work"]:
        """Mints any missing token."""
        self._number += 1
        ours = token is None
        name = f"{self._session_id} work {self._number}" if token is None else token
        work = Work(self._session_id, self._channel, name, ours=ours)
        self._under_way[name] = work
        work.tell("begin", title)
        try:
            yield work
        finally:
            del self._under_way[name]
            work.tell("end", work.outcome)

    def cancel(self, token: Token) -> bool:
        work = self._under_way.get(token)
        if work is not None:
            work.cancel()
        return work is not None


class Work:
    """Cancellable work; `outcome` is its final text."""

    def __init__(
        self, session_id: SessionId, channel: Channel, token: Token, *, ours: bool
    ) -> None:
        self._session_id = session_id
        self._channel = channel
        self._token = token
        self._ours = ours
        self._stop: Callable[[], object] | None = None
        self.outcome = ""
        self.cancelled = False

    def tell(self, kind: str, text: str, percentage: int | None = None) -> None:
        if self._channel.watchers:
            event = Progressed(self._session_id, self._token, kind, text, percentage, self._ours)
            self._channel.publish(event)

    def cancel(self) -> None:
        self.cancelled = True
        if self._stop is not None:
            self._stop()

    async def wait_for(self, doing: Coroutine[object, object, T]) -> T:
        """Does work. Raises Cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                task = group.create_task(doing)
                self._stop = task.cancel
                if self.cancelled:
                    task.cancel()
        except ExceptionGroup as failed:
            raise innermost(failed) from None
        finally:
            self._stop = None
        if task.cancelled():
            raise Cancelled("this was cancelled: nothing has changed")
        return task.result()
