"""Fuzz all targets, or those that are named, one after the other; prints a table at the end.

uv run python -m tests.fuzz --inputs 1000000
uv run python -m tests.fuzz --minutes 30 framing bodies
uv run --group fuzz python -m tests.fuzz --guided --minutes 30
"""

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Sequence

from tests.fuzz.running import Tally, Target, fuzz, keep, name_of, share, targets

ROOM = 2 << 30
"""Bytes of address space beyond what the start takes; more is a crash, whoever asks for it."""


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code, 1 where something was found."""
    given = _parser().parse_args(arguments)
    chosen = [one for one in targets() if not given.targets or name_of(one) in given.targets]
    if not chosen:
        print(f"there is no such target; there are {', '.join(map(name_of, targets()))}")
        return 2
    if given.guided:
        from tests.fuzz.guided import guide

        tallies = guide(chosen, given.minutes or 10.0)
    else:
        _limit_memory()
        tallies = list(_fuzzed(chosen, given))
    print(table(tallies))
    return 1 if any(tally.crashes for tally in tallies) else 0


def _fuzzed(chosen: Sequence[Target], given: argparse.Namespace) -> Iterator[Tally]:
    """Run one target after the other, until all are done or the user interrupts."""
    for one, budget in zip(chosen, _budgets(chosen, given), strict=True):
        tally = fuzz(one, **budget, seed=given.seed, found=keep)
        print(_row(tally), file=sys.stderr, flush=True)
        yield tally
        if tally.interrupted:
            return


def table(tallies: Sequence[Tally]) -> str:
    """Give the table that is printed at the end."""
    head = f"{'target':<12}{'inputs':>10}{'inputs/s':>10}{'crashes':>9}{'unanswered':>12}"
    lines = [head, "-" * len(head)]
    whole = Tally("all")
    for tally in tallies:
        lines.append(_row(tally))
        whole.add(tally)
    return "\n".join([*lines, "-" * len(head), _row(whole)])


def _row(tally: Tally) -> str:
    rate = tally.inputs / tally.seconds if tally.seconds else 0.0
    counts = f"{tally.inputs:>10}{rate:>10.0f}{tally.crashed:>9}{tally.unanswered:>12}"
    return f"{tally.name:<12}{counts}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names of targets; all without any")
    parser.add_argument("--inputs", type=int, default=100_000, help="of all targets together")
    parser.add_argument("--minutes", type=float, help="of all targets together, instead")
    parser.add_argument("--seed", type=int, default=time.time_ns(), help="begin here")
    parser.add_argument("--guided", action="store_true", help="by coverage; needs atheris")
    return parser


def _budgets(
    chosen: Sequence[Target], given: argparse.Namespace
) -> list[dict[str, int | float | None]]:
    if given.minutes is not None:
        return [{"seconds": given.minutes * 60 / len(chosen)} for _ in chosen]
    return [{"most": share(given.inputs, one, chosen)} for one in chosen]


def _limit_memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, resource.RLIM_INFINITY))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
