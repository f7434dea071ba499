"""A question goes to each window of a session, once."""

import asyncio
from typing import Any

from sidecar.wire.framing import encode
from tests.fakes.scripted_model import calls, says, shell
from tests.session.conftest import LIMIT, Desk
from tests.session.desk.attached import Window, blocks

ASK = "session/request_permission"
CAN = {"experimental": {"sidecar": {"requestPermission": True}}}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


async def test_each_window_is_asked_once_however_often_it_loads_the_session(desk: Desk) -> None:
    desk.script(calls(shell("touch made")), says("Done."))
    async with asyncio.timeout(2 * LIMIT), asyncio.TaskGroup() as group:
        first, second = Window(desk), Window(desk)
        for window in (first, second):
            await window.open(group, **CAN)
        made = await first.ask("session/new", cwd=str(desk.workspace))
        session_id = made["sessionId"]
        turn = first.send("session/prompt", sessionId=session_id, prompt=blocks("go"))
        await first.until(lambda: bool(first.asked(ASK)))
        for window in (second, first, second):
            await window.ask("session/load", sessionId=session_id)
        await second.until(lambda: bool(second.asked(ASK)))
        assert [len(window.asked(ASK)) for window in (first, second)] == [1, 1]
        answer(second, second.asked(ASK)[0])
        await first.until(lambda: any(m.get("id") == turn for m in first.got))
        assert (desk.workspace / "made").exists()
        for window in (first, second):
            await window.leave()


def answer(window: Window, question: Any) -> None:
    reply: Any = {"jsonrpc": "2.0", "id": question["id"], "result": ALLOW}
    window.pass_on(encode(reply, "headers"))
