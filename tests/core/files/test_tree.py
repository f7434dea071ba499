"""States of a folder as pure values: what differs, what it adds up to, what was renamed."""

import random
from itertools import pairwise

from sidecar.core.files.tree import Change, Entry, Rename, inverse, net, renames
from tests.core.trees import apply, compare

FILE = 0o100644
LINK = 0o120777
FOLDER = 0o040755


def a_file(content: str, mode: int = FILE) -> Entry:
    return Entry(mode, f"b2:{content}", len(content))


def test_a_comparison_names_each_path_that_differs_once_in_order() -> None:
    before = {b"a": a_file("1"), b"b": a_file("2"), b"d": Entry(FOLDER), b"\xff": a_file("3")}
    after = {b"a": a_file("1"), b"b": a_file("9"), b"c": a_file("4"), b"d": Entry(0o040700)}
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
    assert Change(b"p", one, Entry(LINK, "b2:1", 1)).kind == "replaced"
    assert Change(b"p", one, a_file("1", 0o100755)).kind == "mode"
    assert Change(b"p", one, Entry(0o100755, other.hash, other.size)).kind == "edited"
    large = Entry(FILE, size=9, lost="large", version=1)
    assert Change(b"p", large, Entry(FILE, size=9, lost="large", version=2)).kind == "edited"
    assert Change(b"p", Entry(FILE, lost="ignored"), one).kind == "seen"
    assert Change(b"p", one, Entry(FILE, lost="ignored")).kind == "lost"


def test_only_what_is_stored_can_be_restored() -> None:
    assert a_file("1").restorable
    assert Entry(FOLDER).restorable
    assert not Entry(FILE, size=9, lost="large").restorable


def test_deltas_add_up_to_the_difference_of_the_ends() -> None:
    dice = random.Random(4)
    for _ in range(200):
        states: list[dict[bytes, Entry]] = [{}]
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
    empty = Entry(FILE, "b2:", 0)
    assert renames(compare({b"a/x": empty}, {b"b/y": empty})) == ()
    assert renames(compare({b"a/x": empty}, {b"b/x": empty})) == (Rename(b"a/x", b"b/x"),)


def test_what_has_no_hash_is_never_a_rename() -> None:
    large = Entry(FILE, size=9, lost="large", version=7)
    assert renames(compare({b"a": large}, {b"b": large})) == ()
    assert renames(compare({b"a": a_file("1")}, {b"b": Entry(LINK, "b2:1", 1)})) == ()
