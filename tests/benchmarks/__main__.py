"""Run all benchmarks, one after the other, or the one that is named, with its options."""

import sys

from tests.benchmarks import (
    bench_context,
    bench_estimate,
    bench_first_turn,
    bench_load,
    bench_recorded,
    bench_replay,
    bench_restores,
    bench_snapshots,
    bench_startup,
    bench_step,
    bench_store,
    bench_sweep,
    bench_sync,
    bench_telemetry,
    bench_turns,
)

ALL = (
    bench_startup,
    bench_step,
    bench_context,
    bench_replay,
    bench_store,
    bench_estimate,
    bench_snapshots,
    bench_first_turn,
    bench_restores,
    bench_load,
    bench_sweep,
    bench_sync,
    bench_telemetry,
    bench_recorded,
    bench_turns,
)

WITH_OPTIONS = (
    bench_recorded,
    bench_load,
    bench_snapshots,
    bench_first_turn,
    bench_restores,
    bench_startup,
    bench_turns,
)


def _name(bench: object) -> str:
    return getattr(bench, "__name__", "").rpartition(".bench_")[2]


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [bench for bench in ALL if wanted in ("", _name(bench))]
    if not chosen:
        sys.exit(f"there is no benchmark {wanted!r}; there are {', '.join(map(_name, ALL))}")
    for bench in chosen:
        print(f"\n== {_name(bench)}: {(bench.__doc__ or '').splitlines()[0]}\n")
        if bench in WITH_OPTIONS:
            bench.main(sys.argv[2:])
        else:
            bench.main()
