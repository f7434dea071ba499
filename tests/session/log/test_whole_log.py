"""What needs a whole log has it read, in a session that was opened by a window of it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sidecar.core.parts import PartId, SessionId
from sidecar.session.interface import Wish
from sidecar.session.lifecycle import log_window
from sidecar.session.lifecycle.session import Session
from tests.session import inside
from tests.session.conftest import World
from tests.session.lifecycle.test_log_window import copied, long_work

pytestmark = pytest.mark.long

NEED_ALL: dict[str, Callable[[Session, str, PartId], Awaitable[Any]]] = {
    "breakdown": lambda session, _, __: session.rewriting.breakdown(),
    "preview": lambda session, _, __: session.rewriting.preview(()),
    "compact": lambda session, _, __: session.rewriting.compact(None, None, dry_run=True),
    "undo": lambda session, _, __: session.rewriting.undo(None),
    "pin": lambda session, _, part_id: session.rewriting.pin(part_id, pinned=True),
    "recall": lambda session, _, part_id: session.recall(part_id, 0, None, None),
    "checkpoints": lambda session, _, __: session.checkpoints.listed(),
    "restore": lambda session, hidden, _: session.rollback.restore(
        Wish("conversation", before_message_id=hidden, dry_run=True)
    ),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold sessions that are as small as those of tests."""
    monkeypatch.setattr(log_window, "LEAST", 3)
    monkeypatch.setattr(log_window, "SPACING", 6)


@asynccontextmanager
async def reopened(world: World, session_id: SessionId) -> AsyncIterator[Session]:
    async with copied(world, "again", folds=True).daemon() as desk:
        yield await desk.sessions.get(session_id)


@pytest.mark.parametrize("what", NEED_ALL)
async def test_what_needs_the_whole_log_has_it_read(world: World, what: str) -> None:
    async with world.daemon() as desk:
        session = (await long_work(desk)).session
        name, every = session.id, inside.messages(session)
    async with reopened(world, name) as opened:
        here = {message.id for message in inside.messages(opened)}
        hidden = next(message for message in every if message.id not in here)
        asked = (hidden.id, hidden.parts[1].id)
        found = await NEED_ALL[what](opened, *asked)
        assert inside.log(opened).is_whole
    async with reopened(world, name) as opened:
        assert await inside.log(opened).whole()
        assert found == await NEED_ALL[what](opened, *asked)
