"""What clients are told of the log is on the disk by then: no kill takes it back."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Json
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.interface import PromptResult
from sidecar.session.log.events import (
    Event,
    OptionsChanged,
    Retrying,
    SessionChanged,
    ToolChanged,
    TurnEnded,
)
from sidecar.store.format.values import AppendRecord, Record, StoreChange
from tests.core.prompts import texts
from tests.fakes.scripted_model import Hold, Script, calls, says, started, text
from tests.session.conftest import Desk, World, prompt_of

TOOLS = (ToolSpec("one", "one", {"type": "object"}, "read", origin="client"),)


class SlowDisk:
    """A desk's store whose units are long under way; keeps what is told of them too early."""

    def __init__(self, desk: Desk) -> None:
        self._write, self._watch = desk.store.write, desk.watch
        self.durable: list[Record] = []
        self.early: list[Event] = []
        self.told: list[Event] = []
        desk.store.write = self._late  # type: ignore[method-assign]
        desk.watch = self._see  # type: ignore[method-assign]

    def _late(self, *changes: StoreChange, **given: Any) -> "asyncio.Future[None]":
        written = self._write(*changes, **given)

        async def wait() -> None:
            await asyncio.shield(written)
            for _ in range(50):
                await asyncio.sleep(0)
            self.durable += [c.record for c in changes if isinstance(c, AppendRecord)]

        return asyncio.ensure_future(wait())

    def _see(self, event: Event) -> None:
        self.told.append(event)
        if not self._stands(event):
            self.early.append(event)
        self._watch(event)

    def _stands(self, event: Event) -> bool:
        match event:
            case SessionChanged(revision=revision):
                return self.revision >= revision
            case ToolChanged(status="completed" | "failed", origin=origin):
                return any(
                    record.body.get("partId") == origin.part_id
                    or origin.message_id in named(record.body.get("messageIds"))
                    for record in self.durable
                )
            case Retrying():
                return any(record.kind == "discarded" for record in self.durable)
            case TurnEnded():
                return self.durable[-1].kind == "turn_ended"
            case OptionsChanged():
                return self.durable[-1].kind == "option"
            case _:
                return True

    @property
    def revision(self) -> int:
        return max((record.revision for record in self.durable), default=0)

    def of(self, kind: type) -> Iterator[Event]:
        return (event for event in self.told if isinstance(event, kind))


def named(found: Json) -> list[Json]:
    return found if isinstance(found, list) else []


def fails(given: Json) -> Json:
    return {"content": [{"type": "text", "text": "no such thing"}], "isError": True}


@pytest.mark.parametrize(
    ("tool", "answer"), [("one", lambda given: "result"), ("one", fails), ("another", fails)]
)
async def test_how_a_call_ended_is_shown_once_it_is_durable(
    world: World, tool: str, answer: Callable[[Json], Json]
) -> None:
    async with world.daemon() as desk:
        disk = SlowDisk(desk)
        session = await desk.open(tools=TOOLS)
        desk.editor.tools["one"] = answer
        desk.script(calls(("c", tool, {})), says("done"))
        result = await desk.ask(session)
        assert disk.revision >= result.revision
        assert [e.status for e in disk.of(ToolChanged) if is_end(e)] != []  # type: ignore[attr-defined]
        assert disk.early == []


def is_end(event: Event) -> bool:
    return isinstance(event, ToolChanged) and event.status in ("completed", "failed")


async def test_how_a_call_was_cut_short_is_shown_once_it_is_durable(world: World) -> None:
    async with world.daemon() as desk:
        disk = SlowDisk(desk)
        session = await desk.open(tools=TOOLS)
        begun = asyncio.Event()

        async def forever(given: Json) -> Json:
            begun.set()
            await asyncio.Event().wait()

        desk.editor.tools["one"] = forever
        desk.script(calls(("c", "one", {})))
        running = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(10):
            await begun.wait()
            session.prompts.cancel()
            assert (await running).stop_reason == "cancelled"
        assert any(map(is_end, disk.told))
        assert disk.early == []


FAILED: list[Script] = [
    [started(), *text("some"), ModelFailed("gone", kind="server")],
    [started(), AttemptFailed(1, 3, 10, "busy", "overloaded", 529), *says("well")],
]


@pytest.mark.parametrize("script", FAILED)
async def test_what_became_of_an_answer_is_told_once_it_is_durable(
    world: World, script: Script
) -> None:
    async with world.daemon() as desk:
        disk = SlowDisk(desk)
        session = await desk.open()
        desk.script(script)
        result = await desk.ask(session)
        assert disk.revision >= result.revision
        assert any(disk.of(TurnEnded))
        assert disk.early == []


async def test_what_is_said_meanwhile_is_durable_before_the_model_reads_it(world: World) -> None:
    async with world.daemon() as desk:
        disk = SlowDisk(desk)
        session = await desk.open(tools=TOOLS)
        desk.editor.tools["one"] = lambda given: "result"
        hold = Hold()
        desk.script([*calls(("c", "one", {}))[:-1], hold, calls(("c", "one", {}))[-1]], says("ok"))
        running = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(10):
            await hold.reached.wait()
            steering = asyncio.ensure_future(session.prompt(prompt_of("left", steer=True)))
            await asyncio.sleep(0)
            known: list[bool] = []
            desk.model.observe = lambda _: known.append(
                any(record.kind == "steered" for record in disk.durable)
            )
            hold.released.set()
            await asyncio.gather(running, steering)
        assert known == [True]


async def test_what_comes_while_the_turns_end_is_stored_is_a_turn_of_its_own(
    desk: Desk,
) -> None:
    """Else it is answered with that turn's result, and logged only in the next."""
    session, write, late = await desk.open(), desk.store.write, list[asyncio.Task[PromptResult]]()

    def follow(*changes: StoreChange, **given: Any) -> "asyncio.Future[None]":
        if any(isinstance(c, AppendRecord) and c.record.kind == "turn_ended" for c in changes):
            asked = session.prompt(prompt_of("also this", steer=True))
            late.append(asyncio.ensure_future(asked))
            desk.store.write = write  # type: ignore[method-assign]
        return write(*changes, **given)

    desk.store.write = follow  # type: ignore[method-assign]
    desk.script(says("first"), says("second"))
    first = await desk.ask(session)
    async with asyncio.timeout(10):
        second = await late[0]
    assert first.turn_id != second.turn_id
    assert "also this" in texts(desk.prompts()[1])


async def test_an_option_is_answered_once_it_is_durable(world: World) -> None:
    async with world.daemon() as desk:
        disk = SlowDisk(desk)
        session = await desk.open()
        await session.set_option("model", "other")
        assert any(disk.of(OptionsChanged))
        assert disk.early == []
