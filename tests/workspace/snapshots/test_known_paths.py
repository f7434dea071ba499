"""What is known of a workspace: no burden on the search for garbage, and when a stat is proof."""

import gc
import os
from pathlib import Path

import pytest

from sidecar.core.files.tree import TreeEntry
from sidecar.workspace.snapshots.known_paths import lasting, seen_of


def test_what_lasts_is_not_searched_for_garbage() -> None:
    with lasting():
        assert not gc.isenabled()
        made: list[object] = [[] for _ in range(3)]
    assert gc.isenabled()
    searched = {id(one) for one in gc.get_objects()}
    assert searched.isdisjoint(map(id, made))
    gc.unfreeze()


def test_the_search_goes_on_after_a_failure() -> None:
    with pytest.raises(OSError, match="gone"), lasting():
        raise OSError("gone")
    assert gc.isenabled()


SECOND = 1_700_000_000_000_000_000
FINE = SECOND + 123_456_789


@pytest.mark.parametrize(
    ("stamp", "later_ms", "racy"),
    [
        (SECOND, 1_900, True), (SECOND, 2_100, False),
        (FINE, 100, True), (FINE, 400, False),
        # A clock of milliseconds may belong to a file system that has no more of it.
        (SECOND + 120_000_000, 1_900, True), (SECOND + 120_000_000, 2_300, False),
        (FINE, -1_000, True),
    ],
)  # fmt: skip
def test_a_stat_is_no_proof_within_the_grain_of_its_time_stamp(
    tmp_path: Path, stamp: int, later_ms: int, racy: bool
) -> None:
    (tmp_path / "file").touch()
    stamps = {"st_mtime_ns": stamp, "st_ctime_ns": stamp}
    found = os.stat_result(os.lstat(tmp_path / "file")[:10], stamps)
    assert seen_of(TreeEntry(found.st_mode), found, stamp // 1_000_000 + later_ms).racy == racy
