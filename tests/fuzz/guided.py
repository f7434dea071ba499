"""Coverage-guided runs with atheris, one process for each target, because it ends its process.

Targets that have something to close work in other processes or threads too, where coverage says
little; they are left out. What leads to new places is merged into the corpus.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tests.fuzz.running import CORPUS, LIMIT, Tally, Target, file_name, name_of

MOST = 600
"""Bytes of an input."""
KEPT = 24
"""Inputs of a target that the corpus has at most; the long run finds the others again."""


def guide(chosen: Sequence[Target], minutes: float) -> list[Tally]:
    """Run targets for so long in all; gives what came of each."""
    alone = [target for target in chosen if not hasattr(target, "close")]
    return [_guided(target, minutes * 60 / len(alone)) for target in alone]


def _guided(target: Target, seconds: float) -> Tally:
    name = name_of(target)
    kept = CORPUS / name
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sidecar-fuzz-") as folder:
        grown, least, found = (Path(folder) / part for part in ("grown", "least", "found"))
        for path in (grown, least, found):
            path.mkdir()
        told = _child(
            name,
            f"-max_total_time={seconds:.0f}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            str(grown),
            str(kept),
        )
        tally = Tally(name, inputs=_number(told, "executed_units"), seconds=seconds)
        for path in found.iterdir():
            tally.unanswered += path.name.startswith("timeout")
            tally.crashed += not path.name.startswith("timeout")
            tally.crashes[path.name] = path.read_bytes()
            (kept / file_name(path.read_bytes())).write_bytes(path.read_bytes())
        if not tally.crashes:
            _child(name, "-set_cover_merge=1", str(least), str(kept), str(grown))
            new = sorted(path.read_bytes() for path in least.iterdir())
            for data in new[: max(0, KEPT - len(list(kept.iterdir())))]:
                (kept / file_name(data)).write_bytes(data)
    return tally


def _child(name: str, *options: str) -> str:
    limits = (f"-max_len={MOST}", f"-timeout={LIMIT:.0f}", "-rss_limit_mb=2048")
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, name, *limits, *options],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if "Traceback" in done.stderr:
        print(done.stderr[-4_000:], file=sys.stderr)
    return done.stderr


def _number(told: str, name: str) -> int:
    found = re.search(rf"stat::number_of_{name}: +(\d+)", told)
    return int(found[1]) if found else 0


def _child_main(name: str, options: Sequence[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["sidecar"]):
        target = import_module(f"tests.fuzz.target_{name}")
    # To merge, it runs its own command line again, by a shell.
    again = f"{shlex.quote(sys.executable)} -m {__spec__.name} {name}"
    atheris.Setup([again, *options], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    _child_main(sys.argv[1], sys.argv[2:])
