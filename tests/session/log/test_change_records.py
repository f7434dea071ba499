"""Change sets as a log has them: read once for each body, and the same as ever."""

import json

import pytest

from sidecar.core.files.changeset import ChangeSet, PathChange
from sidecar.core.files.tree import SnapshotId, TreeEntry
from sidecar.core.parts import Json
from sidecar.session.log import change_records
from sidecar.session.log.change_records import KnownSets, sets_from_json, sets_to_json

FILE = TreeEntry(0o100644, "b2:00", 3)


def body(name: bytes) -> Json:
    """A body as a store gives it: with lists of its own."""
    change = PathChange(name, "created", "tool", None, FILE)
    told: Json = json.loads(
        json.dumps(sets_to_json([ChangeSet(SnapshotId(1), SnapshotId(2), (change,))]))
    )
    return told


def test_each_body_is_read_once() -> None:
    known, bodies = KnownSets(), [body(b"a"), body(b"b"), body(b"a")]
    read = [known.read(one) for one in bodies]
    assert read == [sets_from_json(one) for one in bodies]
    assert all(known.read(one) is found for one, found in zip(bodies, read, strict=True))
    assert known.read([]) == ()


def test_a_body_that_only_it_keeps_is_never_taken_for_another() -> None:
    known = KnownSets()
    for number in range(200):
        # Made and dropped at once, so that each would take the id of the one before.
        assert known.read(body(b"%d" % number))[0].changes[0].path == b"%d" % number


def test_what_is_let_go_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_records, "MOST_KNOWN", 2)
    known = KnownSets()
    first = body(b"0")
    found = known.read(first)
    others = [body(b"1"), body(b"2"), body(b"3")]
    for one in others:
        known.read(one)
    again = known.read(first)
    assert again == found
    assert again is not found
