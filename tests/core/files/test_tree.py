"""States of a folder as pure values: what differs, what it adds up to, what was renamed."""

import random
from itertools import pairwise

from sidecar.core.files.tree import Rename, TreeChange, TreeEntry, inverse, net, renames
from tests.core.trees import a_file, apply, compare

FILE = 0o100644
LINK = 0o120777
FOLDER = 0o040755


def test_a_comparison_names_each_path_that_differs_once_in_order() -> None:
    before = {b"a": a_file("1"), b"b": a_file("2"), b"d": TreeEntry(FOLDER), b"\xff": a_file("3")}
    after = {b"a": a_file("1"), b"b": a_file("9"), b"c": a_file("4"), b"d": TreeEntry(0o040700)}
    delta = compare(before, after)
    assert [(c.path, c.kind) for c in delta] == [
        (b"b", "edited"),
        (b"c", "created"),
        (b"d", "mode"),
        (b"\xff", "deleted"),
    ]
    assert compare(after, after) == ()


def test_a_change_has_one_name() -> None:
    one, other = a_file("1"), a_file("2")
    assert TreeChange(b"p", one, TreeEntry(LINK, "b2:1", 1)).kind == "replaced"
    assert TreeChange(b"p", one, a_file("1", 0o100755)).kind == "mode"
    assert TreeChange(b"p", one, TreeEntry(0o100755, other.hash, other.size)).kind == "edited"
    large = TreeEntry(FILE, size=9, lost="large", version=1)
    assert (
        TreeChange(b"p", large, TreeEntry(FILE, size=9, lost="large", version=2)).kind == "edited"
    )
    assert TreeChange(b"p", TreeEntry(FILE, lost="ignored"), one).kind == "seen"
    assert TreeChange(b"p", one, TreeEntry(FILE, lost="ignored")).kind == "lost"


def test_only_what_is_stored_can_be_restored() -> None:
    assert a_file("1").restorable
    assert TreeEntry(FOLDER).restorable
    assert not TreeEntry(FILE, size=9, lost="large").restorable


def test_deltas_add_up_to_the_difference_of_the_ends() -> None:
    dice = random.Random(4)
    for _ in range(200):
        states: list[dict[bytes, TreeEntry]] = [{}]
        for _ in range(6):
            state = dict(states[-1])
            for _ in range(4):
                path = b"p%d" % dice.randrange(6)
                if dice.random() < 0.4:
                    state.pop(path, None)
                else:
                    state[path] = a_file(str(dice.randrange(3)))
            states.append(state)
        deltas = [compare(one, other) for one, other in pairwise(states)]
        whole = net(deltas)
        assert whole == compare(states[0], states[-1])
        assert apply(states[0], whole) == states[-1]
        assert apply(states[-1], inverse(whole)) == states[0]


def test_a_rename_is_found_by_its_content() -> None:
    delta = compare(
        {b"a/x": a_file("1"), b"b/y": a_file("1"), b"z": a_file("2")},
        {b"c/y": a_file("1"), b"c/new": a_file("1"), b"z2": a_file("3")},
    )
    assert renames(delta) == (Rename(b"a/x", b"c/new"), Rename(b"b/y", b"c/y"))


def test_an_empty_file_is_renamed_only_under_its_name() -> None:
    empty = TreeEntry(FILE, "b2:", 0)
    assert renames(compare({b"a/x": empty}, {b"b/y": empty})) == ()
    assert renames(compare({b"a/x": empty}, {b"b/x": empty})) == (Rename(b"a/x", b"b/x"),)


def test_what_has_no_hash_is_never_a_rename() -> None:
    large = TreeEntry(FILE, size=9, lost="large", version=7)
    assert renames(compare({b"a": large}, {b"b": large})) == ()
    assert renames(compare({b"a": a_file("1")}, {b"b": TreeEntry(LINK, "b2:1", 1)})) == ()
