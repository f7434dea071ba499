"""What is there again after a daemon was killed, and who may write."""

import asyncio

import pytest

from sidecar.core.errors import SessionOwned, StorageFailed, UnknownSession
from sidecar.core.parts import PartId, SessionId, TextPart, ToolError, ToolPart
from sidecar.core.prompt import ToolSpec, flat
from sidecar.session.events import Event, TextChunk, ToolChanged
from sidecar.store.values import Change
from tests.fakes.scripted_model import Hold, calls, says, started, stop, text, thought
from tests.session.conftest import Desk, World, prompt_of

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
async def test_killed_in_the_middle(world: World, step: int) -> None:
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
                stored = await desk.store.part(session.id, PartId(part))
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


async def test_two_daemons_one_writer(world: World) -> None:
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
        row = (await other.store.load(session.id)).session
        assert row.revision == session.opened().revision
        await desk.sessions.close(session.id)
        other.script(says("mine now"))
        assert (await other.ask(copy, "take over")).stop_reason == "end_turn"


async def _nothing(event: Event) -> None: ...


async def test_a_full_disk_is_told_and_nothing_is_lost(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        original = desk.store.write
        full = True

        def write(*changes: Change) -> asyncio.Future[None]:
            if not full:
                return original(*changes)
            refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            refused.set_exception(StorageFailed("the disk is full", kind="full"))
            return refused

        desk.store.write = write  # type: ignore[method-assign]
        desk.script(says("lost?"))
        with pytest.raises(StorageFailed, match="full"):
            await desk.ask(session, "while full")
        full = False
        desk.script(says("after"))
        assert (await desk.ask(session, "when free")).stop_reason == "end_turn"
        stored = await desk.store.load(session.id)
    typed = [p.text for m in stored.messages for p in m.parts if isinstance(p, TextPart)]
    assert "while full" in typed
    assert "when free" in typed


async def test_delete_and_unknown(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        await desk.sessions.delete(session.id)
        with pytest.raises(UnknownSession):
            await desk.sessions.get(session.id)
        with pytest.raises(UnknownSession):
            await desk.sessions.close(SessionId("ses_none"))
