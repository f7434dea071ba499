"""What is there again after a daemon was killed, and who may write."""

import asyncio
from typing import Any

import pytest

from sidecar.core.errors import SessionOwned, StorageFailed, UnknownSession
from sidecar.core.parts import (
    Message,
    MessageId,
    PartId,
    SessionId,
    TextPart,
    ToolError,
    ToolPart,
    ToolRunning,
    TurnId,
)
from sidecar.core.prompt.prompt import ToolSpec, flat
from sidecar.session.log.channel import BLOCK, Channel
from sidecar.session.log.events import Event, Notice, TextChunk, ToolChanged, TurnEnded
from sidecar.store.format.values import PutSession, StoreChange
from sidecar.store.format.view_records import PinRecord
from tests.fakes.scripted_model import Hold, calls, says, started, stop, text, thought
from tests.session import inside
from tests.session.conftest import Desk, World, prompt_of
from tests.session.logged import as_stored

TOOLS = (ToolSpec("one", "one", {"type": "object"}, "read", origin="client"),)


async def load(desk: Desk, session_id: str, **given: object) -> list[Event]:
    shown: list[Event] = []

    async def emit(event: Event) -> None:
        shown.append(event)

    await desk.sessions.load(
        SessionId(session_id),
        desk.editor,  # type: ignore[arg-type]
        desk.watch,
        replay=True,
        after=given.get("after"),  # type: ignore[arg-type]
        emit=emit,
    )
    return shown


async def test_no_number_is_told_before_it_is_reserved_on_disk(world: World) -> None:
    """Else a daemon that is killed while it shows a session has its numbers used again."""
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("ok"))
        await desk.ask(session)
    async with world.daemon() as again:
        write, reserved = again.store.write, list[asyncio.Future[None]]()

        def follow(*changes: StoreChange, **given: Any) -> asyncio.Future[None]:
            written = write(*changes, **given)
            if isinstance(changes[0], PutSession) and len(changes) == 1:
                reserved.append(written)
            return written

        async def emit(event: Event) -> None:
            del event
            assert reserved
            assert all(one.done() for one in reserved)

        again.store.write = follow  # type: ignore[method-assign]
        given = (session.id, again.editor, again.watch)
        await again.sessions.load(*given, replay=True, after=None, emit=emit)  # type: ignore[arg-type]
        assert again.events == []


async def test_who_only_read_reserves_anew_when_it_writes() -> None:
    reserved: list[int] = []
    channel = Channel(SessionId("ses_1"), 0, reserved.append)
    channel.reserve()
    # Another daemon wrote meanwhile; what was counted on here stands on no disk.
    channel.skip_to(3_000)
    assert channel.next_seq() == 3_001
    assert reserved == [BLOCK, 3_001 + BLOCK]


def story(events: list[Event]) -> list[tuple[str, str]]:
    told: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, TextChunk):
            told.setdefault(event.origin.part_id, [event.speaker, ""])[1] += event.text
        elif isinstance(event, ToolChanged) and event.status in ("completed", "failed"):
            told[event.origin.part_id] = ["tool", f"{event.call_id} {event.output}"]
    return [(kind, words) for kind, words in told.values()]


async def test_everything_is_there_again(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open(tools=TOOLS, system="Be brief.")
        desk.editor.tools["one"] = lambda given: "result " * 400
        desk.script(
            [started(), *thought("hm"), *calls(("c", "one", {"_x": 1}), words="ok")[1:]], says("ok")
        )
        result = await desk.ask(session)
        before, seqs = story(desk.events), [e.origin.seq for e in desk.of(TextChunk)]
        sent = desk.prompts()[-1]
        meter = session.meter()
    async with world.daemon() as again:
        shown = await load(again, session.id)
        assert story(shown) == before
        assert min(e.origin.seq for e in shown if isinstance(e, TextChunk)) > max(seqs)
        opened = await again.sessions.get(session.id)
        assert opened.opened().revision >= result.revision
        assert opened.meter().used == meter.used
        assert opened.meter().regions == meter.regions
        again.script(says("more"))
        await again.ask(opened, "more")
        now = again.prompts()[0]
        assert (now.tools, now.system) == (sent.tools, sent.system)
        assert flat(now)[: len(flat(sent))] == flat(sent)
        listed, _ = await again.sessions.list(None, None, 10)
        assert [(s.session_id, s.turns, s.title) for s in listed] == [(session.id, 2, "go")]


@pytest.mark.parametrize("step", range(8))
async def test_what_was_shown_is_there_wherever_a_turn_was_killed(world: World, step: int) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open(tools=TOOLS)
        hold = Hold()
        desk.editor.tools["one"] = lambda given: "result"
        first = [started(), *text("some words"), *calls(("c", "one", {}))[1:]]
        second = [started(), *text("the end"), stop()]
        script = [first, second]
        which = 0 if step < 5 else 1
        script[which] = [*script[which][: step % 5 + 1], hold, *script[which][step % 5 + 1 :]]
        desk.script(*script)
        running = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(10):
            await hold.reached.wait()
        acknowledged = [e for e in desk.of(ToolChanged) if e.status == "completed"]
    running.cancel()
    async with world.daemon() as again:
        shown = await load(again, session.id)
        done = [e.call_id for e in shown if isinstance(e, ToolChanged) and e.status == "completed"]
        assert done == [e.call_id for e in acknowledged]
        assert ("user", "go") in story(shown)
        opened = await again.sessions.get(session.id)
        again.script(says("after"))
        assert (await again.ask(opened, "next")).stop_reason == "end_turn"


async def test_a_tool_that_was_running_is_told_as_interrupted(world: World) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open(tools=TOOLS)
        reached = asyncio.Event()

        async def forever(given: object) -> str:
            reached.set()
            await asyncio.Event().wait()
            return ""

        desk.editor.tools["one"] = forever
        desk.script(calls(("c", "one", {})))
        running = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(10):
            await reached.wait()
    running.cancel()
    async with world.daemon() as again:
        await load(again, session.id)
        opened = await again.sessions.get(session.id)
        (tool,) = [p for m in again.messages(opened) for p in m.parts if isinstance(p, ToolPart)]
        assert isinstance(tool.state, ToolError)
        assert tool.state.failure == "interrupted"


async def test_a_call_that_a_killed_daemon_left_is_told_with_the_turn_it_was_of(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    call = ToolPart(PartId("p"), "c", "one", {}, ToolRunning(1))
    left = Message(MessageId("m"), TurnId("before"), "assistant", (call,), 1, "open")
    inside.log(session).writer.put(left)
    await session.recover()
    (told,) = desk.of(ToolChanged)
    assert (told.call_id, told.status, told.origin.turn_id) == ("c", "failed", "before")


async def test_streaming_text_is_saved_while_it_streams(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        hold = Hold()
        desk.script([started(), *text("halfway"), hold, stop()])
        running = asyncio.ensure_future(session.prompt(prompt_of("go")))
        async with asyncio.timeout(10):
            await hold.reached.wait()
            part = desk.of(TextChunk)[-1].origin.part_id
            stored = None
            while not isinstance(stored, TextPart) or stored.text != "halfway":
                await asyncio.sleep(0.02)
                stored = await desk.store.logs.part(session.id, PartId(part))
            hold.released.set()
            await running


async def test_catching_up_after_a_part(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("one"), says("two"))
        await desk.ask(session, "a")
        last = desk.of(TextChunk)[-1].origin.part_id
        await desk.ask(session, "b")
        shown = await load(desk, session.id, after=last)
        assert story(shown) == [("user", "b"), ("agent", "two")]


async def test_of_two_daemons_one_writes_a_session(world: World) -> None:
    async with world.daemon(name="first") as desk, world.daemon(name="second") as other:
        session = await desk.open()
        desk.script(says("hello"))
        await desk.ask(session)
        opened = await other.sessions.load(
            session.id,
            other.editor,  # type: ignore[arg-type]
            other.watch,
            replay=False,
            after=None,
            emit=_nothing,
        )
        assert opened.read_only
        copy = await other.sessions.get(session.id)
        with pytest.raises(SessionOwned):
            await other.ask(copy)
        row = (await other.store.logs.load(session.id)).session
        assert row.revision == session.opened().revision
        await desk.sessions.close(session.id)
        other.script(says("mine now"))
        assert (await other.ask(copy, "take over")).stop_reason == "end_turn"


async def test_of_two_prompts_at_once_one_takes_over_for_both(world: World) -> None:
    """Else the second reads the log anew over what the first has logged by then."""
    async with world.daemon(name="second") as other:
        async with world.daemon(name="first") as desk:
            session = await desk.open(tools=TOOLS)
            desk.script(says("hello"))
            await desk.ask(session)
            await load(other, session.id)
            copy = await other.sessions.get(session.id)
            call = ToolPart(PartId("p"), "c", "one", {}, ToolRunning(1))
            left = Message(MessageId("m"), TurnId("left"), "assistant", (call,), 1, "open")
            inside.log(session).writer.put(left)
            await inside.log(session).writer.commit(PinRecord(part_id=call.id, pinned=True))
            await desk.sessions.close(session.id)
        other.script(says("one"), says("two"))
        await asyncio.gather(other.ask(copy, "a"), other.ask(copy, "b"))
        (told,) = [notice.text for notice in other.of(Notice)]
        assert "was interrupted" in told


async def _nothing(event: Event) -> None: ...


class Failing:
    """A store whose writes fail from a number on, while `full`."""

    def __init__(self, desk: Desk, after: int) -> None:
        self.left, self.full = after, True
        self._write = desk.store.write
        desk.store.write = self  # type: ignore[method-assign,assignment]

    def __call__(self, *changes: StoreChange, **given: Any) -> "asyncio.Future[None]":
        self.left -= 1
        if self.left >= 0 or not self.full:
            return self._write(*changes, **given)
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        refused.set_exception(StorageFailed("The disk is full. Free some space.", kind="full"))
        return refused


async def test_a_prompt_that_cannot_be_stored_is_as_if_it_had_not_been_sent(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        heard: list[Any] = []
        inside.log(session).writer.durable = heard.append
        store = Failing(desk, 0)
        for _ in range(3):
            inside.log(session).writer.note(PinRecord(part_id=PartId("p"), pinned=True))
            with pytest.raises(StorageFailed, match="full"):
                await desk.ask(session, "while full")
        assert not session.prompts.busy
        assert inside.row(session).turns == 0
        assert inside.row(session).title == ""
        store.full = False
        desk.script(says("after"))
        assert (await desk.ask(session, "when free")).stop_reason == "end_turn"
        stored = await desk.store.logs.load(session.id)
    assert [r.kind for r in stored.records].count("turn_started") == 1
    typed = [p.text for m in stored.messages for p in m.parts if isinstance(p, TextPart)]
    assert "while full" not in typed
    assert (stored.session.title, stored.session.turns) == ("when free", 1)
    assert as_stored(*heard) == [
        r for r in stored.records if r.kind in ("turn_started", "turn_ended", "step")
    ]


@pytest.mark.parametrize("after", range(1, 6))
async def test_the_disk_fills_in_a_turn(world: World, after: int) -> None:
    async with world.daemon(kill=True) as desk:
        session = await desk.open(tools=TOOLS)
        desk.editor.tools["one"] = lambda given: "result"
        store = Failing(desk, after)
        desk.script(calls(("a", "one", {})), calls(("b", "one", {})), says("the end"))
        result = await asyncio.wait_for(desk.ask(session, "while it fills"), 5)
        assert (result.stop_reason, (result.error or {})["kind"]) == ("error", "full")
        assert "could not be stored from here on" in str((result.error or {})["message"])
        assert not session.prompts.busy
        session.prompts.cancel()
        store.full = False
        desk.model.responses.clear()
        desk.script(says("after"))
        result = await asyncio.wait_for(desk.ask(session, "when free"), 5)
        assert result.stop_reason == "end_turn"
    async with world.daemon() as again:
        told = [(e.stop_reason, e.error) for e in await load(again, session.id) if is_end(e)]
        assert [reason for reason, _ in told] == ["error", "end_turn"]
        assert "from here on" in str(told[0][1])


def is_end(event: Event) -> bool:
    return isinstance(event, TurnEnded)


async def test_an_error_of_ours_ends_its_turn_and_nothing_else(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async with world.daemon() as desk:
        session = await desk.open(tools=TOOLS)
        for _ in range(2):
            desk.script([started(), *text("some"), RuntimeError("a bug")])
            result = await asyncio.wait_for(desk.ask(session), 5)
            assert (result.stop_reason, (result.error or {})["kind"]) == ("error", "internal")
            assert not session.prompts.busy
        assert "a bug" in caplog.text
        desk.script(says("after"))
        assert (await asyncio.wait_for(desk.ask(session), 5)).stop_reason == "end_turn"


async def test_a_deleted_session_is_as_unknown_as_one_that_never_was(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        await desk.sessions.delete(session.id)
        with pytest.raises(UnknownSession):
            await desk.sessions.get(session.id)
        with pytest.raises(UnknownSession):
            await desk.sessions.close(SessionId("ses_none"))
