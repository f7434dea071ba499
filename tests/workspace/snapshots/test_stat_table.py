"""Only what an `os.lstat` has proven is proven, and nothing that changed is."""

import os
import sys
from pathlib import Path

import pytest

from sidecar.workspace.snapshots.stat_table import AT_ONCE, StatTable, stat_table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the table is for Linux")


@pytest.fixture
def table(tmp_path: Path) -> StatTable:
    """Give a table of three files in two folders, all of them proven."""
    (tmp_path / "in").mkdir()
    for name in ("one", "two", "in/three"):
        (tmp_path / name).write_text(name)
    made = stat_table(os.fsencode(tmp_path))
    assert made is not None
    for path in (b"one", b"two", b"in", b"in/three"):
        made.doubt(path, known=True)
    assert made.suspects() == {b"one", b"two", b"in", b"in/three"}
    for path in made.suspects():
        made.prove(path)
    assert made.suspects() == set()
    return made


def test_what_changes_in_any_way_is_a_suspect(tmp_path: Path, table: StatTable) -> None:
    (tmp_path / "one").write_text("own")
    (tmp_path / "two").chmod(0o600)
    assert table.suspects() == {b"one", b"two"}
    (tmp_path / "in/new").write_text("")
    assert table.suspects() == {b"one", b"two", b"in"}
    (tmp_path / "in/three").unlink()
    (tmp_path / "in/three").symlink_to("new")
    assert table.suspects() == {b"one", b"two", b"in", b"in/three"}


def test_a_suspect_stays_one_until_it_is_proven(tmp_path: Path, table: StatTable) -> None:
    (tmp_path / "one").write_text("own")
    assert table.suspects() == table.suspects() == {b"one"}
    table.prove(b"one")
    assert table.suspects() == set()


def test_what_changed_after_the_look_is_not_what_is_proven(
    tmp_path: Path, table: StatTable
) -> None:
    table.doubt(b"one", known=True)
    assert table.suspects() == {b"one"}
    (tmp_path / "one").write_text("own")
    table.prove(b"one")
    assert table.suspects() == {b"one"}


def test_where_something_else_is_known_nothing_is_proven(table: StatTable) -> None:
    table.doubt(b"two", known=True)
    assert table.suspects() == {b"two"}


def test_proving_what_is_proven_takes_nothing_from_its_neighbours(table: StatTable) -> None:
    for path in (b"one", b"two", b"in", b"in/three"):
        table.prove(path)
    assert table.suspects() == set()


def test_what_is_gone_is_asked_about_until_that_is_known(tmp_path: Path, table: StatTable) -> None:
    (tmp_path / "two").unlink()
    assert table.suspects() == {b"two"}
    # There is no stat of it, so it cannot be proven to be as it was.
    table.prove(b"two")
    assert table.suspects() == {b"two"}
    table.doubt(b"two", known=False)
    assert table.suspects() == set()
    # Another name of a file that is proven: the stat of its neighbour must not stand for it.
    os.link(tmp_path / "one", tmp_path / "two")
    assert table.suspects() == {b"one", b"two"}


def test_more_paths_than_are_compared_at_once(tmp_path: Path) -> None:
    paths = [b"%d" % number for number in range(AT_ONCE * 2 + 3)]
    for path in paths:
        (tmp_path / os.fsdecode(path)).write_text("")
    table = stat_table(os.fsencode(tmp_path))
    assert table is not None
    for path in paths:
        table.doubt(path, known=True)
    for path in table.suspects():
        table.prove(path)
    assert table.suspects() == set()
    for path in (paths[0], paths[AT_ONCE], paths[-1]):
        (tmp_path / os.fsdecode(path)).write_text("x")
    assert table.suspects() == {paths[0], paths[AT_ONCE], paths[-1]}
