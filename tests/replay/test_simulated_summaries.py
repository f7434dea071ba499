"""Summaries in a replay: billed in any case, worded where somebody words them."""

from sidecar.core.plans.plan import Plan, Situation, Summary
from sidecar.core.policies.presets.opencode import Opencode
from sidecar.core.summaries.model_summary import left_out, summary_before, summary_in, with_summary
from sidecar.replay.simulate import simulate
from tests.core.policies.situations import is_note
from tests.replay.talks import RATES, WINDOW, Scripted, shortened, talk

NOTATION = "0: t1000 p400; 10: c500; 20: p10 t20; 30: p10"
ASKED = Summary("fresh", 700, 40)


def worded(plan: Plan, situation: Situation) -> Plan:
    return with_summary(plan, f"So far {len(situation.items)} parts.", "model")


def script() -> Scripted:
    return Scripted({2: shortened("p1", to=50, note="changed: a.py", summary=ASKED)})


def test_words_take_the_place_that_was_reckoned_and_cost_nothing_more() -> None:
    silent = simulate(talk(NOTATION), script(), WINDOW, RATES)
    told = simulate(talk(NOTATION), script(), WINDOW, RATES, worded)
    assert [one.prompt for one in told.sent] == [one.prompt for one in silent.sent]
    assert told.rewrites == silent.rewrites
    assert (told.cost, told.summaries) == (silent.cost, 1)
    notes = [item.unit.text for item in told.items if is_note(item)]
    assert [summary_in(note) for note in notes] == ["So far 5 parts.", None]
    assert [item.unit.text for item in silent.items if is_note(item)] == notes[1:]


def test_what_the_last_request_held_is_given_as_it_was_shown() -> None:
    run = simulate(talk(NOTATION), script(), WINDOW, RATES)
    assert [i.unit.part_id for i in run.items if i.unit.kind != "ledger"] == [
        f"p{n}" for n in range(6)
    ]
    assert [i.unit.part_id for i in run.items if i.shown is not None] == ["p1"]
    assert sum(item.tokens for item in run.items) + 2_000 == run.sent[-1].prompt


def test_a_plan_without_a_summary_asks_for_no_words() -> None:
    asked: list[Plan] = []

    def note(plan: Plan, situation: Situation) -> Plan:
        asked.append(plan)
        return plan

    plain = Scripted({2: shortened("p1", to=50)})
    simulate(talk(NOTATION), plain, WINDOW, RATES, note)
    assert asked == []


def test_each_summary_replaces_the_one_before_and_stands_for_it_too() -> None:
    replaced: list[tuple[str, int]] = []

    def told(plan: Plan, situation: Situation) -> Plan:
        notes = [item for item in left_out(plan, situation) if is_note(item)]
        replaced.append((summary_before(plan, situation), len(notes)))
        return with_summary(plan, f"Summary {len(replaced)}.", "model")

    steps = "; ".join(f"{10 * n}: p100 c9000" for n in range(1, 40))
    run = simulate(talk(f"0: t500; {steps}"), Opencode(), 60_000, RATES, told)
    assert run.summaries == len(replaced) > 1
    assert replaced[0] == ("", 0)
    assert replaced[1:] == [(f"Summary {n}.", 2) for n in range(1, len(replaced))]
    held = [summary_in(i.unit.text) for i in run.items if is_note(i)]
    assert held == [f"Summary {len(replaced)}.", None]


def test_a_summary_that_stays_is_not_replaced() -> None:
    before: list[str] = []

    def told(plan: Plan, situation: Situation) -> Plan:
        before.append(summary_before(plan, situation))
        return with_summary(plan, "It went well.", "model")

    script = {step: shortened(part, to=50, summary=ASKED) for step, part in ((2, "p1"), (3, "p3"))}
    run = simulate(talk(NOTATION), Scripted(script), WINDOW, RATES, told)
    assert before == ["", ""]
    assert [i.unit.kind for i in run.items].count("excerpt") == 2
