"""Run all benchmarks, one after the other."""

from tests.benchmarks import (
    bench_context,
    bench_estimate,
    bench_replay,
    bench_restores,
    bench_snapshots,
    bench_startup,
    bench_step,
    bench_store,
)

if __name__ == "__main__":
    for bench in (
        bench_startup,
        bench_step,
        bench_context,
        bench_replay,
        bench_store,
        bench_estimate,
        bench_snapshots,
        bench_restores,
    ):
        print(
            f"\n== {bench.__name__.rpartition('.')[2]}: {(bench.__doc__ or '').splitlines()[0]}\n"
        )
        bench.main()
