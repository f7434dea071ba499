"""Requests that are under way when their window goes end cleanly, and leave the others whole."""

import asyncio
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.session.desk import sessions as opening
from sidecar.session.lifecycle import session as prompting
from tests.fakes.scripted_model import says
from tests.polling import until
from tests.session.conftest import LIMIT, Desk
from tests.session.desk.attached import Window, blocks


class Gate:
    """Holds a function of a module up until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self._held = getattr(module, name)
        monkeypatch.setattr(module, name, self)

    async def __call__(self, *given: Any, **named: Any) -> Any:
        self.reached.set()
        await self.opened.wait()
        return await self._held(*given, **named)


async def stored(desk: Desk, group: asyncio.TaskGroup) -> str:
    """A session that nobody has open."""
    window = Window(desk)
    await window.open(group)
    made = await window.ask("session/new", cwd=str(desk.workspace))
    await window.ask("session/close", sessionId=made["sessionId"])
    await window.leave()
    return str(made["sessionId"])


async def test_a_prompt_that_is_still_checked_is_run_without_its_window(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script(says("I was here."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        checking = Gate(monkeypatch, prompting, "check_fits")
        window.send("session/prompt", sessionId=session_id, prompt=blocks("go"))
        await checking.reached.wait()
        window.go()
        await asyncio.sleep(0.1)
        checking.opened.set()
        await later.open(group)
        await later.ask("session/load", sessionId=session_id)
        await later.until(lambda: "I was here." in later.told())
        await later.leave()


async def test_a_prompt_whose_session_is_still_opened_is_run_without_its_window(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script(says("I was here."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        reading = Gate(monkeypatch, opening, "open_log")
        window.send("session/prompt", sessionId=session_id, prompt=blocks("go"))
        await reading.reached.wait()
        window.go()
        await asyncio.sleep(1.2)
        reading.opened.set()
        await later.open(group)
        await later.ask("session/load", sessionId=session_id)
        await later.until(lambda: "I was here." in later.told())
        await later.leave()


async def test_a_session_opened_for_a_window_that_goes_has_parts_that_live(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on with those of the next window that prompts there."""
    desk.script(says("Still here."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        reading = Gate(monkeypatch, opening, "open_log")
        window.send("session/load", sessionId=session_id)
        await reading.reached.wait()
        window.reads.clear()
        window.send("daemon/status")
        window.go()
        # The window's request is waited for, then given up, while its last answer is written.
        await asyncio.sleep(1.5)
        reading.opened.set()
        assert window.served is not None
        await window.served
        await later.open(group)
        await later.ask("session/load", sessionId=session_id)
        await later.prompt(session_id, "go")
        session = desk.sessions.open.find(session_id)  # type: ignore[arg-type]
        assert session is not None
        assert session.environment is later.sessions.shared.known
        assert (window.ended, later.ended) == (1, 0)
        await later.leave()


async def test_a_window_that_goes_waits_for_no_session_that_opens(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is opened whole; the next window takes it over."""
    desk.script(says("Here I am."))
    async with asyncio.timeout(3 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        reading = Gate(monkeypatch, opening, "open_log")
        window.send("session/load", sessionId=session_id)
        await reading.reached.wait()
        await window.leave()
        assert window.ended == 0
        await later.open(group)
        loading = later.send("session/load", sessionId=session_id)
        reading.opened.set()
        await later.until(lambda: any(m.get("id") == loading for m in later.got))
        await later.prompt(session_id, "go")
        await later.until(lambda: "Here I am." in later.told())
        assert (window.ended, later.ended) == (1, 0)
        await later.leave()


async def test_a_window_that_goes_waits_for_no_settings_that_are_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(3 * LIMIT), asyncio.TaskGroup() as group:
        window = Window(desk)
        reading = Gate(monkeypatch, window.sessions.shared, "_build")
        await window.open(group)
        window.send("session/list")
        await reading.reached.wait()
        await window.leave()
        reading.opened.set()
        await until(lambda: window.ended == 1)


async def test_a_daemon_that_stops_waits_little_for_a_session_that_opens(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(3 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window = Window(desk)
        await window.open(group)
        made = await window.ask("session/new", cwd=str(desk.workspace))
        reading = Gate(monkeypatch, opening, "open_log")
        loading = window.send("session/load", sessionId=session_id)
        await reading.reached.wait()
        asked = window.send("session/load", sessionId=made["sessionId"])
        async with asyncio.timeout(LIMIT / 2):
            await desk.sessions.open.shutdown()
        reading.opened.set()
        for one in (loading, asked):
            await window.until(lambda one=one: any(m.get("id") == one for m in window.got))
        await window.leave()


async def test_what_fails_to_open_leaves_nothing_of_a_window_that_went(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(3 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        reading = Gate(monkeypatch, opening, "open_log")
        window.send("session/load", sessionId=session_id)
        await reading.reached.wait()
        await window.leave()
        monkeypatch.setattr(reading, "_held", fail)
        reading.opened.set()
        await later.open(group)
        await later.ask("session/list")
        await later.ask("session/load", sessionId=session_id)
        assert window.ended == 1
        await later.leave()


async def fail(*_: object, **__: object) -> None:
    raise StorageFailed("not today", kind="io")


async def test_a_window_that_goes_while_taking_a_session_over_leaves_the_others_their_updates(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script(says("All hear this."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        first, second, third = Window(desk), Window(desk), Window(desk)
        for window in (first, second, third):
            await window.open(group)
        made = await first.ask("session/new", cwd=str(desk.workspace))
        session_id = made["sessionId"]
        await second.ask("session/load", sessionId=session_id)
        await first.leave()
        reading = Gate(monkeypatch, opening, "open_log")
        third.send("session/load", sessionId=session_id)
        await reading.reached.wait()
        leaving = group.create_task(third.leave())
        await asyncio.sleep(1.5)
        reading.opened.set()
        await leaving
        await second.prompt(session_id, "go")
        await second.until(lambda: "All hear this." in second.told())
        await second.leave()


async def test_a_session_is_not_taken_over_while_a_prompt_is_checked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script(says("To the one who asked."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        first, second, third = Window(desk), Window(desk), Window(desk)
        for window in (first, second, third):
            await window.open(group)
        made = await first.ask("session/new", cwd=str(desk.workspace))
        session_id = made["sessionId"]
        await second.ask("session/load", sessionId=session_id)
        checking = Gate(monkeypatch, prompting, "check_fits")
        prompting_now = group.create_task(second.prompt(session_id, "go"))
        await checking.reached.wait()
        await first.leave()
        await third.ask("session/load", sessionId=session_id)
        checking.opened.set()
        assert (await prompting_now)["stopReason"] == "end_turn"
        assert second.told() == third.told() == "To the one who asked."
        for window in (second, third):
            await window.leave()


async def test_a_prompt_whose_session_is_closed_meanwhile_is_answered(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        window = Window(desk)
        await window.open(group)
        made = await window.ask("session/new", cwd=str(desk.workspace))
        session_id = made["sessionId"]
        checking = Gate(monkeypatch, prompting, "check_fits")
        asked = window.send("session/prompt", sessionId=session_id, prompt=blocks("go"))
        await checking.reached.wait()
        await window.ask("session/close", sessionId=session_id)
        checking.opened.set()
        await window.until(lambda: any(m.get("id") == asked and "error" in m for m in window.got))
        await window.leave()


async def test_an_editor_without_a_plugin_leaves_its_prompt_and_nothing_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script(says("I was here."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        window.sessions.folder = desk.workspace
        await window.open(group)
        checking = Gate(monkeypatch, prompting, "check_fits")
        await window.ask("workspace/executeCommand", command="sidecar.send", arguments=["go"])
        await checking.reached.wait()
        leaving = group.create_task(window.leave())
        await asyncio.sleep(0.1)
        checking.opened.set()
        await leaving
        session = desk.sessions.open.find(session_id)  # type: ignore[arg-type]
        assert session is not None
        assert session.audience.watchers() == ()
        assert not session.audience.heard
        await later.open(group)
        await later.ask("session/load", sessionId=session_id)
        await later.until(lambda: "I was here." in later.told())
        await later.leave()


async def test_what_a_dead_window_has_sent_is_read_though_nothing_can_be_written(
    desk: Desk,
) -> None:
    desk.script(says("I was here."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id = await stored(desk, group)
        window, later = Window(desk), Window(desk)
        await window.open(group)
        window.broken = True
        window.send("session/list")
        await asyncio.sleep(0.1)
        window.send("session/prompt", sessionId=session_id, prompt=blocks("go"))
        await window.leave()
        await later.open(group)
        await later.ask("session/load", sessionId=session_id)
        await later.until(lambda: "I was here." in later.told())
        await later.leave()
