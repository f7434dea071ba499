"""What stays of typed messages: rules wherever they stood, first words, an id; all bounded."""

import pytest

from sidecar.core.ledger.units import Item
from sidecar.core.prompt.visibility import Dropped, Quoted, shorten
from tests.core.plans.test_rebuild import plan_of
from tests.core.policies.situations import history, saying
from tests.core.rules_said import RULES

FILLER = "The importer reads the rows and writes a line for each. It ran well for a while. "


def paste(item: Item, rule: str) -> Item:
    """Give a message of about 1,000 tokens with a rule in its middle."""
    return saying(item, f"{FILLER * 24}{rule} {FILLER * 24}")


def left(items: list[Item], window: int = 200_000) -> dict[str, str]:
    """Give each typed message as it stands after a rewrite; nothing for those that go."""
    plan = plan_of(items, cause="budget", window=window, limit=window - 4_000)
    assert plan is not None
    shown = {change.part_id: change.shown for change in plan.changes}
    return {
        item.unit.part_id: item.unit.text
        if (how := shown.get(item.unit.part_id)) is None
        else shorten(item.unit.text, how, item.unit.part_id)
        for item in items
        if item.unit.kind == "typed"
    }


@pytest.mark.parametrize("language", RULES)
def test_a_rule_in_the_middle_of_old_messages_stays(language: str) -> None:
    """Thirty long messages, of which the oldest hold rules: none of these has room to stay."""
    items = history("U10 A1 " + "U1000 A1 " * 30 + "U10 C9k; C10; C10")
    places = [n for n, item in enumerate(items) if item.unit.kind == "typed"][1:]
    rules = RULES[language]
    for place, rule in zip(places, rules, strict=False):
        items[place] = paste(items[place], rule)
    for place in places[len(rules) : -1]:
        items[place] = paste(items[place], "")
    told = left(items)
    for place, rule in zip(places, rules, strict=False):
        text = told[items[place].unit.part_id]
        assert rule in text
        assert text.startswith("The importer reads")
        assert f"recall p{place}" in text
        assert len(text) < 1_100


def test_an_old_message_of_some_lines_stays_whole_and_of_a_paste_both_ends() -> None:
    items = history("U10 A1 " + "U90 A1 U3k A1 " * 12 + "U10 C9k; C10; C10")
    rows = "\n".join(f"row {n} of the table that was pasted" for n in range(300))
    report = "\n".join(f"Line {n} of the report says so." for n in range(9))
    for place, item in enumerate(items):
        if item.tokens == 90:
            items[place] = saying(item, f"It is still broken:\n{report}")
        elif item.tokens == 3_000:
            items[place] = saying(item, f"It fails with these rows:\n{rows}\nDo both.")
    told = left(items)
    for item in items:
        text = told.get(item.unit.part_id, "")
        if item.tokens == 90:
            assert text == item.unit.text
        elif item.tokens == 3_000:
            assert "pasted\n⋯ lines " in text
            assert "left out\nrow " in text
            assert "\nDo both.\n[shortened:" in text


def test_however_many_messages_there_are_the_rest_is_bounded() -> None:
    items = history("U10 A1 " + "U340 A1 " * 1_000 + "U10 C9k; C10; C10")
    for place, item in enumerate(items):
        if item.tokens == 340:
            items[place] = saying(item, f"Never drop table_{place}. {FILLER * 16}")
    plan = plan_of(items, cause="budget", window=60_000, limit=56_000)
    assert plan is not None
    assert plan.tokens_after < 0.7 * 56_000
    shown = [change.shown for change in plan.changes]
    assert any(isinstance(how, Quoted) for how in shown)
    assert any(isinstance(how, Dropped) for how in shown)


def test_a_message_of_nothing_but_rules_is_bounded() -> None:
    items = history("U10 A1 U50k A1 U10 C9k; C10; C10")
    items[2] = saying(items[2], "\n".join(f"- Never touch file_{n}.py." for n in range(7_000)))
    told = left(items)["p2"]
    assert len(told) < 12_000
    assert "- Never touch file_6990.py.\n- Never touch file_6991.py." in told


def test_a_long_paste_keeps_whole_lines_of_both_ends_and_its_rules_of_prose() -> None:
    code = "\n".join(f"    call_{n}(rows); // BUG {n}: must not fail!" for n in range(900))
    said = "What is wrong?"
    pasted = f"Look at this:\n{code}\nNever touch the parser.\n{code}\n{said}"
    items = history("U10 A1 U50k A1 U10 C9k; C10; C10")
    items[2] = saying(items[2], pasted)
    told = left(items)["p2"].split("\n")
    gaps = [n for n, line in enumerate(told) if line.startswith("⋯ lines ")]
    whole = pasted.split("\n")
    first, second = gaps
    assert told[:first] == whole[:first]
    assert told[first + 1 : second] == ["Never touch the parser."]
    assert told[second + 1 : -1] == whole[second + 2 - len(told) :]
    assert told[-2:] == [said, "[shortened: recall p2 reads all of it]"]
    assert told[first] == f"⋯ lines {first + 1}-901 left out"
