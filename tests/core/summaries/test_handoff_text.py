"""The draft of a handoff and the beginning of a fresh window, from one ledger."""

from typing import Any

from sidecar.core.ledger.ledger import read_ledger
from sidecar.core.ledger.milestone import Milestone
from sidecar.core.parts import Message, MessageId, PartId, SessionId, TextPart, TurnId
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.summaries.handoff_draft import (
    bootstrap,
    changes_since,
    draft,
    said_so,
)
from tests.core.ledger.test_inheritance import story
from tests.core.ledger.test_ledger import answer, call, typed
from tests.core.stated import stated

FACT = stated("Tabs,\nnot spaces.", source="turn2")


def checkpoint(messages: list[Message], **given: Any) -> Milestone:
    about = {"cwd": "/w/app", "branch": "main", "facts": (FACT,), **given}
    return Milestone(SessionId("ses_1"), "w", 7, 0, read_ledger(messages), **about)


def test_a_draft_says_it_all() -> None:
    told = draft(checkpoint(story()), "Parsers", "Write the lexer", ["b.py"], ["We use LR."])
    assert (
        told
        == """\
# Goal

Write the lexer

# Where this comes from

It goes on from the session “Parsers” in /w/app on branch main.
That session was asked:

> Build the parser

And later:

> Use tabs

# Done

- [x] Write it

# In progress

- [ ] Test it

# Planned

- [ ] Ship it

# Decisions and facts

- decision: Tabs, not spaces.
- We use LR.

# Tried and failed: do not repeat

- shell make → E boom

# Files

- b.py (created)
- c.py (deleted)
- a.py (edited)

# Commands that worked

- rm c.py
- pytest
"""
    )


def test_long_words_are_cut_and_old_ones_counted() -> None:
    many = [typed("g" * 9_000)]
    many += [typed(f"directive {n} " + "d" * 2_000, turn=f"turn{n}") for n in range(30)]
    told = draft(checkpoint(many), "", "Go on", (), ())
    assert "directive 29 " in told
    assert "directive 9 " not in told
    assert "after 10 other messages" in told
    assert f"\n> {'g' * 4_000} […]\n" in told
    newest = next(line for line in told.splitlines() if "directive 29 " in line)
    assert len(newest) == len("> ") + 800 + len(" […]")


def test_of_files_and_commands_the_likeliest_and_the_newest_are_listed() -> None:
    calls = [call("read_file", {"path": f"{n}.py"}) for n in range(30)]
    calls += [call("shell", {"command": f"make {n}"}, metadata={"exitCode": 0}) for n in range(20)]
    files = [f"{n}.py" for n in range(30)]
    told = draft(checkpoint([typed("Goal"), answer(*calls)]), "", "Go on", files, ())
    assert sum(".py (" in line for line in told.splitlines()) == 25
    assert "- 24.py (" in told
    listed = [line for line in told.splitlines() if line.startswith("- make ")]
    assert listed == [f"- make {n}" for n in range(19, 7, -1)]


def test_a_fresh_window_has_room_for_so_many_facts_and_the_newest() -> None:
    facts = tuple(stated(f"Fact {n} " + "word " * 70, source="turn2", at=n) for n in range(100))
    told = bootstrap(checkpoint(story(), facts=facts), "", "", (), ())
    listed = [line for line in told.splitlines() if line.startswith("- decision: Fact ")]
    assert listed[0].startswith("- decision: Fact 99 ")
    assert 1_300 < tokens_of("\n".join(listed)) <= 1_500


def test_nothing_is_told_of_nothing() -> None:
    told = draft(checkpoint([], facts=(), branch=""), "", "Begin", (), ())
    assert told == (
        "# Goal\n\nBegin\n\n# Where this comes from\n\nIt goes on from the session in /w/app.\n"
    )


def test_a_fresh_window_is_oriented_loaded_verified_and_resumes() -> None:
    drifted = ("a.py is gone; it was edited before.",)
    told = bootstrap(checkpoint(story()), "Parsers", "Ship it", ("We use LR.",), drifted)
    wanted = [
        "session “Parsers”", "Workspace: /w/app, branch main", "Goal now: Ship it",
        "Build the parser", "Failed, do not repeat:\n- shell make → E boom", "Changed:\n",
        "[~] Test it", "- decision: Tabs, not spaces.", "- We use LR.",
        "The workspace is not as it was left:\n- a.py is gone", "Resume with: Test it",
    ]  # fmt: skip
    places = [told.index(words) for words in wanted]
    assert places == sorted(places)
    same = bootstrap(checkpoint(story()), "", "", (), ())
    assert "nothing that is known of it has changed" in same
    assert "Goal now" not in same


def test_what_must_not_be_lost_is_told_whatever_its_length() -> None:
    tries = [
        answer(call("shell", {"command": f"try {n}"}, f"E no {n}", metadata={"exitCode": 1}))
        for n in range(900)
    ]
    told = bootstrap(checkpoint([typed("Goal"), *tries]), "", "", (), ())
    assert all(f"- shell try {n} →" in told for n in range(900))


def test_the_conversations_own_decisions_are_found() -> None:
    words = "We decided to keep the old lexer because `next_token` is used in four places."
    said = [TextPart(PartId("p"), words, "model")]
    message = Message(MessageId("m"), TurnId("turn1"), "assistant", tuple(said), 0)
    assert said_so([typed("Which one?"), message]) == (words,)
    assert said_so([]) == ()


def test_each_change_is_told_on_a_line() -> None:
    assert changes_since(("a", "b")).endswith("has changed:\n- a\n- b")
