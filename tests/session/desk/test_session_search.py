"""A search of all sessions whose time runs out."""

from itertools import count

import pytest

from sidecar.session.desk.session_search import search
from tests.fakes.scripted_model import says
from tests.session.conftest import Desk


@pytest.mark.parametrize("step", [0.01, 0.3, 0.7, 1.1, 3.0])
async def test_pages_come_to_each_session_once_however_slow_they_are(
    desk: Desk, step: float
) -> None:
    made = []
    for number in range(4):
        session = await desk.open()
        for _ in range(number):
            desk.script(says("The needle."))
            await desk.ask(session, "look")
        made.append(session.id)
    ticks = count()
    cursor, found, pages = None, [], 0
    while pages < 10:
        store = session.environment.store
        page, cursor = await search(store, "needle", None, cursor, 9, lambda: next(ticks) * step)
        found += [(one.session.session_id, len(one.hits), one.more) for one in page]
        pages += 1
        if cursor is None:
            break
    assert [one[0] for one in found] == made[:0:-1]
    slow = step == 3.0
    expected = [(0, True)] * 3 if slow else [(3, False), (2, False), (1, False)]
    assert [one[1:] for one in found] == expected
    assert cursor is None
    assert pages == 4 or not slow
