"""Who changed what, as a session's log has it: tools, commands, the user, other sessions."""

import asyncio
import mmap
from functools import partial

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.files.tree import SnapshotId
from sidecar.core.parts import Json, PatchPart
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.change_records import patches
from sidecar.session.log.events import Notice
from sidecar.workspace.snapshots.snapshots import Snapshots
from tests.core.stated import stated
from tests.fakes.scripted_model import Hold, calls, says, shell, write
from tests.polling import until
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World

ALTER = ToolSpec("alter", "Alter.", {"type": "object"}, "edit", origin="client")
pytestmark = pytest.mark.usefixtures("following")


def told(session: Session) -> list[list[tuple[str, str, str]]]:
    """Path, change and author, part by part."""
    return [
        [(c.path.decode(), c.change, c.author) for one in patch.sets for c in one.changes]
        for _, patch in patches(inside.messages(session))
    ]


def looked_behind(world: World) -> bool:
    """Whether a look behind the events has found something."""
    assert world.shared is not None
    return "without an event" in str(world.shared.status())


async def test_tools_commands_and_the_user_are_told_apart(desk: Desk) -> None:
    session = await desk.open()
    desk.script(
        calls(write("a.txt", "one\n")),
        calls(shell("echo two > b.txt && rm notes.txt")),
        says("done"),
    )
    await desk.ask(session)
    (desk.workspace / "mine.txt").write_text("mine\n")
    desk.script(says("yes"))
    await desk.ask(session)
    assert told(session) == [
        [],
        [("a.txt", "created", "tool")],
        [("b.txt", "created", "shell"), ("notes.txt", "deleted", "shell")],
        [("mine.txt", "created", "user")],
    ]


async def test_what_the_user_does_while_the_model_answers_is_theirs(desk: Desk) -> None:
    def meanwhile(given: Json) -> str:
        (desk.workspace / "mine.txt").write_text("mine\n")
        return "seen"

    desk.editor.tools["wait"] = meanwhile
    waits = ToolSpec("wait", "Wait.", {"type": "object"}, "read", read_only=True, origin="client")
    session = await desk.open(tools=(waits,))
    desk.script(says("ready"), calls(("c", "wait", {})), calls(write("notes.txt", "agent's\n")))
    desk.script(says("done"))
    await desk.ask(session)
    await desk.ask(session)
    # The snapshot at the turn's start is taken beside the model's answer, maybe later than it.
    assert [change for one in told(session) for change in one] == [
        ("mine.txt", "created", "user"),
        ("notes.txt", "modified", "tool"),
    ]


async def test_what_a_tool_of_the_client_changes_is_the_agents(desk: Desk) -> None:
    def alter(given: Json) -> str:
        (desk.workspace / "notes.txt").write_text("altered\n")
        return "done"

    desk.editor.tools["alter"] = alter
    session = await desk.open(tools=(ALTER,))
    desk.script(calls(("c", "alter", {})), says("done"))
    await desk.ask(session)
    assert told(session) == [[], [("notes.txt", "modified", "shell")]]


async def test_a_tool_of_the_client_that_names_a_file_answers_for_that_alone(desk: Desk) -> None:
    def alter(given: Json) -> str:
        (desk.workspace / "notes.txt").write_text("mine\n")
        (desk.workspace / "out.txt").write_text("made\n")
        return "done"

    desk.editor.tools["alter"] = alter
    session = await desk.open(tools=(ALTER,))
    desk.script(calls(("c", "alter", {"filePath": "out.txt", "content": "made"})), says("done"))
    await desk.ask(session)
    assert told(session)[1] == [
        ("notes.txt", "modified", "unknown"),
        ("out.txt", "created", "shell"),
    ]


async def test_what_the_editor_saves_while_a_command_runs_is_the_users(desk: Desk) -> None:
    def alter(given: Json) -> str:
        (desk.workspace / "notes.txt").write_text("typed\n")
        (desk.workspace / "out.txt").write_text("made\n")
        desk.sessions.documents.saved(str(desk.workspace / "notes.txt"))
        return "done"

    desk.editor.tools["alter"] = alter
    session = await desk.open(tools=(ALTER,))
    desk.script(calls(("c", "alter", {})), says("done"))
    await desk.ask(session)
    assert told(session)[1] == [("notes.txt", "modified", "user"), ("out.txt", "created", "shell")]


async def test_an_ignored_file_that_a_tool_edits_is_covered(desk: Desk) -> None:
    (desk.workspace / ".gitignore").write_text(".env\n")
    (desk.workspace / ".env").write_text("KEY=1\n")
    session = await desk.open()
    desk.script(calls(write(".env", "KEY=2\n")), says("done"))
    await desk.ask(session)
    (_, patch) = list(patches(desk.messages(session)))[1]
    (change,) = patch.sets[0].changes
    assert (change.path, change.author) == (b".env", "tool")
    assert change.old is not None
    assert await desk.store.outputs.read(change.old.hash) == b"KEY=1\n"


async def test_a_cancelled_step_says_what_it_had_changed(desk: Desk) -> None:
    session = await desk.open()
    desk.script(calls(shell("echo made > made.txt; sleep 600")))
    made = desk.workspace / "made.txt"

    async def cancel_when_made() -> None:
        await until(made.exists)
        session.prompts.cancel()

    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        group.create_task(cancel_when_made())
        result = await desk.ask(session)
    assert result.stop_reason == "cancelled"
    assert told(session)[1] == [("made.txt", "created", "shell")]


async def test_another_sessions_agent_is_a_user_to_this_one(desk: Desk) -> None:
    first, second = await desk.open(), await desk.open()
    desk.script(calls(write("a.txt", "one\n")), says("done"))
    await desk.ask(first)
    desk.script(calls(write("b.txt", "two\n")), says("done"))
    await desk.ask(second)
    desk.script(says("yes"))
    await desk.ask(first)
    assert told(first) == [[], [("a.txt", "created", "tool")], [("b.txt", "created", "user")]]
    assert told(second) == [[], [("b.txt", "created", "tool")]]


async def test_what_a_subtask_changes_is_its_parents_agents_too(desk: Desk) -> None:
    session = await desk.open()
    desk.script(
        calls(("d", "delegate", {"task": "write it"})),
        calls(write("a.txt", "one\n"), shell("echo two > b.txt")),
        says("written"),
        says("done"),
    )
    await desk.ask(session)
    assert told(session)[1:] == [[("a.txt", "created", "tool"), ("b.txt", "created", "shell")]]


async def test_what_the_user_did_while_no_daemon_ran_is_told_after_a_restart(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(calls(write("a.txt", "one\n")), says("done"))
        await desk.ask(session)
    (world.workspace / "a.txt").write_text("mine\n")
    async with world.daemon() as desk:
        again = await desk.sessions.get(session.id)
        desk.script(says("yes"))
        await desk.ask(again)
        assert told(again) == [
            [],
            [("a.txt", "created", "tool")],
            [("a.txt", "modified", "user")],
        ]


async def test_the_model_sees_nothing_of_it(desk: Desk) -> None:
    session = await desk.open()
    desk.script(calls(write("a.txt", "one\n")), says("done"))
    await desk.ask(session)
    parts = [p for m in desk.messages(session) for p in m.parts if isinstance(p, PatchPart)]
    assert parts
    ids = {block.part_id for m in desk.prompts()[-1].messages for block in m.blocks}
    assert not ids & {part.id for part in parts}


async def test_a_folder_that_can_have_no_snapshots_is_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(world.workspace))
    async with world.daemon() as desk:
        session = await desk.open()
        for _ in range(2):
            desk.script(calls(write("a.txt", "one\n")), says("done"))
            assert (await desk.ask(session)).stop_reason == "end_turn"
        notices = [n.text for n in desk.of(Notice)]
        assert len(notices) == 1
        assert "home folder" in notices[0]
        assert told(session) == []
        status = world.shared.status()
        assert [(one["root"], one["mode"]) for one in status] == [(str(world.workspace), "none")]


async def test_a_turn_does_not_wait_for_the_first_hashing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: Snapshots) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Snapshots, "ready", never)
    session = await desk.open()
    desk.script(calls(write("a.txt", "one\n")), says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert told(session)[1] == [("a.txt", "created", "tool")]


async def test_the_model_is_asked_while_the_first_snapshot_is_taken(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, snapshot = Hold(), Snapshots.snapshot

    async def waits(self: Snapshots) -> SnapshotId:
        await asyncio.wait_for(asked.reached.wait(), LIMIT / 2)
        return await snapshot(self)

    monkeypatch.setattr(Snapshots, "snapshot", waits)
    asked.released.set()
    session = await desk.open()
    desk.script([asked, *calls(write("a.txt", "one\n"))], says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    assert told(session) == [[], [("a.txt", "created", "tool")]]


async def test_the_folder_is_looked_at_before_the_first_prompt(desk: Desk, world: World) -> None:
    session = await desk.open()
    assert world.shared is not None
    shared = world.shared
    await until(lambda: [one["paths"] for one in shared.status()] == [1])
    (desk.workspace / "mine.txt").write_text("mine\n")
    desk.script(says("done"))
    await desk.ask(session)
    # What was changed before a session's first prompt is nobody's change, as ever.
    assert told(session) == [[]]


async def test_a_store_that_fails_stops_no_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()

    async def fails(self: Snapshots) -> None:
        raise StorageFailed("the disk is full", kind="full")

    with monkeypatch.context() as patch:
        patch.setattr(Snapshots, "snapshot", fails)
        desk.script(calls(write("a.txt", "one\n")), says("done"))
        assert (await desk.ask(session)).stop_reason == "end_turn"
    assert [n.text for n in desk.of(Notice)] == [
        "What this turn changes cannot be undone: the disk is full"
    ]
    desk.script(calls(write("a.txt", "two\n")), says("done"))
    await desk.ask(session)
    assert told(session)[-1] == [("a.txt", "modified", "tool")]


@pytest.mark.parametrize("fails_at", ["its start", "its end"])
async def test_what_changed_while_nothing_could_be_stored_is_unknown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, fails_at: str
) -> None:
    session = await desk.open()
    desk.script(says("ready"))
    await desk.ask(session)
    full, snapshot = [fails_at == "its start"], Snapshots.snapshot

    async def fails(self: Snapshots) -> SnapshotId:
        if full[0]:
            raise StorageFailed("the disk is full", kind="full")
        return await snapshot(self)

    async def fills(self: Snapshots) -> None:
        full[0] = True

    monkeypatch.setattr(Snapshots, "snapshot", fails)
    # A command waits for this before it runs.
    monkeypatch.setattr(Snapshots, "ready", fills)
    desk.script(calls(write("a.txt", "one\n"), shell("echo two > b.txt")), says("done"))
    assert (await desk.ask(session)).stop_reason == "end_turn"
    (desk.workspace / "mine.txt").write_text("mine\n")
    full[0] = False
    desk.script(calls(write("c.txt", "three\n")), says("done"))
    await desk.ask(session)
    assert told(session)[-2:] == [
        [(name, "created", "unknown") for name in ("a.txt", "b.txt", "mine.txt")],
        [("c.txt", "created", "tool")],
    ]


async def test_what_the_daemon_learned_is_nobodys_change(desk: Desk) -> None:
    session = await desk.open()
    desk.script(says("seen"))
    await desk.ask(session, "look")
    fact = stated("Use pnpm", at=1_795_219_200_000)
    await inside.learn(session, fact)
    file = desk.workspace / ".sidecar/learned/decisions.md"
    assert file.exists()
    desk.script(says("seen"))
    await desk.ask(session, "look again")
    assert told(session)[-1] == []
    file.write_text(file.read_text() + "- Mine\n")
    desk.script(says("seen"))
    await desk.ask(session, "and again")
    assert told(session)[-1] == [(".sidecar/learned/decisions.md", "modified", "user")]


async def test_what_the_daemon_learned_is_nobodys_change_after_a_restart_and_in_another_window(
    world: World,
) -> None:
    fact = stated("Use pnpm", at=1_795_219_200_000)
    async with world.daemon(name="other") as window:
        other = await window.open()
        window.script(says("seen"))
        await window.ask(other, "look")
        async with world.daemon(kill=True) as desk:
            session = await desk.open()
            desk.script(says("seen"))
            await desk.ask(session, "look")
            await inside.learn(session, fact)
        file = desk.workspace / ".sidecar/learned/decisions.md"
        assert file.exists()
        window.script(says("seen"))
        await window.ask(other, "look again")
        assert told(other) == [[], []]
    async with world.daemon() as desk:
        again = await desk.sessions.get(session.id)
        desk.script(says("seen"))
        await desk.ask(again, "look again")
        assert told(again) == [[], []]
        file.write_text(file.read_text() + "- Mine\n")
        desk.script(says("seen"))
        await desk.ask(again, "and again")
        assert told(again)[-1] == [(".sidecar/learned/decisions.md", "modified", "user")]


async def test_the_first_look_behind_the_events_comes_after_the_first_turn(world: World) -> None:
    async with world.daemon() as desk:
        session = await desk.open()
        with (desk.workspace / "notes.txt").open("r+b") as file:
            stored = mmap.mmap(file.fileno(), 0)
        made, _ = await inside.tracking(session).since()
        await made.ready()
        stored[:1] = b"U"
        assert not looked_behind(world)
        desk.script(says("one"))
        await desk.ask(session, "go")
        await until(partial(looked_behind, world))
        stored.close()


async def test_after_a_turn_it_is_looked_behind_the_events_now_and_then(world: World) -> None:
    world.recheck_every = 0
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("one"))
        await desk.ask(session, "go")
        with (desk.workspace / "notes.txt").open("r+b") as file:
            stored = mmap.mmap(file.fileno(), 0)
        _, fresh = await inside.tracking(session).since()
        inside.tracking(session).reached(fresh.after)
        stored[:1] = b"U"
        desk.script(says("two"))
        await desk.ask(session, "look")
        await until(partial(looked_behind, world))
        desk.script(says("three"))
        await desk.ask(session, "look")
        # The look that the first turn began may have found it in time for the second one.
        assert [some for some in told(session) if some] == [[("notes.txt", "modified", "user")]]
        stored.close()
