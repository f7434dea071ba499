"""The past that alerts are computed from: bounded, in order, by session."""

from typing import Any

from sidecar.core.parts import Usage
from sidecar.observe.alerts.recent_past import (
    KEPT,
    TURNS,
    Minute,
    RecentPast,
    SessionStanding,
    after,
)
from tests.observe.seen import (
    NOW,
    SES,
    asked,
    closed,
    repeated,
    rewritten,
    snapshot_taken,
    turn_done,
)


def past_of(*seen: Any) -> RecentPast:
    past = RecentPast()
    for one in seen:
        past = after(past, one)
    return past


def test_requests_are_added_up_by_the_minute() -> None:
    past = past_of(
        asked(NOW),
        asked(NOW + 59_999, error="context_overflow", cost=None),
        asked(NOW + 60_000, purpose="summary", cost=0.25),
        asked(NOW + 60_000, purpose="compaction", cost=0.25),
    )
    first, second = past.minutes
    assert first == Minute(NOW // 60_000, requests=2, refused=1, spent=0.01)
    assert (second.number, second.spent, second.summarising) == (first.number + 1, 0.5, 0.5)


def test_only_what_the_cache_could_serve_counts_as_repeated() -> None:
    miss = asked(NOW, Usage(input=500, requests=1), break_=("expired", "static"))
    [minute] = past_of(asked(NOW), repeated(NOW, 900, 100), miss).minutes
    assert (minute.requests, minute.repeated) == (3, 2)
    assert (minute.prompt, minute.read) == (1500, 900)


def test_what_is_long_ago_is_forgotten() -> None:
    past = past_of(*(asked(NOW + each * 60_000) for each in range(3 * KEPT)))
    assert len(past.minutes) == KEPT
    assert [m.number for m in past.within(NOW + 3 * KEPT * 60_000, 5)] == [
        NOW // 60_000 + 3 * KEPT - back for back in (4, 3, 2, 1)
    ]


def test_a_clock_that_steps_back_breaks_no_order() -> None:
    past = past_of(asked(NOW), asked(NOW - 600_000), asked(NOW + 60_000))
    assert [m.requests for m in past.minutes] == [2, 1]


def test_a_session_stands_as_its_newest_turns_left_it() -> None:
    past = past_of(*(turn_done(used) for used in (10_000, 20_000, 30_000, 40_000)))
    assert past.sessions[SES].used == (0.2, 0.3, 0.4)
    assert TURNS == 3
    assert past.sessions[SES].tool_results == 0.1


def test_evictions_are_counted_by_turn() -> None:
    others = rewritten(opens=False), rewritten(shown=())
    past = past_of(turn_done(), rewritten(), *others, rewritten())
    assert (past.sessions[SES].evictions, past.sessions[SES].evicting) == (0, 2)
    assert after(past, turn_done()).sessions[SES].evictions == 2
    assert after(after(past, turn_done()), turn_done()).sessions[SES].evictions == 0


def test_only_whole_rewrites_say_how_well_it_went() -> None:
    past = past_of(rewritten(), rewritten(opens=False, compression=1.0), rewritten(cause="undo"))
    assert (past.sessions[SES].compression, past.sessions[SES].fidelity) == (4.0, 0.9)


def test_a_closed_session_is_forgotten() -> None:
    past = past_of(turn_done(), turn_done(session="ses_2"), closed())
    assert list(past.sessions) == ["ses_2"]


def test_other_observations_change_nothing() -> None:
    past = RecentPast(sessions={SES: SessionStanding()})
    assert after(past, snapshot_taken(0.1)) is past


def test_the_default_policy_is_no_news_by_itself() -> None:
    bad = {"policy": "economic", "fidelity": 0.2, "compression": 1.1}
    ordinary = past_of(rewritten(**bad), rewritten(cause="idle", **bad)).sessions[SES]
    assert (ordinary.compression, ordinary.fidelity) == (None, None)
    asked = past_of(rewritten(cause="user", **bad)).sessions[SES]
    assert (asked.compression, asked.fidelity) == (1.1, 0.2)
