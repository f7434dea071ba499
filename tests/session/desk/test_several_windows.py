"""What a session asks of the windows that have it open."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.scripted_model import calls, says
from tests.session.conftest import LIMIT, Desk, World
from tests.session.desk.attached import Window

ASKS = {"experimental": {"sidecar": {"requestPermission": True}}}
QUESTION = "session/request_permission"
READS = {"experimental": {"fs": {"readTextFile": True, "writeTextFile": True}}}
WRITTEN = calls(("c", "write_file", {"path": "notes.txt", "content": "new"}))
"""Whose text is read first."""


@pytest.fixture
async def allowed(world: World) -> AsyncIterator[Desk]:
    """A desk at which files are written unasked."""
    permissions = replace(world.config.permissions, allow=("write_file",))
    world.config = replace(world.config, permissions=permissions)
    async with world.daemon() as desk:
        yield desk


def dismiss(_: Any) -> Any:
    return {"outcome": {"outcome": "cancelled"}}


async def test_a_window_of_commands_and_methods_is_asked_once(desk: Desk) -> None:
    desk.script(calls(("c", "shell", {"command": "touch made"})), says("Well."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        window = Window(desk)
        window.sessions.folder = desk.workspace
        await window.open(group, **ASKS)
        await window.ask("workspace/executeCommand", command="sidecar.new", arguments=[])
        await window.until(lambda: "New session." in str(window.got))
        (session,) = desk.sessions.open
        await window.ask("session/load", sessionId=session.id)
        window.answers[QUESTION] = dismiss
        await window.prompt(session.id, "go")
        assert len(window.asked(QUESTION)) == 1
        await window.leave()


async def opened(desk: Desk, group: asyncio.TaskGroup, *each: Any) -> tuple[str, list[Window]]:
    """A session of the first of some windows, which the others have loaded in order."""
    windows = [Window(desk) for _ in each]
    for window, capabilities in zip(windows, each, strict=True):
        window.answers = {
            "fs/read_text_file": lambda _: {"content": "unsaved"},
            "fs/write_text_file": lambda _: None,
        }
        await window.open(group, **capabilities)
    made = await windows[0].ask("session/new", cwd=str(desk.workspace))
    for window in windows[1:]:
        await window.ask("session/load", sessionId=made["sessionId"])
    return made["sessionId"], windows


@pytest.mark.parametrize(
    ("each", "prompting", "asked"),
    [
        ((READS, READS, READS), 1, 1),
        ((READS, {}, READS), 1, 0),
        (({}, {}, READS, READS), 0, 3),
    ],
    ids=["whose prompt runs", "who opened it", "the newest"],
)
async def test_one_window_reads_and_writes_files(
    allowed: Desk, each: Any, prompting: int, asked: int
) -> None:
    allowed.script(WRITTEN, says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id, windows = await opened(allowed, group, *each)
        await windows[prompting].prompt(session_id, "go")
        for method in ("fs/read_text_file", "fs/write_text_file"):
            counts = [len(window.asked(method)) for window in windows]
            assert [at for at, count in enumerate(counts) if count] == [asked]
        for window in windows:
            await window.leave()


async def test_the_window_that_has_a_document_open_writes_it(allowed: Desk) -> None:
    allowed.script(WRITTEN, says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        session_id, windows = await opened(allowed, group, READS, READS, READS)
        uri = (allowed.workspace / "notes.txt").as_uri()
        document = {"uri": uri, "languageId": "text", "version": 1, "text": "unsaved"}
        windows[1].notify("textDocument/didOpen", textDocument=document)
        await windows[0].prompt(session_id, "go")
        counts = [len(window.asked("fs/write_text_file")) for window in windows]
        assert counts == [0, 1, 0]
        for window in windows:
            await window.leave()


async def test_the_window_that_opened_a_session_runs_its_tools(desk: Desk) -> None:
    desk.script(calls(("c", "look", {})), says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        windows = [Window(desk), Window(desk)]
        for window in windows:
            window.answers["tool/call"] = lambda _: {"content": []}
            await window.open(group, experimental={"sidecar": {"toolCall": True}})
        look = {"name": "look", "description": "x", "inputSchema": {"type": "object"}}
        given = {"cwd": str(desk.workspace), "tools": [{**look, "readOnly": True, "kind": "read"}]}
        made = await windows[0].ask("session/new", **given)
        await windows[1].ask("session/load", sessionId=made["sessionId"])
        await windows[0].prompt(made["sessionId"], "go")
        assert [len(window.asked("tool/call")) for window in windows] == [1, 0]
        for window in windows:
            await window.leave()
