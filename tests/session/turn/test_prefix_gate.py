"""The gate before a cold prefix: who waits, for what, and who goes next."""

import asyncio
from dataclasses import replace

import pytest

from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import Static, ToolSpec
from sidecar.session.interface import PromptResult
from sidecar.session.lifecycle.session import Session
from sidecar.session.turn.prefix_gate import ColdGate, static_key
from tests.core.prompts import static, system
from tests.fakes.scripted_model import Hold, says, started, stop, text
from tests.polling import until
from tests.session import inside
from tests.session.conftest import LIMIT, Desk

LIFE = 300_000
STATIC = replace(static("Be brief."), tools=(ToolSpec("look", "Looks.", {}),), renderer=1)


class Requests:
    """Requests through one gate: each says when it is through, and begins or fails when told."""

    def __init__(self, group: asyncio.TaskGroup, limit: float = 10.0) -> None:
        self.time = 1_000
        self.gate = ColdGate(lambda: self.time, limit)
        self.through: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.verdicts: dict[str, asyncio.Future[bool]] = {}
        self._group = group
        self._changed = asyncio.Event()

    async def ask(self, name: str, key: str = "k") -> None:
        """Begin a request and let it come as far as it can."""
        self.verdicts[name] = asyncio.get_running_loop().create_future()
        self.tasks[name] = self._group.create_task(self._send(name, key))
        await settle()

    async def _send(self, name: str, key: str) -> None:
        async with self.gate.request(key, LIFE) as begun:
            self.through.append(name)
            self._changed.set()
            if await self.verdicts[name]:
                begun()
                self.verdicts[name] = asyncio.get_running_loop().create_future()
                await self.verdicts[name]

    async def begins(self, name: str) -> None:
        """Let the first event of a response come; the request goes on."""
        self.verdicts[name].set_result(True)
        await settle()

    async def fails(self, name: str) -> None:
        """End a request before its response begins."""
        self.verdicts[name].set_result(False)
        await settle()

    async def until_through(self, count: int) -> None:
        async with asyncio.timeout(10):
            while len(self.through) < count:
                self._changed.clear()
                await self._changed.wait()

    def end(self) -> None:
        for task in self.tasks.values():
            task.cancel()


async def settle() -> None:
    """Let every task run as far as it can without anything else happening."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_others_wait_for_the_first_event_and_no_longer() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        for name in "abc":
            await asked.ask(name)
        assert asked.through == ["a"]
        await asked.begins("a")
        assert asked.through == ["a", "b", "c"]
        await asked.ask("d")
        assert asked.through[-1] == "d"
        asked.end()


async def test_another_prefix_waits_for_nobody() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        await asked.ask("a")
        await asked.ask("b", key="other")
        assert asked.through == ["a", "b"]
        asked.end()


async def test_a_failure_lets_exactly_one_other_try() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        for name in "abcd":
            await asked.ask(name)
        await asked.fails("a")
        assert asked.through == ["a", "b"]
        await asked.fails("b")
        assert asked.through == ["a", "b", "c"]
        await asked.begins("c")
        assert asked.through == ["a", "b", "c", "d"]
        asked.end()


async def test_cancelling_the_first_lets_exactly_one_other_try() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        for name in "abc":
            await asked.ask(name)
        asked.tasks["a"].cancel()
        await settle()
        assert asked.through == ["a", "b"]
        asked.end()


async def test_a_waiter_is_cancelled_at_once_and_holds_nobody_up() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        for name in "abc":
            await asked.ask(name)
        asked.tasks["b"].cancel()
        await settle()
        assert asked.tasks["b"].cancelled()
        await asked.fails("a")
        assert asked.through == ["a", "c"]
        asked.end()


async def test_one_that_was_just_let_through_and_is_cancelled_lets_the_next_try() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        for name in "abc":
            await asked.ask(name)
        asked.verdicts["a"].set_result(False)
        asked.tasks["b"].cancel()
        await settle()
        assert asked.through == ["a", "c"]
        asked.end()


async def test_a_prefix_lives_from_the_start_of_the_request_that_used_it_last() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group)
        await asked.ask("a")
        asked.time += 60_000
        await asked.begins("a")
        asked.time += LIFE - 60_000
        await asked.ask("b")
        await asked.ask("c")
        assert asked.through == ["a", "b", "c"]
        await asked.begins("b")
        asked.time += LIFE + 1
        await asked.ask("d")
        await asked.ask("e")
        assert asked.through == ["a", "b", "c", "d"]
        asked.end()


async def test_nobody_waits_longer_than_the_limit() -> None:
    async with asyncio.TaskGroup() as group:
        asked = Requests(group, limit=0.02)
        await asked.ask("a")
        await asked.ask("b")
        assert asked.through == ["a"]
        await asked.until_through(2)
        await asked.begins("b")
        await asked.ask("c")
        assert asked.through == ["a", "b", "c"]
        asked.end()


@pytest.mark.parametrize(
    "other",
    [
        replace(STATIC, model="n"),
        replace(STATIC, tools=()),
        replace(STATIC, system=system("Be long.")),
    ],
)
def test_a_key_names_model_tools_and_system_text(other: Static) -> None:
    assert static_key(other) != static_key(STATIC)
    assert static_key(replace(STATIC, renderer=2)) == static_key(STATIC)


Asked = asyncio.Task[PromptResult]


async def send(group: asyncio.TaskGroup, desk: Desk, session: Session) -> Asked:
    """Send a prompt; it comes as far as the gate or, if that is open, to the model."""
    count = waiting(session) + len(desk.model.requests)
    task = group.create_task(desk.ask(session))
    await until(lambda: waiting(session) + len(desk.model.requests) != count)
    return task


def waiting(session: Session) -> int:
    return inside.environment(session).models.cold.waiting


async def test_sessions_with_one_prefix_write_it_once(desk: Desk) -> None:
    one, two = await desk.open(), await desk.open()
    hold = Hold()
    desk.script([hold, *says("first")], says("second"), says("third"))
    async with asyncio.TaskGroup() as group:
        await send(group, desk, one)
        later = await send(group, desk, two)
        assert (len(desk.model.requests), waiting(two)) == (1, 1)
        hold.released.set()
        assert (await later).stop_reason == "end_turn"
    third = await desk.open()
    await desk.ask(third)
    assert len(desk.model.requests) == 3


async def test_only_the_first_event_is_waited_for(desk: Desk) -> None:
    one, two = await desk.open(), await desk.open()
    hold = Hold()
    desk.script([started(), hold, *text("slowly"), stop()], says("second"))
    async with asyncio.TaskGroup() as group:
        first = await send(group, desk, one)
        assert (await desk.ask(two)).stop_reason == "end_turn"
        assert not first.done()
        hold.released.set()


async def test_another_system_text_is_another_prefix(desk: Desk) -> None:
    one, two = await desk.open(), await desk.open(system="You are a poet.")
    hold = Hold()
    desk.script([hold, *says("first")], says("second"))
    async with asyncio.TaskGroup() as group:
        await send(group, desk, one)
        assert (await desk.ask(two)).stop_reason == "end_turn"
        hold.released.set()


async def test_what_is_too_short_to_be_cached_is_not_waited_for(desk: Desk) -> None:
    given = {"system": "Be brief.", "builtin_tools": False}
    one, two = await desk.open(**given), await desk.open(**given)
    hold = Hold()
    desk.script([hold, *says("first")], says("second"))
    async with asyncio.TaskGroup() as group:
        await send(group, desk, one)
        assert (await desk.ask(two)).stop_reason == "end_turn"
        hold.released.set()


async def test_after_a_failed_request_exactly_one_other_is_sent(desk: Desk) -> None:
    sessions = [await desk.open() for _ in range(3)]
    failing, slow = Hold(), Hold()
    broken = ModelFailed("refused", kind="bad_request")
    desk.script([failing, broken], [slow, *says("second")], says("third"))
    async with asyncio.TaskGroup() as group:
        first = await send(group, desk, sessions[0])
        others = [await send(group, desk, session) for session in sessions[1:]]
        failing.released.set()
        assert (await first).stop_reason == "error"
        async with asyncio.timeout(LIMIT):
            await slow.reached.wait()
        assert (len(desk.model.requests), waiting(sessions[2])) == (2, 1)
        slow.released.set()
        assert {(await other).stop_reason for other in others} == {"end_turn"}


async def test_a_turn_that_waits_is_cancelled_at_once(desk: Desk) -> None:
    one, two = await desk.open(), await desk.open()
    hold = Hold()
    desk.script([hold, *says("first")])
    async with asyncio.TaskGroup() as group:
        await send(group, desk, one)
        later = await send(group, desk, two)
        two.prompts.cancel()
        assert (await later).stop_reason == "cancelled"
        assert len(desk.model.requests) == 1
        hold.released.set()
