"""The ledger in words: what must not be lost stands there, the rest as far as there is room."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.ledger import Command, Failure, File, Ledger, LedgerSubtask, Said, Todo
from sidecar.core.ledger.wording import render
from sidecar.core.parts import MessageId, PartId, TurnId
from sidecar.core.prompt.tokens import tokens_of

T, P = TurnId("t1"), PartId("p1")


def said(text: str) -> Said:
    return Said(text, T, MessageId("m1"))


FULL = Ledger(
    said("Write a parser.\n  Keep it small."),
    (said("Then\ntest it."), said("Now stop.\nReally.")),
    (
        File("read.py", "read", ("read",), T, read=((1, 20), (35, 35))),
        File("old.py", "deleted", ("deleted",), T),
        File("new.py", "created", ("created", "edited"), T, edited=((3, 8),)),
    ),
    (Command("make", 2, "Error: no rule", T, P), Command("ls", 0, "", T, P)),
    (Failure("shell", "make", "Error: no rule", T, P),),
    Todo(("test",), ("write",), ("read",)),
    (LedgerSubtask("look", "done", "found", T, P), LedgerSubtask("wait", "running", "", T, P)),
)
WORDS = """\
Goal, as the user typed it:
Write a parser.
  Keep it small.

Newest directive:
Now stop.
Really.

Failed, do not repeat:
- shell make → Error: no rule

Changed:
- new.py (created lines 3-8)
- old.py (deleted)

To do:
- [~] write
- [ ] test
- [x] read

Subtasks:
- wait (running)
- look (done) found

Earlier directives, newest first:
- Then test it.

Commands that worked, newest first:
- ls

Read, newest first:
- read.py (read lines 1-20, 35)"""


def test_all_of_it_stands_in_the_order_of_its_weight() -> None:
    assert render(FULL, 10_000) == WORDS
    assert render(Ledger(), 100) == ""


def test_without_room_there_is_what_must_not_be_lost() -> None:
    assert render(FULL, 0) == WORDS.partition("\n\nTo do:")[0]


def test_nothing_that_must_not_be_lost_is_ever_cut() -> None:
    goal = "goal " * 5_000
    failures = tuple(Failure("shell", f"try-{n}", f"error-{n}", T, P) for n in range(500))
    files = tuple(File(f"src/file_{n}.py", "edited", ("edited",), T) for n in range(500))
    told = render(replace(FULL, goal=said(goal), failures=failures, files=files), 100)
    assert goal in told
    assert all(f"try-{n} → error-{n}" in told for n in range(500))
    assert all(f"src/file_{n}.py" in told for n in range(460, 500))
    assert told.endswith("- and 460 more in src/")


def test_what_the_user_refused_is_no_failure() -> None:
    refused = Failure("shell", "git push", "refused by the user: not yet", T, P)
    told = render(replace(FULL, failures=(*FULL.failures, refused)), 0)
    assert "- shell make → Error: no rule\n\nRefused by the user:\n- shell git push → " in told


LINES = st.lists(st.text(alphabet="ab ", min_size=1, max_size=80), max_size=30).map(tuple)


@given(LINES, LINES, LINES, st.integers(0, 1_000))
def test_what_may_be_cut_holds_to_the_bound(planned, commands, directives, most) -> None:
    ledger = Ledger(
        directives=tuple(map(said, directives)),
        commands=tuple(Command(line, 0, "", T, P) for line in commands),
        todo=Todo(planned),
    )
    needed = tokens_of(render(ledger, 0))
    assert tokens_of(render(ledger, most)) <= max(most, needed)
    assert render(ledger, most) == render(ledger, most)
