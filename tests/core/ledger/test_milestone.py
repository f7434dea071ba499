"""Checkpoints: JSON and back, Markdown, and which may replace which."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.ledger import Command, Failure, File, Ledger, LedgerSubtask, Said, Todo
from sidecar.core.ledger.milestone import Milestone, from_json, may_replace, to_json, to_markdown
from sidecar.core.parts import MessageId, PartId, SessionId, TurnId
from tests.core.stated import stated

T, P = TurnId("t1"), PartId("p1")


def said(text: str) -> Said:
    return Said(text, T, MessageId("m1"))


FULL = Milestone(
    SessionId("ses_1"),
    "ses_1:2",
    17,
    1_700_000_000_000,
    Ledger(
        said("Write a parser.\n\n# Keep it small"),
        (said("Stop."),),
        (
            File("a.py", "edited", ("read", "edited"), T, ((1, 9),), ((3, 4), (8, 8)), "sha256:1"),
            File("b.py", "read", ("read",), T),
        ),
        (Command("make", 2, "Error: no rule", T, P), Command("ls", None, "", T, P)),
        (Failure("shell", "make", "Error: no rule", T, P),),
        Todo(("test",), ("write",), ("read", "think")),
        (LedgerSubtask("look", "done", "found", T, P),),
    ),
    (stated("Use a table", source=T),),
    "/work",
    "main",
    "turn",
)


def test_json_keeps_all_of_it() -> None:
    told = to_json(FULL)
    assert from_json(json.loads(json.dumps(told))) == FULL
    assert (told["windowId"], told["stateVersion"], told["sessionId"]) == ("ses_1:2", 17, "ses_1")
    assert (told["planned"], told["in_progress"], told["done"]) == (
        ["test"],
        ["write"],
        ["read", "think"],
    )
    bare = replace(FULL, ledger=Ledger(), facts=())
    assert from_json(json.loads(json.dumps(to_json(bare)))) == bare


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    listed = value if isinstance(value, list) else ()
    pairs = value.items() if isinstance(value, dict) else enumerate(listed)
    for key, inner in pairs:
        found += paths(inner, (*at, key))
    return found


@pytest.mark.parametrize("path", paths(to_json(FULL)), ids=str)
def test_what_is_of_another_shape_is_refused_in_words(path: tuple[Any, ...]) -> None:
    body: Any = copy.deepcopy(to_json(FULL))
    place = body
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = 1.5
    with pytest.raises(ValueError, match="checkpoint"):
        from_json(body)


@pytest.mark.parametrize("body", [None, [], {}, {"format": 2}])
def test_something_else_is_no_checkpoint(body: Any) -> None:
    with pytest.raises(ValueError, match="checkpoint"):
        from_json(body)


@given(st.integers(0, 99), st.integers(0, 99))
def test_an_older_one_never_replaces_a_newer_one(stored: int, coming: int) -> None:
    old, new = replace(FULL, state_version=stored), replace(FULL, state_version=coming)
    assert may_replace(old, new) is (coming >= stored)
    assert may_replace(None, new)


def test_people_read_it_as_markdown() -> None:
    assert (
        to_markdown(FULL, "2023-11-14 22:13:20 UTC")
        == """\
# Checkpoint of session ses_1

State version 17 in window ses_1:2, 2023-11-14 22:13:20 UTC.
Workspace /work, branch main.

## Goal

> Write a parser.
>
> # Keep it small

## Directives

> Stop.

## In progress

- [ ] write

## Planned

- [ ] test

## Done when

- `make` succeeds (last: exit 2)

## Done

- [x] read
- [x] think

## Subtasks

- look (done) found

## Failed approaches

- shell make → Error: no rule

## Changed files

- a.py (edited lines 3-4, 8)

## Read files

- b.py (read)

## Commands

- make, exit 2: Error: no rule
- ls

## Facts

- decision: Use a table (turn t1)
"""
    )
