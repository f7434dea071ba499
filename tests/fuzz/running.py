"""Runs targets on many inputs, counts what they find, and keeps each input that found something.

A target is a module `target_NAME` with `run(data: bytes) -> None`, which raises where something is
wrong, its `SHARE` of a long run, and a `close()` where something has to end.
"""

import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Protocol, TypeAlias, cast

from tests.fuzz import Unanswered

CORPUS = Path(__file__).parent / "corpus"
LIMIT = 60.0
"""Seconds that one input may take; the slowest honest ones begin a daemon or load a library."""
SIZES = (4, 12, 30, 80, 200, 600)
"""Bytes of a new input: few choices, or many."""


class Target(Protocol):
    """What each target module offers."""

    __name__: str
    SHARE: int

    def run(self, data: bytes) -> None:
        """Raise where something is wrong; `Unanswered` where nothing comes."""
        ...


Found: TypeAlias = Callable[[Target, bytes, str], None]
"""(target, input, traceback)."""


@dataclass(slots=True)
class Tally:
    """What came of one target. `crashes` has one input for each place that raised."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    unanswered: int = 0
    crashed: int = 0
    interrupted: bool = False
    crashes: dict[str, bytes] = field(default_factory=dict)

    def add(self, other: "Tally") -> None:
        """Add what came of another one, but for its inputs themselves."""
        self.inputs += other.inputs
        self.seconds += other.seconds
        self.unanswered += other.unanswered
        self.crashed += other.crashed


def name_of(target: Target) -> str:
    """Give a target's name."""
    return target.__name__.rpartition(".target_")[2]


def targets() -> tuple[Target, ...]:
    """Give all targets by their names."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("target_*.py"))
    return tuple(cast("Target", import_module(f"{__package__}.{name}")) for name in names)


def corpus(target: Target) -> list[Path]:
    """Give the inputs that are kept of a target."""
    return sorted((CORPUS / name_of(target)).glob("*"))


def share(inputs: int, target: Target, among: Sequence[Target]) -> int:
    """Give how many of so many inputs are a target's."""
    return -(-inputs * target.SHARE // sum(one.SHARE for one in among))


def fuzz(
    target: Target,
    *,
    most: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    found: Found | None = None,
) -> Tally:
    """Run a target on so many inputs, or for so long; on the kept ones first, all of them.

    `found` is told of the first input for each place that raised, with the traceback. An
    interrupt ends the run, and what was counted stands.
    """
    tally, begun = Tally(name_of(target)), time.monotonic()
    kept = [path.read_bytes() for path in corpus(target)]
    for data in _inputs(kept, random.Random(f"{seed} {tally.name}")):
        tally.seconds = time.monotonic() - begun
        late = seconds is not None and tally.seconds >= seconds
        if tally.inputs == most or (late and tally.inputs > len(kept)):
            break
        tally.inputs += 1
        try:
            with limited(LIMIT):
                target.run(data)
        except KeyboardInterrupt:
            tally.inputs -= 1
            tally.interrupted = True
            break
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
            place = _count(tally, error)
            if place not in tally.crashes:
                tally.crashes[place] = data
                if found is not None:
                    found(target, data, "".join(traceback.format_exception(error)))
    close = getattr(target, "close", None)
    if close is not None:
        close()
    return tally


def keep(target: Target, data: bytes, trace: str) -> None:
    """Keep an input that found something, so that the suite tries it from now on."""
    path = CORPUS / name_of(target) / file_name(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"\n{path}\n{trace}", file=sys.stderr, flush=True)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Unanswered when the block takes longer; in the main thread only."""

    def late(_: int, __: FrameType | None) -> None:
        raise Unanswered(f"it took longer than {seconds:.0f} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def file_name(data: bytes) -> str:
    """Give the name under which an input is kept."""
    return blake2b(data, digest_size=6).hexdigest()


def _inputs(kept: list[bytes], chance: random.Random) -> Iterator[bytes]:
    yield from kept
    while True:
        data = chance.randbytes(chance.choice(SIZES))
        if kept and chance.random() < 0.5:
            # Part of one that is known to lead somewhere, and then chance.
            known = chance.choice(kept)
            cut = chance.randrange(len(known) + 1)
            data = known[:cut] + data + known[cut + chance.randrange(8) :]
        yield data


def _count(tally: Tally, error: Exception) -> str:
    """Count an error in; gives the place that raised it."""
    if isinstance(error, Unanswered):
        tally.unanswered += 1
    else:
        tally.crashed += 1
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
