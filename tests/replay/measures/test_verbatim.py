"""Whether needed text stands in view, and what its re-reads cost."""

from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.visibility import Dropped, Excerpt, Placeholder, Shown
from sidecar.replay.measures.needs import NeededEdit, NeededLine, Needs
from sidecar.replay.measures.verbatim import ASKING, VerbatimMeasure, VerbatimTally
from tests.replay.talks import RATES

READ = PartId("p1")
TEXT = "def first():\n    return 1"
SHOWN = f"{TEXT}\n\n\ndef second():\n    return first() + 1"
LINE = "return first() + 1"
AROUND = ("def second():", LINE)


def edit(*, far: bool = True, of_call: bool = False) -> Needs:
    return Needs((NeededEdit(TEXT, ((READ, of_call),), far, AROUND),))


def measured(*items: Item, needs: Needs, times: int = 1) -> VerbatimTally:
    measure = VerbatimMeasure(dict.fromkeys(range(times), needs), {READ: 400}, RATES)
    if items:
        measure.rewrite(items)
    for step in range(times):
        measure.answer(step, 10_000)
    return measure.tally


def item(shown: Shown | None, name: PartId = READ, text: str = SHOWN) -> Item:
    return Item(Unit(name, MessageId("m"), 0, 0, "call", text), 400, 40, shown)


def note(text: str) -> Item:
    return Item(Unit(PartId("n1"), MessageId("m"), 0, 0, "ledger", text), 10)


def image(text: str) -> Item:
    return Item(Unit(PartId("n2"), MessageId("m"), 0, 0, "image", text), 10)


def test_an_image_of_a_file_counts_where_no_gap_divides_the_text() -> None:
    found = measured(item(Dropped()), image(f"a.py\n[lines 1-2]\n{TEXT}"), needs=edit())
    assert (found.edits_kept, found.rereads) == (1, 0)
    gap = TEXT.replace("\n", "\n⋯ lines 2-9 left out\n")
    assert measured(item(Dropped()), image(gap), needs=edit()).edits_kept == 0


def test_before_any_rewrite_all_stands() -> None:
    found = measured(needs=edit())
    assert (found.edits, found.edits_kept, found.far_edits, found.far_edits_kept) == (1, 1, 1, 1)
    assert (found.around, found.around_kept, found.rereads) == (2, 2, 0)


def test_a_text_that_is_left_out_is_missing() -> None:
    for shown in (Dropped(), Placeholder(), Excerpt(((1, 1),))):
        found = measured(item(shown), needs=edit())
        assert (found.edits_kept, found.far_edits_kept, found.rereads) == (0, 0, 1)


def test_a_near_edit_is_no_far_one() -> None:
    found = measured(item(Dropped()), needs=edit(far=False))
    assert (found.edits, found.far_edits, found.far_edits_kept) == (1, 0, 0)


def test_lines_in_one_piece_stand_and_lines_from_here_and_there_do_not() -> None:
    assert measured(item(Excerpt(((1, 2),))), needs=edit()).edits_kept == 1
    lifted = note("def first():\nreturn 1")
    assert measured(item(Dropped()), lifted, needs=edit()).edits_kept == 0
    assert (
        measured(item(Dropped()), note(f"a.py as it stands:\n{TEXT}"), needs=edit()).edits_kept == 1
    )


def test_the_input_of_a_call_stands_as_long_as_the_call_does() -> None:
    assert measured(item(Placeholder()), needs=edit(of_call=True)).edits_kept == 1
    assert measured(item(Dropped()), needs=edit(of_call=True)).edits_kept == 0


def test_the_neighbourhood_is_counted_by_lines() -> None:
    found = measured(item(Excerpt(((1, 2), (6, 6)))), needs=edit())
    assert (found.around, found.around_kept) == (2, 1)


def test_a_block_is_read_again_once_and_stands_until_the_next_rewrite() -> None:
    found = measured(item(Dropped()), needs=edit(), times=3)
    assert (found.edits, found.edits_kept, found.rereads) == (3, 2, 1)
    price = 10_000 * RATES.read + 400 * RATES.write + ASKING * RATES.output
    assert found.reread_cost == price
    measure = VerbatimMeasure({0: edit(), 1: edit()}, {READ: 400}, RATES)
    for step in range(2):
        measure.rewrite([item(Dropped())])
        measure.answer(step, 0)
    assert measure.tally.rereads == 2


def test_a_missing_line_is_counted_and_not_read_again() -> None:
    again = Needs(lines=(NeededLine(LINE, ((READ, False),)),))
    found = measured(item(Dropped()), needs=again)
    assert (found.lines, found.lines_kept, found.rereads) == (1, 0, 0)
    assert measured(item(Dropped()), note(f"  {LINE}"), needs=again).lines_kept == 1
    assert measured(item(Dropped()), note(f"so {LINE}"), needs=again).lines_kept == 0


def test_what_is_needed_after_a_rewrite_stands_comes_back_by_its_id_or_is_gone() -> None:
    again = Needs(lines=(NeededLine(LINE, ((READ, False),)),))
    cases: list[tuple[tuple[Item, ...], tuple[int, int, int]]] = [
        ((), (0, 0, 0)),
        ((item(None),), (1, 1, 0)),
        ((item(Placeholder()),), (1, 0, 1)),
        ((item(Dropped()), note(f"a.py: recall {READ}")), (1, 0, 1)),
        ((item(Dropped()), note("a.py was read")), (1, 0, 0)),
    ]
    for items, counts in cases:
        for needs in (edit(), again):
            found = measured(*items, needs=needs)
            assert (found.later, found.stood, found.came_back) == counts
    left = (
        item(Dropped()),
        note('recall {"id": "cmp_1"} lists it all; with "pattern" it searches.'),
    )
    assert measured(*left, needs=again).came_back == 1
    assert measured(*left, needs=edit()).came_back == 0


def test_tallies_add_up() -> None:
    both = VerbatimTally(edits=1, reread_cost=0.5)
    both.add(VerbatimTally(edits=2, lines=3, reread_cost=0.25))
    assert both == VerbatimTally(edits=3, lines=3, reread_cost=0.75)
