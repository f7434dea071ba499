"""Going back past a compaction that wrote a summary, with files, and forth again."""

import pytest

from sidecar.session.interface import Wish
from tests.fakes.scripted_model import calls, shell, write
from tests.session.conftest import World
from tests.session.rollback.test_going_back import said, tree, work

pytestmark = pytest.mark.usefixtures("following")

SUMMARISED = "the server drops the fourth"
"""What the scripted model's summaries say."""


async def test_files_and_conversation_go_back_past_a_summary(world: World) -> None:
    async with world.daemon() as desk:
        worker = await desk.worker(policy="manual")
        session, folder = worker.session, desk.workspace
        await worker.turns(1)
        before, shown = tree(folder), said(session)
        change = calls(write("notes.txt", "beta\n")), calls(shell("echo x > x; chmod 755 x"))
        turn = await work(desk, session, "change it", *change)
        await worker.turns(3)
        full = said(session)
        made = await session.rewriting.compact("opencode", None, dry_run=False)
        assert SUMMARISED in str(made["summary"])
        await work(desk, session, "more", calls(write("notes.txt", "gamma\n")))
        after, shown_after = tree(folder), said(session)
        assert SUMMARISED in shown_after
        assert len(shown_after) < len(full)

        wish = Wish("both", before_message_id=turn.message_id)
        done = await session.rollback.restore(wish)
        assert (tree(folder), said(session)) == (before, shown)
        assert done.prompt == "change it"
        assert SUMMARISED not in said(session)
        await session.rollback.redo(Wish("both"))
        assert (tree(folder), said(session)) == (after, shown_after)
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        assert (tree(folder), said(session)) == (after, shown_after)
        await session.rollback.restore(wish)
        assert (tree(folder), said(session)) == (before, shown)
        # What is sent then is looked at by the net: pairs, thinking, what the provider accepts.
        await work(desk, session, "another way")
        assert SUMMARISED not in said(session)
        assert tree(folder) == before
