"""How often a log is folded: each fold looks through all of it."""

import pytest

from sidecar.session.lifecycle import log_window
from tests.session.conftest import Desk
from tests.session.lifecycle.test_log_window import long_work

pytestmark = pytest.mark.long


@pytest.mark.parametrize(("grown", "looks"), [(20, 2), (1, 1)])
async def test_after_a_rewrite_a_fold_waits_until_the_log_has_grown(
    desk: Desk, grown: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []
    monkeypatch.setattr(log_window, "LEAST", 3)
    monkeypatch.setattr(log_window, "SPACING", 10_000)
    monkeypatch.setattr(log_window, "GROWN", grown)
    monkeypatch.setattr(log_window, "gather", lambda *given: looked.append(given))
    await long_work(desk)
    assert len(looked) == looks
