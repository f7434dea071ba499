"""A static prompt with a date in it is used, and said; so is a tool with a scratch path."""

from sidecar.core.prompt.prompt import ToolSpec
from sidecar.session.log.events import Notice
from tests.session.conftest import World


async def test_a_date_in_the_system_prompt_is_said(world: World) -> None:
    async with world.daemon() as desk:
        await desk.open(system="You help. Today is 2026-11-21, 09:15:02.")
        [notice] = desk.of(Notice)
        assert notice.level == "warning"
        assert "2026-11-21" in notice.text
        assert "cache" in notice.text


async def test_a_plain_prompt_is_not(world: World) -> None:
    async with world.daemon() as desk:
        await desk.open(system="You help people with Python 3.11 code since 2024.")
        assert desk.of(Notice) == []


async def test_a_tool_that_is_another_at_each_start_is_said(world: World) -> None:
    places = {"description": "Below /tmp/server-8f3a91c2/files, see http://localhost:49871."}
    scratch = ToolSpec("put", "Put a file.", {"properties": {"path": places}}, origin="client")
    async with world.daemon() as desk:
        await desk.open(system="You help.", tools=(scratch,))
        [notice] = desk.of(Notice)
        assert notice.level == "warning"
        assert "tool put holds a temporary path (/tmp/server-8f3a91c2/files)" in notice.text
        assert "1 more" in notice.text


async def test_what_a_tool_gives_as_an_example_is_not(world: World) -> None:
    day = {"type": "string", "description": "ISO 8601, such as 2026-11-21T09:15:02Z."}
    when = ToolSpec("log", "Since when.", {"properties": {"since": day}}, origin="client")
    async with world.daemon() as desk:
        await desk.open(tools=(when,))
        assert desk.of(Notice) == []
