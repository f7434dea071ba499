"""When a task is done, as a checkpoint says."""

import pytest

from sidecar.core.ledger.ledger import Command, Ledger, Said
from sidecar.core.ledger.milestone import MOST_CRITERIA, Milestone, done_when, to_markdown
from sidecar.core.parts import MessageId, PartId, SessionId, TurnId

T, P = TurnId("t1"), PartId("p1")


def said(text: str) -> Said:
    return Said(text, T, MessageId("m1"))


@pytest.mark.parametrize(
    ("text", "criteria"),
    [
        ("Write a parser. Go on until all tests pass.", ("Go on until all tests pass.",)),
        ("You are done when the page loads. Thanks.", ("You are done when the page loads.",)),
        ("Rename it; the build must still pass.", ("Rename it; the build must still pass.",)),
        ("Fix it. CI is green? Then commit.", ("CI is green?",)),
        ("Bau um. Die Tests müssen weiter bestehen.", ("Die Tests müssen weiter bestehen.",)),
        ("Mach weiter, bis alle Tests grün sind.", ("Mach weiter, bis alle Tests grün sind.",)),
        ("Which tests are there? Pass me the file.", ()),
    ],
)
def test_a_typed_sentence_says_when(text: str, criteria: tuple[str, ...]) -> None:
    assert done_when(Ledger(said(text))) == criteria
    assert done_when(Ledger(said("Hello."), (said(text), said(text)))) == criteria


def test_a_command_that_failed_last_must_succeed() -> None:
    ran = (
        Command("make", 2, "no rule", T, P),
        Command("ls", 0, "", T, P),
        Command("top", None, "", T, P),
    )
    ledger = Ledger(said("Go on until it works."), commands=ran)
    assert done_when(ledger) == ("Go on until it works.", "`make` succeeds (last: exit 2)")
    text = to_markdown(Milestone(SessionId("s"), "s:1", 1, 0, ledger), "today")
    assert "## Done when\n\n- Go on until it works.\n- `make` succeeds (last: exit 2)\n" in text


def test_of_many_the_newest_are_told() -> None:
    typed = tuple(said(f"Go on until {n} pass.") for n in range(MOST_CRITERIA + 3))
    assert done_when(Ledger(None, typed))[0] == "Go on until 3 pass."
