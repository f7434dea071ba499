"""A rename of a session that is open in no window."""

from dataclasses import replace

import pytest

from sidecar.session.lifecycle.session_title import rename_stored
from sidecar.store.format.values import Owner, PutSession
from tests.session.conftest import Desk


async def test_what_another_daemon_writes_until_it_lets_go_is_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()
    store = session.environment.store

    async def acquired(*_: object) -> None:
        await store.write(PutSession(replace(session.row, turns=7)))

    monkeypatch.setattr(store.leases, "acquire", acquired)
    assert await rename_stored(store, session.id, Owner(1, "", "", "another"), " A\nname ")
    row = await store.sessions.row(session.id)
    assert (row.title, row.turns) == ("A name", 7)
