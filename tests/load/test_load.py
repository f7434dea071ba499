"""Many sessions, many daemons, a long day: nothing is lost, nobody reads of a lock, memory is flat.

`SIDECAR_LOAD=full` makes them as large as they are promised: 50 sessions in each of 8 daemons,
a day in rounds of a minute, a session of 100,000 parts. `python -m tests.benchmarks load` prints
figures.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.figures import Figures
from tests.load.fleet import Latencies, percentiles
from tests.load.many_calls import call_at_once
from tests.load.replaying import GIVEN_UP, replay
from tests.load.resuming import resume
from tests.load.runs import share_a_daemon, share_a_store, soak, stream_at_once

pytestmark = pytest.mark.long

FULL = os.environ.get("SIDECAR_LOAD") == "full"
FLAT = 5_000_000
SLICED = 12 * 1024 * 1024
"""What a slice, the window and what waits for the client may take."""


def told(figures: Figures, took: Latencies) -> None:
    for what, values in (
        ("the first text", took.first),
        ("the next text", took.between),
        ("a turn's end", took.turn),
    ):
        shown = " ".join(percentiles(values).split())
        figures.add(f"  ms to {what}: median, 95th, 99th, most", shown)


def test_fifty_sessions_stream_at_once_and_each_gets_its_own_text(
    tmp_path: Path, figures: Figures
) -> None:
    turns = 3 if FULL else 1
    found = stream_at_once(tmp_path, sessions=50, turns=turns, length=15)
    figures.add("50 sessions stream at once: turns told whole", len(found.took.turn), 50 * turns)
    told(figures, found.took)
    assert len(found.took.turn) == 50 * turns
    # The provider alone takes longer for them one after the other.
    assert max(found.took.turn) < 50 * 15 * 0.02


def test_eight_windows_of_one_daemon_stream_at_once(tmp_path: Path, figures: Figures) -> None:
    turns = 3 if FULL else 1
    found = share_a_daemon(tmp_path, count=8, sessions=6, turns=turns, length=15)
    what = "8 windows x 6 sessions stream at once in one daemon: turns told whole"
    figures.add(what, len(found.took.turn), 48 * turns)
    told(figures, found.took)
    assert len(found.took.turn) == 48 * turns
    # The provider alone takes longer for them one after the other.
    assert max(found.took.turn) < 48 * 15 * 0.02


def test_daemons_on_one_store_lose_nothing_and_never_speak_of_a_lock(
    tmp_path: Path, figures: Figures
) -> None:
    count, sessions, turns = (8, 50, 4) if FULL else (3, 2, 2)
    found = share_a_store(tmp_path, count, sessions, turns)
    asked = count * sessions * turns
    figures.add(f"{count} daemons x {sessions} sessions: prompts kept", found.prompts, asked)
    figures.add("  lost, or refused for a lock", asked - found.prompts, 0)
    what = "  prompts to another daemon's session refused"
    figures.add(what, found.disputed, count * turns)
    told(figures, found.took)
    assert found.prompts == asked
    assert found.disputed == count * turns


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_flat_over_a_day(tmp_path: Path, figures: Figures) -> None:
    rounds = 24 * 60 if FULL else 20
    found = soak(tmp_path, rounds)
    grown = found.growth(warm_up=rounds // 3)
    figures.add(f"a day in {rounds} rounds: memory grew, MB", f"{grown / 1e6:.2f}", "< 5")
    told(figures, found.took)
    assert grown < FLAT, [m // 1024 for m in found.memory]
    assert found.prompts == rounds * 5 - 6, "a call and a hello to each of at most four"


def test_a_long_session_resumes_by_a_window_of_its_log(tmp_path: Path, figures: Figures) -> None:
    parts = 100_000 if FULL else 4_000
    empty, long = resume(tmp_path, parts, rounds=4 if FULL else 2)
    more = 1000 * (min(long.firsts[1:]) - min(empty.firsts[1:]))
    what = f"{parts:,} parts resumed: to the first prompt more than an empty one, ms"
    figures.add(what, f"{more:.0f}", "< 150" if FULL else "< 150 in the long run")
    if FULL:
        assert min(long.firsts[1:]) < long.firsts[0] / 2, long
        assert more < 150, (empty, long)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_long_history_is_told_in_slices(tmp_path: Path, figures: Figures) -> None:
    """All of 12,000 parts would take 24 MiB, and of 100,000 200."""
    found = replay(tmp_path, 100_000 if FULL else 12_000)
    print(found)
    grown = f"{found.growth / 1e6:.1f}"
    figures.add("a long history told in slices: memory that it took, MB", grown, "< 12.6")
    expected = found.expected()
    assert found.told[: len(expected)] == expected
    assert found.growth < SLICED, found
    if FULL:
        assert found.first < found.total / 4, found
    assert found.stopped, "the load ended although it was cancelled"
    assert found.cancelled < len(expected) - GIVEN_UP, found
    assert found.left < 10, found


def test_thousands_of_calls_in_one_answer_leave_others_answered(
    tmp_path: Path, figures: Figures
) -> None:
    """The largest answer has place for some six thousand: for each, 128 bytes count beside it."""
    few, many = (2_000, 6_000) if FULL else (250, 1_000)
    for count in (few, many):
        found = call_at_once(tmp_path / str(count), count)
        print(found)
        figures.add(f"{count:,} calls in one answer: seconds until handled", f"{found.handled:.1f}")
        shown = " ".join(percentiles(found.status).split())
        figures.add(
            "  ms to daemon/status meanwhile: median, 95th, 99th, most", shown, "95th < 100"
        )
        assert found.stop == "end_turn"
        if FULL:
            assert found.handled < count / 400
            assert sorted(found.status)[int(len(found.status) * 0.95)] < 0.1
