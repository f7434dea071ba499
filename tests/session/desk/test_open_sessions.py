"""What one window of a daemon brings or leaves holds the other windows up in nothing."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import Cancelled, StorageFailed
from sidecar.core.parts import JsonObject
from sidecar.session.desk import open_sessions
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.shared_environment import SharedEnvironment
from sidecar.session.desk.window_environments import WindowEnvironments
from sidecar.session.interface import PromptResult
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import Hold, says
from tests.session.conftest import Desk

LIMIT = 10.0


@dataclass(eq=False)
class BeatenStore:
    """Has leases of its own; `on_beat` runs at each beat."""

    on_beat: Any
    beats: int = 0

    @property
    def leases(self) -> "BeatenStore":
        return self

    async def beat(self, token: str) -> None:
        self.beats += 1
        self.on_beat()

    async def close(self) -> None:
        """Nothing to close."""


@dataclass(eq=False)
class Left:
    """The parts of a window that is gone; `ending` delays the end."""

    store: Any = ""
    workspaces: Any = None
    ended: int = 0
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    async def end(self) -> None:
        self.ended += 1
        await self.ending.wait()


class Followed:
    """Stands for the workspaces of a store, which cannot be followed."""

    async def run(self) -> None:
        raise OSError("too many open files")

    async def close(self) -> None:
        """Nothing to close."""


async def at_work(desk: Desk) -> tuple[Session, asyncio.Future[PromptResult]]:
    """A session, and its turn whose answer does not end."""
    session, begun = await desk.open(), Hold()
    desk.script([begun, *says("Never said.")])
    turn = asyncio.ensure_future(desk.ask(session))
    async with asyncio.timeout(LIMIT):
        await begun.reached.wait()
    return session, turn


async def test_leases_are_beaten_while_windows_bring_stores_and_stores_fail(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leases of each store, and the daemon goes on."""
    monkeypatch.setattr(open_sessions, "HEARTBEAT", 0.01)
    sessions = OpenSessions(desk.sessions.open.owner)
    stores: dict[Any, Any] = sessions.windows.stores

    def fail() -> None:
        raise StorageFailed("the disk is full", kind="full")

    def bring() -> None:
        stores.setdefault(late, Followed())

    late = BeatenStore(lambda: None)
    stores[BeatenStore(fail)] = Followed()
    stores[BeatenStore(bring)] = Followed()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        group.create_task(sessions.run())
        while late.beats < 2:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.01)
        await sessions.shutdown()


async def test_each_environment_ends_once_where_several_calls_end_them() -> None:
    """Two windows' last sessions are closed at once."""
    windows, left = WindowEnvironments(), (Left(), Left())
    windows.stores[""] = Followed()  # type: ignore[index,assignment]
    for environment in left:
        await windows.enter(environment)  # type: ignore[arg-type]
        windows.leave(environment)  # type: ignore[arg-type]
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        for _ in left:
            group.create_task(windows.end_unused(()))
            await asyncio.sleep(0)
        for environment in left:
            environment.ending.set()
    assert [environment.ended for environment in left] == [1, 1]


async def test_folders_that_cannot_be_followed_end_nobody(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """The process is that of all windows."""
    sessions, window = OpenSessions(desk.sessions.open.owner), Left(BeatenStore(None), Followed())
    window.ending.set()
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        running = group.create_task(sessions.run())
        await asyncio.sleep(0)
        await sessions.windows.enter(window)  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        assert not running.done()
        await sessions.shutdown()
    assert "too many open files" in caplog.text


async def test_a_window_that_is_ready_after_the_end_leaves_nothing_that_runs() -> None:
    """Its settings were read while the daemon stopped, whose end would wait for its parts."""
    windows, late = WindowEnvironments(), Left(BeatenStore(None))
    late.ending.set()
    await windows.close()
    with pytest.raises(Cancelled, match="stopping"):
        await windows.enter(late)  # type: ignore[arg-type]
    assert late.ended == 1


async def test_options_that_come_as_a_window_becomes_ready_are_those_it_has(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another environment, of options before, is just being ended."""
    sessions, given = OpenSessions(desk.sessions.open.owner), list[JsonObject]()
    sessions.windows.stores[""] = Followed()  # type: ignore[index,assignment]
    newer: JsonObject = {"model": "offline"}

    async def build(options: JsonObject, _: Path | None) -> Any:
        given.append(options)
        made = Left()
        made.ending.set()
        return made

    async def meanwhile() -> None:
        shared.configure(newer, None)

    shared = SharedEnvironment(build, lambda _: "", sessions)
    monkeypatch.setattr(sessions, "end_unused", meanwhile)
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        group.create_task(sessions.run())
        await asyncio.sleep(0)
        await shared.ready()
        assert given == [{}, newer]
        sessions.windows.stores.clear()
        await sessions.shutdown()


@pytest.mark.parametrize("late", range(4))
async def test_who_asks_for_a_session_that_is_closing_waits_for_its_end(
    desk: Desk, late: int
) -> None:
    """Its turn is still written: another writer would put an older row back."""
    session, turn = await at_work(desk)

    async def rename() -> None:
        for _ in range(late):
            await asyncio.sleep(0)
        await desk.sessions.rename(session.id, "Another title")

    await asyncio.gather(desk.sessions.close(session.id), rename(), turn, return_exceptions=True)
    again = await desk.sessions.get(session.id)
    assert again.row.title == "Another title"
    assert again.row.turns == 1
    desk.script(says("Yes."))
    assert (await desk.ask(again)).stop_reason == "end_turn"


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_a_session_that_is_closing_is_opened_again_behind_its_end(
    desk: Desk, is_cancelled: bool
) -> None:
    """Though the request to close it is cancelled, as by a window that ends next."""
    session, turn = await at_work(desk)
    closing = asyncio.ensure_future(desk.sessions.close(session.id))
    await asyncio.sleep(0)
    if is_cancelled:
        await asyncio.sleep(0)
        closing.cancel()
    again = await desk.sessions.get(session.id)
    await asyncio.gather(closing, turn, return_exceptions=True)
    desk.script(says("Yes."))
    assert (await desk.ask(again)).stop_reason == "end_turn"
    assert again.row.turns == 2
