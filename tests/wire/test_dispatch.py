"""Requests of one connection: which are worked on, and which wait for their turn."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sidecar.core.parts import Json, JsonObject
from sidecar.wire import outbox
from sidecar.wire.client_requests import ClientFailed, ClientRequests
from sidecar.wire.dispatch import AT_ONCE, Dispatch, DispatchedWork, Ticket
from sidecar.wire.error_codes import CANCELLED
from sidecar.wire.framing import Arrived, Broken, DroppedMessage, Frame, Malformed
from sidecar.wire.outbox import Outbox

FULL = [str(number) for number in range(AT_ONCE)]
"""As many requests as are worked on."""


class Desk:
    """A face whose work ends when it is told to, and a connection to it."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.begun: list[str] = []
        self.ends: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.written: list[JsonObject] = []
        self.coming: list[str] = []
        """Requests that come while something is written."""
        self.outbox = Outbox(self._write, lambda _: None)
        self.outbox.framing = "lines"
        self.requests = ClientRequests(self.outbox)
        self.dispatch = Dispatch(self.requests, self.outbox, group, self)

    async def _write(self, data: bytes) -> None:
        self.written += [json.loads(line) for line in data.splitlines()]
        while self.coming:
            self._receive(self.coming.pop())

    def _receive(self, name: str) -> None:
        self.dispatch.receive(Arrived({"jsonrpc": "2.0", "id": name, "method": name}))

    async def come(self, *names: str) -> None:
        """Have requests come, each with its method for an id, and what can begin begins."""
        for name in names:
            self._receive(name)
        await self.settle()

    async def told(self, method: str, **params: Json) -> None:
        """Have a notification come."""
        self.dispatch.receive(Arrived({"jsonrpc": "2.0", "method": method, "params": params}))
        await self.settle()

    async def end(self, *names: str) -> None:
        """Let some end that have begun."""
        for name in names:
            self.ends[name].set()
        await self.settle()

    async def settle(self) -> None:
        """Let all happen that waits for nothing else."""
        for _ in range(10):
            await asyncio.sleep(0)

    def allow(self, method: str) -> None: ...

    def listens(self, _: str) -> bool:
        return True

    def work(self, method: str, _: Json, __: Ticket) -> DispatchedWork:
        async def run() -> Json:
            self.begun.append(method)
            await self.ends[method].wait()
            return method

        return run

    def answered(self, method: str) -> None: ...

    def explain(self, _: str, __: Exception) -> JsonObject | None:
        return None


@asynccontextmanager
async def at_work() -> AsyncIterator[Desk]:
    """Give a desk that works on as many requests as it does at once, while its answers are read."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        desk = Desk(group)
        writing = group.create_task(desk.outbox.run())
        await desk.come(*FULL)
        yield desk
        for task in (*desk.dispatch.under_way(), writing):
            task.cancel()


async def test_what_comes_while_many_are_worked_on_waits_in_its_order() -> None:
    async with at_work() as desk:
        await desk.come("a", "b", "c")
        assert desk.begun == FULL
        await desk.end("7", "3")
        assert desk.begun == [*FULL, "a", "b"]
        await desk.end("b")
        assert desk.begun == [*FULL, "a", "b", "c"]
        assert {message["id"] for message in desk.written} == {"7", "3", "b"}


async def test_prompts_the_end_and_what_needs_no_answer_wait_for_none() -> None:
    async with at_work() as desk:
        await desk.come("a", "session/prompt", "shutdown")
        await desk.told("session/cancel")
        assert desk.begun == [*FULL, "session/prompt", "shutdown", "session/cancel"]
        await desk.end("session/cancel")


async def test_one_that_waits_can_be_cancelled() -> None:
    async with at_work() as desk:
        await desk.come("a", "b")
        await desk.told("$/cancelRequest", id="a")
        (answer,) = desk.written
        error = answer["error"]
        assert isinstance(error, dict)
        assert (answer["id"], error["code"]) == ("a", CANCELLED)
        await desk.end("0")
        assert desk.begun == [*FULL, "b"]


async def test_none_begins_while_too_many_answers_are_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outbox, "MAX_ANSWER_BYTES", 1000)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        desk = Desk(group)
        desk.outbox.answer({"x": "x" * 1000})
        await desk.come("a", "b")
        assert desk.begun == []
        desk.coming.append("c")
        writing = group.create_task(desk.outbox.run())
        await desk.settle()
        assert desk.begun == ["a", "b", "c"]
        await desk.end("a", "b", "c")
        writing.cancel()


DEEP: Json = []
for _ in range(200):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("frame", "request_id"),
    [
        (Malformed("no JSON"), None),
        (Broken("no header"), None),
        (Arrived([{"id": 1, "method": "a"}]), None),
        (Arrived(3), None),
        (Arrived({}), None),
        (Arrived({"id": 7, "method": 8}), 7),
        (Arrived({"id": None, "method": "a"}), None),
        (Arrived({"id": 1.5, "method": "a"}), None),
        (Arrived({"id": True, "method": "a"}), None),
        (Arrived({"id": 7, "method": "a", "params": DEEP}), 7),
        (Arrived({"id": "0", "method": "a"}), "0"),
    ],
)
async def test_what_cannot_be_worked_on_gets_one_answer_and_ends_nothing(
    frame: Frame, request_id: Json
) -> None:
    async with at_work() as desk:
        desk.dispatch.receive(frame)
        await desk.settle()
        assert [(answer["id"], "error" in answer) for answer in desk.written] == [
            (request_id, True)
        ]
        await desk.end("0")
        assert desk.written[1:] == [{"jsonrpc": "2.0", "id": "0", "result": "0"}]


async def test_one_that_is_cancelled_before_its_first_step_gets_one_answer() -> None:
    async with at_work() as desk:
        for message in ({"id": "a", "method": "a"}, {"method": "$/cancelRequest"}):
            desk.dispatch.receive(Arrived({**message, "params": {"id": "a"}}))
        await desk.settle()
        assert [answer["id"] for answer in desk.written] == ["a"]
        assert "error" in desk.written[0]


async def test_it_settles_when_all_but_prompts_are_answered() -> None:
    async with at_work() as desk:
        await desk.come("a", "session/prompt")
        settling = asyncio.ensure_future(desk.dispatch.settle(20))
        await desk.end(*FULL)
        assert not settling.done()
        await desk.end("a")
        assert settling.done()
        await desk.come("b")
        await desk.dispatch.settle(0.01)
        assert "b" not in {message["id"] for message in desk.written}


async def test_who_waits_is_told_of_what_there_was_no_memory_for() -> None:
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        desk = Desk(group)
        writing = group.create_task(desk.outbox.run())
        asking = asyncio.create_task(desk.requests.request("tool/call", {}))
        await desk.settle()
        desk.dispatch.receive(DroppedMessage({"id": desk.written[-1]["id"], "result": None}))
        with pytest.raises(ClientFailed, match="not enough memory"):
            await asking
        for head in ({"id": 7, "method": "session/prompt", "params": None}, {}):
            desk.dispatch.receive(DroppedMessage(head))
        desk.dispatch.receive(DroppedMessage({"method": "textDocument/didOpen", "params": None}))
        await desk.settle()
        told = [(message["id"], "error" in message) for message in desk.written[1:]]
        assert told == [(7, True), (None, True)]
        writing.cancel()
