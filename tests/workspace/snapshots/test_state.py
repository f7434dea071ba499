"""What is known of a workspace does not slow down the search for garbage."""

import gc

import pytest

from sidecar.workspace.snapshots.state import lasting


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
