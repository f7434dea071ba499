"""A static prompt with a date in it is used as it is, and said."""

from sidecar.session.events import Notice
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
