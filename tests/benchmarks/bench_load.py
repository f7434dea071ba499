"""Load on real daemons: sessions at once, daemons on one store, a day, and a session's resume.

Run as `python -m tests.benchmarks load [quick]`; with `quick` everything is a tenth as large.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.load.fleet import Latencies, percentiles
from tests.load.many_calls import call_at_once
from tests.load.replaying import replay
from tests.load.resuming import resume
from tests.load.runs import share_a_store, soak, stream_at_once

MB = 1024 * 1024


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    quick = "quick" in arguments
    print(f"{'ms':46}{'p50':>9}{'p95':>9}{'p99':>9}{'most':>9}")
    with tempfile.TemporaryDirectory() as name:
        streamed = stream_at_once(Path(name), 50, 1 if quick else 5, 40)
    _table(f"50 sessions at once, {streamed.texts} texts", streamed.took)
    count, sessions, turns = (8, 5, 2) if quick else (8, 50, 4)
    with tempfile.TemporaryDirectory() as name:
        shared = share_a_store(Path(name), count, sessions, turns)
    _table(f"{count} daemons, {sessions} sessions each, on one store", shared.took)
    print(
        f"  {shared.prompts} prompts acknowledged, none lost; {shared.disputed} of others refused"
    )
    for calls in (200, 600) if quick else (2_000, 6_000):
        with tempfile.TemporaryDirectory() as name:
            called = call_at_once(Path(name), calls)
        print(f"{calls:,} calls in one answer, handled in {called.handled:.1f} s")
        print(f"{'  status of the daemon meanwhile':46}{percentiles(called.status)}")
        print(f"{'  meter of the session meanwhile':46}{percentiles(called.meter)}")
    rounds = 144 if quick else 24 * 60
    with tempfile.TemporaryDirectory() as name:
        day = soak(Path(name), rounds)
    _table(f"a day in {rounds} rounds", day.took)
    grown = day.growth(rounds // 3) / MB
    print(f"  memory {day.memory[-1] / MB:.1f} MB; grown by {grown:+.2f} MB (aim: under 5)")

    with tempfile.TemporaryDirectory() as name:
        empty, long = resume(Path(name), 10_000 if quick else 100_000, 8)
    print(f"from opening to the first request, after a restart: {long.parts:,} parts")
    print(f"{'  an empty session':46}{percentiles(empty.firsts[1:])}")
    print(f"{'  the long one, by a window of its log':46}{percentiles(long.firsts[1:])}")
    print(f"{'  the long one once, all of its log':46}{long.firsts[0] * 1000:9.1f}")
    more = (median(long.firsts[1:]) - median(empty.firsts[1:])) * 1000
    print(f"{'  a core worked for the empty one':46}{percentiles(empty.worked[1:])}")
    print(f"{'  a core worked for the long one':46}{percentiles(long.worked[1:])}")
    print(f"  {more:.0f} ms more than an empty one (aim: at most 150)")
    with tempfile.TemporaryDirectory() as name:
        print(f"a history of {replay(Path(name), 10_000 if quick else 100_000)}")


def _table(title: str, took: Latencies) -> None:
    print(title)
    print(f"{'  to the first text':46}{percentiles(took.first)}")
    print(f"{'  between texts':46}{percentiles(took.between)}")
    print(f"{'  to the end of the turn':46}{percentiles(took.turn)}")


if __name__ == "__main__":
    main()
