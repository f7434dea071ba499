"""Whether a workspace may run things."""

from dataclasses import replace

import pytest

from sidecar.core.parts import ToolError, ToolPart
from tests.fakes.scripted_model import calls, says
from tests.session.conftest import Desk, World

RUN = ("a", "shell", {"command": "touch made"})


async def run(desk: Desk) -> tuple[str, ToolPart]:
    session = await desk.open()
    desk.script(calls(RUN), says("done"))
    result = await desk.ask(session)
    (tool,) = [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]
    return result.stop_reason, tool


async def test_an_editor_that_distrusts_is_not_asked(world: World) -> None:
    world.config = replace(world.config, workspace_trusted=False)
    async with world.daemon() as desk:
        stopped, tool = await run(desk)
        assert stopped == "end_turn"
        assert isinstance(tool.state, ToolError)
        assert "not trusted" in tool.state.message
        assert desk.editor.asked == []
    assert not (world.workspace / "made").exists()


@pytest.mark.parametrize("answer", ["distrust", None])
async def test_the_user_may_refuse(world: World, answer: str | None) -> None:
    world.config = replace(world.config, workspace_trusted=None)
    async with world.daemon() as desk:
        desk.editor.permission = answer
        _, tool = await run(desk)
        assert isinstance(tool.state, ToolError)
        assert len(desk.editor.asked) == 1
    assert not (world.workspace / "made").exists()


async def test_trust_is_remembered_across_daemons(world: World) -> None:
    allow = ("shell",)
    permissions = replace(world.config.permissions, allow=allow)
    world.config = replace(world.config, workspace_trusted=None, permissions=permissions)
    async with world.daemon() as desk:
        desk.editor.permission = "trust_always"
        assert (await run(desk))[0] == "end_turn"
        assert [q["_meta"]["sidecar"]["question"] for q in desk.editor.asked] == ["trust"]
    assert (world.workspace / "made").exists()
    async with world.daemon() as again:
        assert (await run(again))[0] == "end_turn"
        assert again.editor.asked == []
    assert (world.folder / "trusted-workspaces.json").stat().st_mode & 0o777 == 0o600


async def test_nobody_to_ask_is_told_to_the_model(desk: Desk) -> None:
    desk.editor.gone = True
    stopped, tool = await run(desk)
    assert stopped == "end_turn"
    assert isinstance(tool.state, ToolError)
    assert "could not be asked" in tool.state.message
