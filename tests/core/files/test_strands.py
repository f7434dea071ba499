"""Whose part of what became of a path is left to undo."""

import random
import sys
from dataclasses import replace
from typing import cast

import pytest

from sidecar.core.files.changeset import Author, ChangeSet, PathChange
from sidecar.core.files.strands import Strand, strands
from sidecar.core.files.tree import SnapshotId, TreeEntry

FILE = 0o100644


def entry(content: str) -> TreeEntry | None:
    return TreeEntry(FILE, f"b2:{content}", 1) if content else None


def follow(*steps: str, now: str | None = None, take_unknown: bool = False) -> Strand:
    """Follow `tool:1>2`: who, and from what to what; nothing is absence."""
    sets = []
    for number, step in enumerate(steps):
        who, _, states = step.partition(":")
        old, _, new = states.partition(">")
        change = PathChange(b"p", "modified", cast("Author", who), entry(old), entry(new))
        sets.append(ChangeSet(SnapshotId(number), SnapshotId(number + 1), (change,)))
    last = steps[-1].partition(">")[2] if now is None else now
    standing = entry(last)
    now_there = {} if standing is None else {b"p": standing}
    return strands(sets, now_there, take_unknown=take_unknown)[b"p"]


def left(strand: Strand) -> str:
    def short(state: TreeEntry | None) -> str:
        return "" if state is None else state.hash.removeprefix("b2:")

    return " ".join(
        f"{'agent' if part.agent else 'others'}:{short(part.old)}>{short(part.new)}"
        for part in strand.parts
    )


def test_parts_of_one_side_in_a_row_are_one() -> None:
    assert left(follow("tool:1>2", "shell:2>3")) == "agent:1>3"
    assert left(follow("tool:1>2", "user:2>3", "user:3>4")) == "agent:1>2 others:2>4"


def test_what_comes_before_the_agent_is_not_undone() -> None:
    assert left(follow("user:1>2", "tool:2>3")) == "agent:2>3"
    # Also where the agent led back to what was there before the user.
    assert left(follow("user:1>2", "tool:2>1")) == "agent:2>1"


def test_a_gap_is_others_doing() -> None:
    assert left(follow("tool:1>2", "tool:3>4")) == "agent:1>2 others:2>3 agent:3>4"
    assert left(follow("tool:1>2", now="5")) == "agent:1>2 others:2>5"
    assert left(follow("tool:1>2", now="")) == "agent:1>2 others:2>"


def unknown(strand: Strand) -> str:
    part = strand.unknown
    return "" if part is None else left(replace(strand, parts=(part,))).removeprefix("agent:")


def test_what_is_unknown_is_undone_only_if_it_is_taken_for_the_agents() -> None:
    for steps, others, which, agents in (
        (["unknown:1>2"], "", "1>2", "agent:1>2"),
        (["unknown:1>2", "unknown:2>3"], "", "1>3", "agent:1>3"),
        (["tool:1>2", "unknown:2>3"], "agent:1>2 others:2>3", "2>3", "agent:1>3"),
        (["unknown:1>2", "tool:2>3"], "agent:2>3", "1>2", "agent:1>3"),
        (["unknown:1>2", "tool:2>1"], "agent:2>1", "1>2", ""),
        (["unknown:1>", "tool:>2"], "agent:>2", "1>", "agent:1>2"),
    ):
        strand = follow(*steps)
        assert (left(strand), unknown(strand)) == (others, which)
        taken = follow(*steps, take_unknown=True)
        assert left(taken) == agents
        assert taken.taken


def test_what_is_unknown_is_others_where_they_changed_it_just_before_or_after() -> None:
    for steps in (
        ["unknown:1>2", "user:2>3"],
        ["user:1>2", "unknown:2>3"],
        ["user:1>2", "unknown:2>3", "unknown:3>4", "user:4>5"],
    ):
        for take in (False, True):
            strand = follow(*steps, take_unknown=take)
            assert (left(strand), unknown(strand), strand.ever) == ("", "", False)
    assert unknown(follow("unknown:1>2", now="3")) == ""
    after = follow("tool:1>2", "unknown:2>3", "user:3>4", take_unknown=True)
    assert (left(after), unknown(after)) == ("agent:1>2 others:2>4", "")


def test_what_is_unknown_and_was_taken_back_is_nothing_any_more() -> None:
    for steps in (
        ["unknown:1>2", "restore:2>1"],
        ["unknown:1>2", "tool:2>3", "restore:3>1"],
        ["tool:1>2", "unknown:2>3", "restore:3>1"],
        ["unknown:1>2", "unknown:2>1"],
    ):
        for take in (False, True):
            strand = follow(*steps, take_unknown=take)
            assert (left(strand), unknown(strand)) == ("", "")
    kept = follow("unknown:1>2", "tool:2>3", "restore:3>2")
    assert (left(kept), unknown(kept)) == ("", "1>2")


def test_what_was_taken_back_leaves_nothing() -> None:
    for steps in (
        ("tool:1>2", "shell:2>1"),
        ("tool:1>2", "user:2>1"),
        ("tool:1>2", "user:2>3", "tool:3>1"),
        ("user:1>2",),
        ("tool:>2", "user:2>", "user:>3"),
    ):
        assert left(follow(*steps)) == "", steps
    assert follow("tool:1>2", "user:2>1").ever
    assert not follow("user:1>2").ever


def test_what_the_agent_threw_away_later_is_still_to_undo() -> None:
    steps = ("tool:1>2", "user:2>1", "user:1>3", "tool:3>1", "user:1>4")
    assert left(follow(*steps)) == "agent:3>1 others:1>4"
    assert left(follow(*steps[2:])) == "agent:3>1 others:1>4"


def test_what_the_user_did_and_took_back_is_no_change() -> None:
    assert left(follow("tool:1>2", "user:2>3", "user:3>2", "tool:2>4")) == "agent:1>4"


def test_a_restore_and_its_redo_leave_the_users_part_the_users() -> None:
    assert left(follow("tool:1>2", "user:2>3", "tool:3>1", "tool:1>3")) == ("agent:1>2 others:2>3")
    assert left(follow("tool:1>2", "user:2>3", "tool:3>1", "tool:1>4")) == "agent:1>4"


def test_a_merge_leaves_nothing_of_the_agents_until_it_is_undone() -> None:
    merged = ("tool:1>2", "user:2>3", "merge:3>4")
    strand = follow(*merged)
    assert (left(strand), strand.ever) == ("", True)
    assert left(follow(*merged, "restore:4>3")) == "agent:1>2 others:2>3"
    assert left(follow(*merged, "restore:4>3", "merge:3>4")) == ""
    assert left(follow(*merged, "tool:4>5")) == "agent:4>5"
    assert left(follow(*merged, "user:4>5", "restore:5>6")) == "agent:5>6"


def test_what_the_agent_left_is_told_apart_from_what_others_made_of_it() -> None:
    strand = follow("tool:1>2", "user:2>3", "tool:3>4", "user:4>5", "tool:5>6")
    assert (strand.target, strand.left) == (entry("1"), entry("4"))
    assert strand.changed
    assert follow("tool:1>2").left == entry("2")
    assert not follow("tool:1>2").changed


def uncircled(steps: list[str]) -> list[str]:
    """Leave out, one after the other, what one side did and took back at once."""
    kept: list[str] = []
    for step in steps:
        kept.append(step)
        who, _, states = step.partition(":")
        for at in range(len(kept) - 1, -1, -1):
            if not kept[at].startswith(f"{who}:"):
                break
            if kept[at].partition(":")[2].partition(">")[0] == states.partition(">")[2]:
                del kept[at:]
                break
    return kept


@pytest.mark.parametrize("seed", range(12))
def test_circles_in_long_walks_leave_nothing(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(50):
        at, steps = "0", []
        for _ in range(dice.randrange(1, 40)):
            to = dice.choice("0123456789"[: dice.choice((3, 10))])
            if to != at:
                steps.append(f"{dice.choice(('tool', 'tool', 'user'))}:{at}>{to}")
            at = to
        if steps:
            fewer = uncircled(steps)
            assert left(follow(*steps)) == (left(follow(*fewer)) if fewer else ""), steps


def test_a_path_that_changed_ever_so_often_is_followed_in_as_many_steps() -> None:
    def calls(changes: int) -> int:
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        steps = [f"tool:{number}>{number + 1}" for number in range(changes)]
        sys.setprofile(count)
        try:
            follow(*steps)
        finally:
            sys.setprofile(None)
        return counted

    assert calls(1_000) < 11 * calls(100)


def moved(old: str, new: str, author: Author = "shell") -> ChangeSet:
    change = PathChange(new.encode(), "renamed", author, entry("1"), entry("1"), old.encode())
    return ChangeSet(SnapshotId(0), SnapshotId(1), (change,))


def test_moves_are_followed_to_where_a_file_was_first() -> None:
    one = entry("1")
    assert one is not None
    found = strands([moved("a", "b"), moved("b", "c")], {b"c": one})
    assert {path: strand.source for path, strand in found.items()} == {
        b"a": None,
        b"b": None,
        b"c": b"a",
    }
    back = strands([moved("a", "b"), moved("b", "a")], {b"a": one})
    assert all(strand.source is None and not strand.parts for strand in back.values())
    users = strands([moved("a", "b"), moved("b", "c", "user")], {b"c": one})
    assert users[b"c"].source is None
    gone = PathChange(b"b", "deleted", "user", one, None)
    removed = ChangeSet(SnapshotId(1), SnapshotId(2), (gone,))
    assert strands([moved("a", "b"), removed], {})[b"b"].source is None
