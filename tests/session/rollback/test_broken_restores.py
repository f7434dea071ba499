"""Restores that a daemon left in the middle: what people are told when they load a session."""

from pathlib import Path

import pytest

from sidecar.core.parts import SessionId
from sidecar.session.log.events import Event, Notice
from tests.session.conftest import Desk, World
from tests.workspace.restore.site import Site
from tests.workspace.restore.test_recovery import leave_half, states

BROKEN = "A restore was broken off when Sidecar stopped. "
STANDS = BROKEN + "It had been done already, and stands."
TAKEN_BACK = BROKEN + "It was taken back: files and conversation are as before it."

pytestmark = pytest.mark.usefixtures("following")


@pytest.fixture
def world(world: World, tmp_path: Path) -> World:
    world.workspace = tmp_path / "work"
    world.workspace.mkdir()
    return world


async def told(desk: Desk, session_id: str) -> list[str]:
    """Load the session as a client does; gives what it is told of restores."""
    seen: list[Event] = []

    def watch(event: Event) -> None:
        seen.append(event)

    async def emit(event: Event) -> None:
        """Nothing is replayed."""

    await desk.sessions.load(
        SessionId(session_id), desk.editor, watch, replay=False, after=None, emit=emit
    )
    desk.sessions.open.detach(watch)
    return [e.text for e in seen if isinstance(e, Notice) and "restore" in e.text]


@pytest.mark.parametrize("stands", [False, True])
async def test_who_loads_a_session_is_told_once_what_became_of_a_restore(
    world: World, tmp_path: Path, stands: bool
) -> None:
    async with world.daemon() as desk:
        session_id = (await desk.open()).id
    site = Site(tmp_path)
    before, after = await states(site)
    await leave_half(site, after, before)
    if stands:
        await site.store.restores.finish(1, "t", ())
    await site.store.close()
    async with world.daemon() as desk:
        assert await told(desk, session_id) == [STANDS if stands else TAKEN_BACK]
        assert await told(desk, session_id) == []
        await desk.sessions.close(session_id)
        assert await told(desk, session_id) == []
        assert site.tree() == (before if stands else after)
    async with world.daemon() as desk:
        assert await told(desk, session_id) == []
