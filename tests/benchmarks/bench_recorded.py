"""How good compaction is on recorded sessions that are played through the real daemon.

By default a few small ones in a window of 60,000 tokens; `--all` takes every recording and
`--minutes` ends after so many. All figures are taken from what the fake API was sent.

    python -m tests.benchmarks recorded --all --window 200000 --window 60000 --misses
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.benchmarks.measuring import Figures, Seen, measure
from tests.benchmarks.playing import play
from tests.e2e.recorded import catalogue

SAMPLE = 3
SAMPLE_LEAST = 60_000
"""Bytes of a packed recording that is large enough to be compacted more than once."""
WINDOW = 60_000
LONGEST = 80
MOST_LEFT = 0.6
"""Of what may be sent: what a prompt may take after a compaction."""
BESIDE = 0.1
"""Of what may be sent: what may stand there still where what may not be touched takes too much."""


def main(arguments: Sequence[str] = ()) -> None:
    """Play and print the figures of each window."""
    given = _arguments(arguments)
    paths = _chosen(given)
    if not paths:
        print("recorded sessions are not beside this checkout: nothing is played")
        return
    begun = perf_counter()
    found: dict[int, list[Figures]] = {window: [] for window in given.window}
    for path in paths:
        if perf_counter() - begun > 60 * given.minutes:
            break
        for window in given.window:
            with tempfile.TemporaryDirectory() as folder:
                one = measure(play(path, window, Path(folder), given.policy))
            found[window].append(one)
            print(f"{one.name[:48]:<50}{window:>8}{one.seconds:7.1f} s", file=sys.stderr)
    for window, figures in found.items():
        print(f"{given.policy}, window {window:,}: {len(figures)} of {len(paths)} sessions")
        for name, value in rows(figures):
            print(f"  {name:<58}{value}")
        if given.misses:
            for line in misses(figures):
                print(f"    {line}")


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.benchmarks recorded")
    parser.add_argument("--window", type=int, action="append", help="tokens; may be repeated")
    parser.add_argument("--policy", default="economic")
    parser.add_argument("--all", action="store_true", help="every recording, the smallest first")
    parser.add_argument("--only", default="", help="only recordings whose name holds this")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin none after this")
    parser.add_argument("--misses", action="store_true", help="name all that misses a goal")
    given = parser.parse_args(arguments)
    given.window = given.window or [WINDOW]
    return given


def _chosen(given: argparse.Namespace) -> list[Path]:
    paths = [path for path in catalogue(core=False) if given.only in path.name]
    if given.all or given.only:
        return paths
    return [path for path in paths if path.stat().st_size >= SAMPLE_LEAST][:SAMPLE]


def rows(figures: Sequence[Figures]) -> Iterator[tuple[str, str]]:
    """Give all figures of one window as (name, value)."""
    seen = [rewrite for one in figures for rewrite in one.rewrites]
    requests, far = _sum(figures, "requests"), max(1, _sum(figures, "far"))
    summaries, failures = _sum(figures, "summaries"), _sum(figures, "failures")
    forgotten = sum(len(one.forgotten) for one in figures)
    yield "requests", f"{requests:,}"
    yield "rewrites (per 100 requests)", f"{len(seen)} ({100 * len(seen) / max(1, requests):.1f})"
    yield (
        "requests from one rewrite to the next, median",
        _median([runway for one in figures for runway in one.runways]),
    )
    yield "failed approaches visible at the end", f"{failures - forgotten} of {failures}"
    shares = (_sum(figures, "view"), _sum(figures, "ledger"), _sum(figures, "reach"))
    yield (
        "recall in view / + ledger and summary / + one recall",
        " / ".join(f"{share / far:.3f}" for share in shares),
    )
    yield (
        "compression: median / least / below 3",
        _spread([rewrite.compression for rewrite in seen], min, lambda times: times < 3),
    )
    yield (
        "history left, of its room: median / most / above .60",
        _spread([rewrite.share for rewrite in seen], max, lambda share: share > MOST_LEFT),
    )
    yield (
        "prompt left, of the limit: median / most / above .60",
        _spread([rewrite.of_budget for rewrite in seen], max, lambda share: share > MOST_LEFT),
    )
    over = [rewrite for rewrite in seen if rewrite.of_budget > MOST_LEFT]
    yield (
        f"of these, with more than {BESIDE} beside what may not go",
        str(sum(rewrite.of_budget - rewrite.must > BESIDE for rewrite in over)),
    )
    for which in ("first", "latest"):
        lost = sum(lack == which for one in figures for _, lack, _ in one.lost)
        yield f"prompts with the {which} typed message word for word", f"{requests - lost}"
    yield "prompts refused", str(sum(len(one.refused) for one in figures))
    yield "prompts of more than may be sent", str(_sum(figures, "over"))
    yield (
        "model calls for summaries, per rewrite",
        (
            f"{summaries} ({summaries / max(1, len(seen)):.2f}, at most "
            f"{max((one.most_calls for one in figures), default=0)})"
        ),
    )
    yield (
        "compactions that name every changed file",
        (f"{sum(not rewrite.unnamed for rewrite in seen)} of {len(seen)}"),
    )
    yield "cost at 3/15/3.75/0.30 USD", f"{sum(one.cost for one in figures):.2f}"


def misses(figures: Sequence[Figures]) -> Iterator[str]:
    """Name each miss of a goal."""
    for one in figures:
        name = one.name[:40]
        yield from (f"{name}: refused: {reason[:LONGEST]}" for reason in one.refused)
        yield from (f"{name}: forgotten: {what[:LONGEST]}" for what in one.forgotten)
        for number, which, size in one.lost:
            yield f"{name}: request {number} lacks the {which} typed message ({size} tokens)"
        if one.over:
            yield f"{name}: {one.over} prompts of more than may be sent"
        for rewrite in one.rewrites:
            yield from (f"{name}, request {rewrite.number}: {why}" for why in _amiss(rewrite))


def _amiss(rewrite: Seen) -> Iterator[str]:
    if rewrite.compression < 3:
        yield f"{rewrite.gone} tokens became {rewrite.come} ({rewrite.cause})"
    if max(rewrite.share, rewrite.of_budget) > MOST_LEFT:
        largest = ", ".join(f"{kind} {tokens}" for kind, tokens in rewrite.largest)
        yield (
            f"history takes {rewrite.share:.3f} of its room, the prompt {rewrite.of_budget:.3f} of "
            f"the limit, {rewrite.must:.3f} of which may not go ({rewrite.cause}): {largest}"
        )
    if rewrite.unnamed:
        yield f"no note names {', '.join(rewrite.unnamed)[:LONGEST]}"


def _sum(figures: Sequence[Figures], name: str) -> int:
    return sum(getattr(one, name) for one in figures)


def _median(values: Sequence[float]) -> str:
    return f"{median(values):g}" if values else "-"


def _spread(
    values: Sequence[float],
    worst: Callable[[Sequence[float]], float],
    misses_it: Callable[[float], bool],
) -> str:
    if not values:
        return "-"
    return f"{median(values):.2f} / {worst(values):.2f} / {sum(map(misses_it, values))}"
