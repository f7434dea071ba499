"""What a replay bills, added up by hand: input costs 1, output 5, a write 1.25, a read 0.1."""

from dataclasses import replace

import pytest

from sidecar.core.plans.plan import Summary
from sidecar.core.policies.manual import Manual
from sidecar.replay.simulate import SimulatedRun, simulate
from tests.replay.talks import RATES, WINDOW, Scripted, shortened, talk


def bills(run: SimulatedRun) -> list[tuple[int, int, int]]:
    return [(sent.read, sent.write, sent.uncached) for sent in run.sent]


def manual(notation: str, static: int = 2_000) -> SimulatedRun:
    return simulate(talk(notation, static), Manual(), WINDOW, RATES)


def test_what_is_only_appended_is_read_and_the_new_is_written() -> None:
    run = manual("0: t1000 =20; 10: p500 =30; 20: p300 c700 =40")
    assert bills(run) == [(0, 3_000, 0), (3_000, 500, 0), (3_500, 1_000, 0)]
    written, read, answered = 4_500 * 1.25, 6_500 * 0.1, 90 * 5
    assert run.cost == pytest.approx(written + read + answered)
    assert [sent.prompt for sent in run.sent] == [3_000, 3_500, 4_500]
    assert (run.rewrites, run.summaries, run.over) == ((), 0, 0)


def test_an_entry_lives_five_minutes_from_the_start_of_the_request_that_last_used_it() -> None:
    assert bills(manual("0: t1000; 300: p500; 600: p500"))[1:] == [(3_000, 500, 0), (3_500, 500, 0)]
    assert bills(manual("0: t1000; 300.001: p500; 400: p500"))[1:] == [
        (0, 3_500, 0),
        (3_500, 500, 0),
    ]


def test_a_prompt_below_the_minimum_is_not_cached() -> None:
    run = manual("0: t23; 10: p1; 20: p1", static=1_000)
    assert bills(run) == [(0, 0, 1_023), (0, 1_024, 0), (1_024, 1, 0)]


def test_an_edit_falls_back_to_the_static_entry() -> None:
    policy = Scripted({2: shortened("p0", to=100)})
    run = simulate(talk("0: t1000; 10: c500; 20: p300; 30: p1"), policy, WINDOW, RATES)
    assert bills(run)[2:] == [(2_000, 900, 0), (2_900, 1, 0)]
    [rewrite] = run.rewrites
    assert (rewrite.step, rewrite.cause, rewrite.reason) == (2, "budget", "told to")
    assert (rewrite.before, rewrite.after, rewrite.cost) == (3_800, 2_900, 0.0)


def test_an_edit_keeps_what_stands_before_it() -> None:
    policy = Scripted({2: shortened("p1", to=100)})
    run = simulate(talk("0: t1000; 10: c500; 20: p300"), policy, WINDOW, RATES)
    assert bills(run)[2] == (3_000, 400, 0)


def test_static_text_is_written_for_an_hour_where_pauses_have_come_to_pay_for_that() -> None:
    policy = replace(Manual(), static_ttl="1h")
    run = simulate(talk("0: t1000; 600: p0; 1200: p500; 4800: p500"), policy, WINDOW, RATES)
    # Two pauses lose what an hour would have kept; the entry of the second return outlives a third.
    assert bills(run) == [(0, 3_000, 0), (0, 3_000, 0), (0, 3_500, 0), (2_000, 2_000, 0)]
    dear, cheap, read = 2_000 * 2, 3_000 + 3_000 + 1_500 + 2_000, 2_000
    assert run.cost == pytest.approx(dear + cheap * 1.25 + read * 0.1)


@pytest.mark.parametrize(("added", "read"), [(48, 3_000), (49, 2_000)])
def test_an_entry_is_found_from_a_breakpoint_at_most_19_positions_after_it(
    added: int, read: int
) -> None:
    # The edit spoils all that the second request wrote. The third has breakpoints at its end, and
    # 15 and 30 positions before it: of 50 positions, at 20, from where the first one is in reach.
    policy = Scripted({2: shortened("p1", to=5)})
    run = simulate(talk(f"0: t1000; 10: {'p10 ' * added}; 20: p10"), policy, WINDOW, RATES)
    assert bills(run)[2] == (read, 3_000 - read + 5 + added * 10, 0)


def test_a_run_of_calls_takes_two_positions_however_long_it_is() -> None:
    policy = Scripted({2: shortened("p1", to=5)})
    run = simulate(talk(f"0: t1000; 10: {'c10 ' * 60}; 20: p10"), policy, WINDOW, RATES)
    assert bills(run)[2] == (3_000, 605, 0)


def test_without_a_cheaper_read_nothing_is_cached() -> None:
    rates = replace(RATES, write=1.0, read=1.0)
    run = simulate(talk("0: t1000 =1; 10: p500 =1"), Manual(), WINDOW, rates)
    assert bills(run) == [(0, 0, 3_000), (0, 0, 3_500)]
    assert run.cost == pytest.approx(6_500 + 2 * 5)


def test_a_summary_asked_afresh_is_priced_by_what_it_sends() -> None:
    asked = Summary("fresh", 700, 40, calls=2)
    policy = Scripted({1: shortened("p0", to=100, summary=asked, note="note")})
    run = simulate(talk("0: t1000; 10: p500"), policy, WINDOW, RATES)
    [rewrite] = run.rewrites
    assert rewrite.cost == pytest.approx(2 * (700 + 40 * 5))
    # The note of 10 tokens and the summary stand where the typed text stood.
    assert (rewrite.before, rewrite.after, run.summaries) == (3_500, 2_650, 2)
    assert bills(run)[1] == (2_000, 650, 0)
    assert run.cost == pytest.approx(rewrite.cost + 3_000 * 1.25 + 2_000 * 0.1 + 650 * 1.25)


@pytest.mark.parametrize(("pause", "price"), [(300, 0.1), (301, 1.0)])
def test_a_summary_that_extends_the_prompt_reads_it_while_it_is_warm(
    pause: int, price: float
) -> None:
    policy = Scripted({1: shortened("p0", to=100, summary=Summary("extension", 1, 40))})
    run = simulate(talk(f"0: t1000; {pause}: p500"), policy, WINDOW, RATES)
    assert run.rewrites[0].cost == pytest.approx(3_500 * price + 40 * 5)


def test_cutting_what_was_never_sent_is_no_rewrite() -> None:
    policy = Scripted({1: shortened("p1", to=50)})
    run = simulate(talk("0: t1000; 10: c500; 20: p10"), policy, WINDOW, RATES)
    assert bills(run) == [(0, 3_000, 0), (3_000, 50, 0), (3_050, 10, 0)]
    assert run.rewrites == ()
    # Having cut it, the policy is asked once more: the prompt may still be too long.
    assert [situation.step for situation in policy.asked] == [0, 1, 1, 2]
    assert [standing.used for standing in policy.told] == [3_000, 3_500, 3_050, 3_060]


def test_what_is_cut_before_the_first_request_is_a_rewrite_as_in_a_session() -> None:
    policy = Scripted({0: shortened("p0", to=100)})
    run = simulate(talk("0: t1000 t50; 10: p10"), policy, WINDOW, RATES)
    assert run.sent[0].prompt == 2_150
    assert [(rewrite.before, rewrite.after) for rewrite in run.rewrites] == [(3_050, 2_150)]


def test_requests_that_the_window_cannot_hold_are_counted() -> None:
    # A sixteenth of the window is kept for the answer, and at least 4,000 tokens.
    assert manual("0: t91750; 10: p1; 20: p1").over == 2
    talked = talk("0: t9999; 10: p1; 20: p1", static=2_000)
    assert simulate(talked, Manual(), 16_000, RATES).over == 1


def test_a_small_window_has_a_small_static_part() -> None:
    run = simulate(talk("0: t1000", static=15_000), Manual(), 16_000, RATES)
    assert run.sent[0].prompt == 5_000


def test_a_policy_is_told_where_it_stands() -> None:
    policy = Scripted({2: shortened("p0", to=100)})
    simulate(talk("0: t1000; 10: p500; 20: c300 t50; 400: p5; 500: p5"), policy, WINDOW, RATES)
    told = policy.told
    assert [st.used for st in told] == [3_000, 3_500, 3_850, 2_955, 2_960]
    assert [st.newest for st in told] == [0, 0, 320, 0, 0]
    assert [st.base for st in told] == [2_000, 2_000, 2_000, 2_950, 2_950]
    assert [st.rent for st in told] == [0, 1_000, 2_500, 0, 5]
    assert [st.requests for st in told] == [0, 1, 2, 1, 2]
    assert [st.warm for st in told] == [False, True, True, False, True]
    assert [st.opens_turn for st in told] == [True, False, True, False, False]
    assert [st.cooling_ms for st in told] == [0, 10_000, 10_000, 380_000, 100_000]
    assert {(st.static, st.window, st.limit) for st in told} == {(2_000, 100_000, 93_750)}
    assert [asked.sent for asked in policy.asked] == [0, 1, 2, 4, 5]


def test_costs_alike_are_those_of_static_text_that_lives_an_hour() -> None:
    told = talk("0: t1000; 900: p500; 1800: p500; 2700: p10")
    short, long = (
        simulate(told, replace(Manual(), static_ttl=ttl), WINDOW, RATES) for ttl in ("5m", "1h")
    )
    assert short.alike == long.alike < long.cost < short.cost
