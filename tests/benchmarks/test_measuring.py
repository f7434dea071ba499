"""What is read off the requests of a played session: the figures are only as good as this."""

from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import in_row
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.visibility import Dropped, Note, Rewrite
from sidecar.core.text.identifiers import names_in
from sidecar.session.log.rewrite_records import Recorded
from tests.benchmarks.measuring import Figures, measure
from tests.benchmarks.playing import Asked, Piece, Played
from tests.replay.talks import talk

GOAL, NEXT = "Mend the_parser.", "Now the_lexer."
LEDGER = """\
recall {"id": "cmp_1"}
Failed, do not repeat:
- bash make → error: no rule
Changed: a.py
gone_line"""
EXCERPT = "bash (recall part_3):\nkept_line"


def conversation() -> Any:
    """A goal, a call that fails, an edit with a long result, another message; four requests."""
    made = talk("0: t10; 1: c20!; 2: c40; 3: t5")
    texts = (GOAL, "error: no rule", "kept_line\nlost_line\ngone_line", NEXT)
    units = [
        replace(unit, held=text, names=in_row(names_in(text)), part_id=PartId(f"part_{number}"))
        for number, (unit, text) in enumerate(zip(made.units, texts, strict=True), 1)
    ]
    units[1] = replace(units[1], tool="bash", argument="make")
    units[2] = replace(units[2], tool="edit", deeds=(TouchedFile("a.py", "edited"),))
    wanted = ("the_parser", "the_lexer", "kept_line", "gone_line", "lost_line")
    requests = (*made.requests[:3], replace(made.requests[3], far=wanted))
    return replace(made, units=tuple(units), requests=requests)


def said(text: str, tokens: int = 10, *, typed: bool = True) -> Piece:
    return Piece("text", typed, text, "", tokens)


def result(number: int, text: str, tokens: int) -> Piece:
    return Piece("result", False, text, f"call part_{number}", tokens)


FIRST, SECOND = said(GOAL), said(NEXT)
FAILED, EDITED = result(2, "error: no rule", 20), result(3, "kept_line\nlost_line\ngone_line", 60)
NOTES = said(EXCERPT, 8), said(LEDGER, 12)


def asked(*pieces: Piece, static: int = 100) -> Asked:
    return Asked(pieces, static, static + sum(p.tokens for p in pieces), 0, 0, 5, 0.5)


def played(*last: Piece) -> Played:
    """A session whose last request is made of these."""
    notes = (
        Note(PartId("n1"), EXCERPT, MessageId("m0"), "summary"),
        Note(PartId("n2"), LEDGER, MessageId("m0"), "ledger"),
    )
    shown = {PartId("part_2"): Dropped(), PartId("part_3"): Dropped()}
    rewrite = Rewrite("cmp_1", "budget", shown, notes)
    record = Recorded(rewrite, "economic", "", 190, 150, None, 3, None, True, 1.0)
    grown = (asked(FIRST), asked(FIRST, FAILED), asked(FIRST, FAILED, EDITED), asked(*last))
    told = [(3, asked(FIRST))]
    return Played(
        "one", 400, 300, [GOAL, GOAL, GOAL, NEXT], list(grown), told, [], [], conversation(),
        {PartId(f"part_{n}"): f"call part_{n}" for n in (2, 3)}, [record], 1.0,
    )  # fmt: skip


def figures(*last: Piece) -> Figures:
    return measure(played(*last))


def test_a_rewrite_is_what_its_first_request_shows() -> None:
    found = figures(FIRST, *NOTES, SECOND)
    [seen] = found.rewrites
    assert (seen.number, seen.cause, found.runways) == (3, "budget", [3])
    assert (seen.gone, seen.come, seen.compression) == (80, 20, 4.0)
    assert (seen.share, seen.of_budget) == (40 / 200, 140 / 300)
    assert (seen.unnamed, seen.largest[0]) == ((), ("text", 12))
    assert (found.summaries, found.most_calls, found.cost) == (1, 1, 2.5)
    assert (found.refused, found.over, found.lost, found.forgotten) == ([], 0, [], [])


def test_names_are_looked_for_where_the_request_has_them() -> None:
    found = figures(FIRST, *NOTES, SECOND)
    # Of the result two names stand in notes, and one can be recalled.
    assert (found.far, found.view, found.ledger, found.reach) == (5, 2, 4, 5)
    bare = figures(FIRST, NOTES[0], SECOND)
    assert (bare.view, bare.ledger, bare.reach) == (2, 3, 5)


@pytest.mark.parametrize(
    ("last", "lost"),
    [
        ((*NOTES, SECOND), [(3, "first", 4)]),
        ((FIRST, *NOTES), [(3, "latest", 3)]),
        ((said(GOAL[:9]), *NOTES, said(NEXT, typed=False)), [(3, "first", 4), (3, "latest", 3)]),
    ],
)
def test_a_typed_message_that_is_not_there_is_missed(
    last: tuple[Piece, ...], lost: list[tuple[int, str, int]]
) -> None:
    assert figures(*last).lost == lost


def test_what_no_note_says_is_missed() -> None:
    found = figures(FIRST, NOTES[0], SECOND)
    assert found.forgotten == ["bash make"]
    assert found.rewrites[0].unnamed == ("a.py",)
    assert figures(FIRST, FAILED, NOTES[0], SECOND).forgotten == []


def test_a_prompt_that_is_too_long_counts() -> None:
    assert figures(FIRST, *NOTES, SECOND, said("long", 200)).over == 1


def test_a_rewrite_that_no_request_shows_is_an_error() -> None:
    with pytest.raises(ValueError, match="no request shows"):
        figures(FIRST, FAILED, EDITED, SECOND)
