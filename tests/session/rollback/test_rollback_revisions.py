"""Going back at an expected revision: whoever knows an older state of the session is refused."""

import pytest

from sidecar.core.errors import RevisionConflict
from sidecar.session.interface import Scope, Wish
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import calls, says, write
from tests.session import inside
from tests.session.conftest import Desk

pytestmark = pytest.mark.usefixtures("following")

SCOPES: tuple[Scope, ...] = ("both", "files", "conversation")


def revision(session: Session) -> int:
    return inside.row(session).revision


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_stale_revision_is_refused_and_a_real_run_raises_it(
    desk: Desk, scope: Scope
) -> None:
    session = await desk.open()
    made = desk.workspace / "a.txt"
    desk.script(calls(write("a.txt", "a\n")), says("done"))
    turn = await desk.ask(session)
    before = revision(session)

    def back(expected: int, *, dry_run: bool = False) -> Wish:
        return Wish(
            scope,
            before_message_id=turn.message_id,
            dry_run=dry_run,
            expected_revision=expected,
        )

    for dry_run in (True, False):
        for stale in (before - 1, before + 1):
            with pytest.raises(RevisionConflict):
                await session.rollback.restore(back(stale, dry_run=dry_run))
    assert revision(session) == before
    assert made.exists()
    assert len(inside.conversation(session)) == 3

    foreseen = await session.rollback.restore(back(before, dry_run=True))
    assert foreseen.revision == revision(session) == before
    done = await session.rollback.restore(back(before))
    after = revision(session)
    assert done.revision == after > before

    with pytest.raises(RevisionConflict):
        await session.rollback.redo(Wish(scope, expected_revision=before))
    with pytest.raises(RevisionConflict):
        await session.rollback.redo(Wish(scope, expected_revision=before, dry_run=True))
    foreseen = await session.rollback.redo(Wish(scope, expected_revision=after, dry_run=True))
    assert foreseen.revision == revision(session) == after
    again = await session.rollback.redo(Wish(scope, expected_revision=after))
    assert again.revision == revision(session) > after
    assert made.exists()
    assert len(inside.conversation(session)) == 3
