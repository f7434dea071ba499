"""Many sessions, many daemons, a long day: nothing is lost, nobody reads of a lock, memory is flat.

`SIDECAR_LOAD=full` makes them as large as they are promised: 50 sessions in each of 8 daemons,
a day in rounds of a minute, a session of 100,000 parts. `python -m tests.benchmarks load` prints
figures.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.load.replaying import GIVEN_UP, replay
from tests.load.resuming import resume
from tests.load.runs import share_a_store, soak, stream_at_once

FULL = os.environ.get("SIDECAR_LOAD") == "full"
FLAT = 5 * 1024 * 1024
SLICED = 12 * 1024 * 1024
"""What a slice, the window and what waits for the client may take."""


def test_fifty_sessions_stream_at_once_and_each_gets_its_own_text(tmp_path: Path) -> None:
    found = stream_at_once(tmp_path, sessions=50, turns=3 if FULL else 1, length=15)
    assert len(found.took.turn) == 50 * (3 if FULL else 1)
    # The provider alone takes longer for them one after the other.
    assert max(found.took.turn) < 50 * 15 * 0.02


def test_daemons_on_one_store_lose_nothing_and_never_speak_of_a_lock(tmp_path: Path) -> None:
    count, sessions, turns = (8, 50, 4) if FULL else (3, 2, 2)
    found = share_a_store(tmp_path, count, sessions, turns)
    assert found.prompts == count * sessions * turns
    assert found.disputed == count


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_flat_over_a_day(tmp_path: Path) -> None:
    rounds = 24 * 60 if FULL else 20
    found = soak(tmp_path, rounds)
    assert found.prompts == rounds * 5 - 6, "a call and a hello to each of at most four"
    assert found.growth(warm_up=rounds // 3) < FLAT, [m // 1024 for m in found.memory]


def test_a_long_session_resumes_by_a_window_of_its_log(tmp_path: Path) -> None:
    parts = 100_000 if FULL else 4_000
    empty, long = resume(tmp_path, parts, rounds=4 if FULL else 2)
    assert min(long.firsts[1:]) < long.firsts[0] / 2, long
    if FULL:
        assert min(long.firsts[1:]) - min(empty.firsts[1:]) < 0.150, (empty, long)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_long_history_is_told_in_slices(tmp_path: Path) -> None:
    """All of 12,000 parts would take 24 MiB, and of 100,000 200."""
    found = replay(tmp_path, 100_000 if FULL else 12_000)
    print(found)
    expected = found.expected()
    assert found.told[: len(expected)] == expected
    assert found.growth < SLICED, found
    assert found.first < found.total / 4, found
    assert found.stopped, "the load ended although it was cancelled"
    assert found.cancelled < len(expected) - GIVEN_UP, found
    assert found.left < 10, found
