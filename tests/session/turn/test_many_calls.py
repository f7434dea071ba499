"""Hundreds of calls in one answer."""

import asyncio

from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.turn.tool_calls import AT_ONCE
from tests.core.prompts import results
from tests.fakes.scripted_model import calls, says
from tests.session.conftest import Desk

TOOLS = (ToolSpec("one", "one", {"type": "object"}, "read", origin="client"),)


async def test_some_of_them_run_at_once(desk: Desk) -> None:
    session = await desk.open(tools=TOOLS)
    running, most = 0, 0

    async def count(_: object) -> str:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0)
        running -= 1
        return "counted"

    desk.editor.tools["one"] = count
    desk.script(calls(*((f"c{n}", "one", {"n": n}) for n in range(200))), says("done"))
    await desk.ask(session)
    assert [result.text for result in results(desk.prompts()[1])] == ["counted"] * 200
    assert 2 <= most <= AT_ONCE
