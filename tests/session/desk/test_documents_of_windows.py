"""An open document is changed in the window that has it open."""

import asyncio
from typing import Any

import pytest

from tests.fakes.scripted_model import calls, says, write
from tests.session.conftest import LIMIT, Desk
from tests.session.desk.attached import Window

CAN = {
    "experimental": {"sidecar": {"requestPermission": True}},
    "workspace": {"applyEdit": True},
}
ANSWERS: dict[str, Any] = {
    "session/request_permission": lambda _: {
        "outcome": {"outcome": "selected", "optionId": "allow_once"}
    },
    "workspace/applyEdit": lambda _: {"applied": True},
}
EDIT = "workspace/applyEdit"


@pytest.mark.parametrize("loads", [True, False], ids=["in the session", "elsewhere"])
async def test_an_edit_goes_to_the_window_with_the_document_open(desk: Desk, loads: bool) -> None:
    desk.script(calls(write("notes.txt", "beta\n")), says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        holding, newest = Window(desk, ANSWERS), Window(desk, ANSWERS)
        for window in (holding, newest):
            await window.open(group, **CAN)
        document = {
            "uri": (desk.workspace / "notes.txt").as_uri(),
            "languageId": "text", "version": 1, "text": "alpha\nnot saved\n",
        }  # fmt: skip
        holding.notify("textDocument/didOpen", textDocument=document)
        # Documents are taken in the order of messages.
        await holding.ask("session/list")
        made = await newest.ask("session/new", cwd=str(desk.workspace))
        if loads:
            await holding.ask("session/load", sessionId=made["sessionId"])
            await newest.ask("session/load", sessionId=made["sessionId"])
        await newest.prompt(made["sessionId"], "go")
        assert [len(window.asked(EDIT)) for window in (holding, newest)] == [1, 0]
        assert (desk.workspace / "notes.txt").read_text() == "alpha\n"
        for window in (holding, newest):
            await window.leave()


async def test_a_document_whose_window_went_is_changed_on_disk(desk: Desk) -> None:
    desk.script(calls(write("notes.txt", "beta\n")), says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        holding, newest = Window(desk, ANSWERS), Window(desk, ANSWERS)
        for window in (holding, newest):
            await window.open(group, **CAN)
        document = {
            "uri": (desk.workspace / "notes.txt").as_uri(),
            "languageId": "text", "version": 1, "text": "alpha\n",
        }  # fmt: skip
        holding.notify("textDocument/didOpen", textDocument=document)
        await holding.ask("session/list")
        await holding.leave()
        made = await newest.ask("session/new", cwd=str(desk.workspace))
        await newest.prompt(made["sessionId"], "go")
        assert newest.asked(EDIT) == []
        assert (desk.workspace / "notes.txt").read_text() == "beta\n"
        await newest.leave()
