"""What counts as still known: names far back, failed approaches, prose."""

from dataclasses import replace

from sidecar.core.ledger.units import Item, Unit, UnitKind
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.visibility import Dropped, Excerpt, Placeholder, Shown
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.rule_sentences import rules_in
from sidecar.replay.conversation import Request
from sidecar.replay.measures.measure import Memory

ASKED = Request(0, 0, 0, 0, False, 0, (), (), None)


def unit(name: str, kind: UnitKind, text: str, call: str = "", *, failed: bool = False) -> Unit:
    given = names_in(call)
    status = "exit 1" if failed else "ok"
    return Unit(
        *(PartId(name), MessageId("m"), 0, 0, kind, text, names_in(text) | given, given),
        *(call, "bash", call, status, failed),
        steps=(f"use {name}",),
    )


def item(of: Unit, shown: Shown | None = None) -> Item:
    return Item(of, 100, 10, shown)


def needed(memory: Memory, *names: str) -> tuple[int, int, int, int]:
    """How many of the names stand in whole parts, in view, in a ledger too, in reach too."""
    before = (memory.whole, memory.view, memory.ledger, memory.reach)
    memory.answer(replace(ASKED, far=names))
    after = (memory.whole, memory.view, memory.ledger, memory.reach)
    whole, view, ledger, reach = (b - a for a, b in zip(before, after, strict=True))
    return whole, view, ledger, reach


LOG = unit("p1", "call", "first_line\nsecond_line\nthird_line", "src/main.py")
TALK = unit("p2", "typed", "see fourth_line")


def memory(*units: Unit) -> Memory:
    made = Memory()
    for one in units:
        made.add(one)
    return made


def test_before_any_rewrite_everything_is_in_whole_parts() -> None:
    kept = memory(LOG, TALK)
    assert needed(kept, "second_line", "src/main.py", "fourth_line") == (3, 3, 3, 3)
    assert kept.far == 3


def test_lines_that_were_kept_are_in_view_and_the_others_one_recall_away() -> None:
    kept = memory(LOG, TALK)
    kept.rewrite([item(LOG, Excerpt(((2, 2),))), item(TALK)], covered=False)
    assert needed(kept, "fourth_line") == (1, 1, 1, 1)
    assert needed(kept, "second_line") == (0, 1, 1, 1)
    assert needed(kept, "src/main.py") == (0, 1, 1, 1)
    assert needed(kept, "third_line") == (0, 0, 0, 1)


def test_an_evicted_result_leaves_what_its_line_says() -> None:
    kept = memory(LOG)
    kept.rewrite([item(LOG, Placeholder())], covered=False)
    assert needed(kept, "src/main.py") == (0, 1, 1, 1)
    assert needed(kept, "first_line") == (0, 1, 1, 1)
    assert needed(kept, "second_line") == (0, 0, 0, 1)


def test_a_ledger_is_counted_apart_and_its_id_reaches_the_rest() -> None:
    kept = memory(LOG, TALK)
    note = item(unit("l1", "ledger", "files: src/main.py; names: second_line"))
    kept.rewrite([note, item(LOG, Dropped())], covered=True)
    assert needed(kept, "second_line") == (0, 0, 1, 1)
    assert needed(kept, "third_line", "fourth_line") == (0, 0, 0, 2)


def test_what_was_dropped_without_a_note_is_out_of_reach() -> None:
    kept = memory(LOG, TALK)
    kept.rewrite([item(LOG, Dropped()), item(TALK)], covered=False)
    assert needed(kept, "second_line") == (0, 0, 0, 0)
    assert needed(kept, "fourth_line") == (1, 1, 1, 1)


def test_an_excerpt_of_what_was_dropped_is_in_view_but_no_whole_part() -> None:
    kept = memory(LOG)
    kept.rewrite([item(unit("e1", "excerpt", "second_line"))], covered=False)
    assert needed(kept, "second_line") == (0, 1, 1, 1)
    assert needed(kept, "first_line") == (0, 0, 0, 0)


def test_a_name_that_stands_inside_another_word_in_view_is_in_view() -> None:
    kept = memory(LOG, TALK)
    kept.rewrite([item(unit("p3", "prose", "that is /deep/src/main.py.orig"))], covered=False)
    assert needed(kept, "src/main.py") == (0, 1, 1, 1)


def test_a_name_that_comes_again_is_known_again() -> None:
    kept = memory(LOG)
    kept.rewrite([], covered=False)
    assert needed(kept, "first_line") == (0, 0, 0, 0)
    kept.add(unit("p9", "call", "first_line"))
    assert needed(kept, "first_line") == (1, 1, 1, 1)


def test_an_earlier_note_still_reaches_what_it_covered_after_a_rewrite_without_one() -> None:
    kept = memory(LOG)
    note = item(unit("l1", "ledger", "[left out]"))
    kept.rewrite([note], covered=True)
    late = unit("p3", "call", "fifth_line")
    kept.add(late)
    kept.rewrite([note, item(late, Placeholder())], covered=False)
    assert needed(kept, "second_line", "fifth_line") == (0, 1, 1, 2)
    kept.rewrite([note], covered=False)
    assert needed(kept, "second_line") == (0, 0, 0, 1)
    assert needed(kept, "fifth_line") == (0, 0, 0, 0)
    kept.rewrite([], covered=False)
    assert needed(kept, "second_line") == (0, 0, 0, 0)


TRACE = "starting\nTraceback (most recent call last)\nValueError: no such colour\n"
FAILED = unit("p5", "call", TRACE, "make paint", failed=True)


def kept_failures(*items: Item) -> tuple[int, int]:
    made = memory(FAILED, LOG)
    made.finish(items)
    return made.failures, made.failures_kept


def test_a_failure_is_kept_where_its_call_and_its_error_can_be_read() -> None:
    assert kept_failures(item(FAILED)) == (1, 1)
    assert kept_failures(item(FAILED, Excerpt(((3, 3),)))) == (1, 1)
    assert kept_failures(item(FAILED, Excerpt(((1, 1),)))) == (1, 0)
    assert kept_failures(item(FAILED, Placeholder())) == (1, 1)
    assert kept_failures(item(FAILED, Dropped())) == (1, 0)
    assert kept_failures() == (1, 0)


def test_a_failure_is_kept_in_a_note_that_names_both() -> None:
    said = "failed: make paint -> ValueError: no such colour"
    assert kept_failures(item(unit("l1", "ledger", said))) == (1, 1)
    assert kept_failures(item(unit("l1", "ledger", "failed: make paint"))) == (1, 0)
    assert kept_failures(item(unit("l1", "ledger", "ValueError: no such colour"))) == (1, 0)


def test_prose_is_kept_in_place_or_by_its_first_words_and_remarks_do_not_count() -> None:
    said = "The colours come from a table that the build writes."
    prose, remark = unit("p6", "prose", said), unit("p7", "prose", "Done.")
    made = memory(prose, remark, TALK)
    made.finish([item(prose)])
    assert (made.prose, made.prose_kept) == (len(said), len(said))
    made = memory(prose)
    made.finish([item(prose, Dropped()), item(unit("e1", "excerpt", f"> {said[:45]}…"))])
    assert made.prose_kept == len(said)
    made = memory(prose)
    made.finish([item(prose, Dropped())])
    assert made.prose_kept == 0


TYPED = "Please paint it. Never touch generated.py. Is blue fine?"
RULES = replace(unit("p6", "typed", TYPED), rules=rules_in(TYPED))


def kept_constraints(*items: Item) -> tuple[int, int]:
    made = memory(RULES, LOG)
    made.finish(items)
    return made.constraints, made.constraints_kept


def test_a_typed_rule_is_kept_where_its_sentence_stands_whole() -> None:
    assert kept_constraints(item(RULES)) == (1, 1)
    assert kept_constraints(item(unit("l1", "ledger", "Rules:\n- Never touch generated.py."))) == (
        1,
        1,
    )
    assert kept_constraints(item(unit("l1", "ledger", "It touched generated.py."))) == (1, 0)
    assert kept_constraints() == (1, 0)
