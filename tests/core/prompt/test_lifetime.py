"""For how long the static text is written to the cache."""

import pytest

from sidecar.core.prompt.cache.lifetime import SHARE, Lifetime, is_kept, lifetime
from sidecar.core.prompt.cache_rules import MARKED

MINUTE = 60_000
TOKENS = 10_000
WRITE, DEAR, READ = 3.75e-6, 6e-6, 0.30e-6
PRICE = TOKENS * (DEAR - WRITE)
"""USD that one write for an hour costs more."""


def chosen(*pauses: int, spent: float = 0.0) -> Lifetime:
    """At a request that ends the last of the pauses, in minutes."""
    *starts, now = [MINUTE * sum(pauses[:n]) for n in range(len(pauses) + 1)]
    return lifetime(
        TOKENS, write_5m=WRITE, write_1h=DEAR, read=READ, starts=starts, now=now, spent=spent
    )


def test_a_session_begins_with_five_minutes_whatever_was_spent() -> None:
    assert chosen(spent=100.0).ttl == "5m"


def test_an_hour_is_taken_after_a_pause_where_its_price_is_small_beside_what_was_spent() -> None:
    assert chosen(10, spent=PRICE / SHARE + 1e-9).ttl == "1h"
    assert chosen(10, spent=PRICE / SHARE - 1e-9).ttl == "5m"


def test_an_hour_is_taken_once_the_session_s_own_pauses_would_have_paid_for_it() -> None:
    assert [chosen(*[10] * n).ttl for n in range(4)] == ["5m", "5m", "1h", "1h"]


def test_warm_requests_between_change_nothing() -> None:
    assert chosen(10, 1, 5, 1, 10) == chosen(10, 10)


def test_an_hour_does_not_outlast_longer_pauses() -> None:
    assert chosen(10, 90).ttl == "5m"
    assert chosen(*[90] * 9).ttl == "5m"
    assert chosen(60, 60).ttl == "1h"


def test_the_choice_is_told_in_dollars() -> None:
    found = chosen(10, 70, 20, 90, spent=0.5)
    assert found.cost == pytest.approx(3 * PRICE)
    assert found.saved == pytest.approx(2 * TOKENS * (WRITE - READ))
    assert found.reason == (
        "after 2 pauses of 5 to 60 min and 2 longer ones an hour costs 0.0675 USD more and saves "
        "0.0690 of writing again, and 0.5000 were spent"
    )


def test_what_was_written_is_read_until_its_lifetime_is_over() -> None:
    assert is_kept(MARKED.short, 0, 5 * MINUTE)
    assert not is_kept(MARKED.short, 0, 5 * MINUTE + 1)
    assert is_kept(MARKED.long, 0, 60 * MINUTE)
    assert not is_kept(MARKED.long, None, 0)
