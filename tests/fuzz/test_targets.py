"""Each target, for a moment: what was found before, what is kept, and some new inputs."""

import os
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.figures import Figures
from tests.fuzz.__main__ import table
from tests.fuzz.running import (
    LIMIT,
    Tally,
    Target,
    corpus,
    fuzz,
    keep,
    limited,
    name_of,
    share,
    targets,
)

pytestmark = pytest.mark.long

SECONDS = float(os.environ.get("SIDECAR_FUZZ_SECONDS", "0.5"))
"""For each target."""
INPUTS = int(os.environ.get("SIDECAR_FUZZ_INPUTS", "0"))
"""Of all targets together, by their shares, instead of seconds: always new ones, and what finds
something is kept."""
EXAMPLES = round(30 * SECONDS)
ALONE = [target for target in targets() if not hasattr(target, "close")]
"""Those that are the same at every input: nothing of them lives on in another process."""


@pytest.fixture(scope="module")
def whole(figures: Figures) -> Iterator[Tally]:
    """All targets together."""
    whole = Tally("all")
    yield whole
    figures.add(
        "fuzz inputs, of all targets",
        f"{whole.inputs:,}",
        f"{INPUTS or 1_000_000:,}{'' if INPUTS else ' in the long run'}",
    )
    figures.add("  crashes", whole.crashed, 0)
    figures.add("  unanswered", whole.unanswered, 0)


def fuzzed(target: Target) -> Tally:
    if not INPUTS:
        return fuzz(target, seconds=SECONDS, seed=1)
    most = max(share(INPUTS, target, targets()), len(corpus(target)) + 1)
    return fuzz(target, most=most, seed=time.time_ns(), found=keep)


@pytest.mark.parametrize("target", targets(), ids=name_of)
def test_nothing_is_found_in_what_is_kept_and_in_new_inputs(target: Target, whole: Tally) -> None:
    tally = fuzzed(target)
    whole.add(tally)
    assert tally.crashes == {}
    assert tally.unanswered == 0
    assert tally.inputs > len(corpus(target))


@pytest.mark.parametrize("target", ALONE, ids=name_of)
@given(data=st.binary(max_size=200))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_input_is_too_much(target: Target, data: bytes) -> None:
    """What fails here is made as small as it can be, and kept by hypothesis."""
    with limited(LIMIT):
        target.run(data)


def test_what_raises_and_what_hangs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(data: bytes) -> None:
        if len(data) > 100:
            raise ValueError
        while len(data) == 4:
            pass

    target = SimpleNamespace(__name__="tests.fuzz.target_x", SHARE=1, run=run)
    monkeypatch.setattr("tests.fuzz.running.LIMIT", 0.05)
    kept: list[bytes] = []
    tally = fuzz(target, most=30, found=lambda _, data, __: kept.append(data))
    assert tally.inputs == 30
    assert tally.crashed > 0
    assert tally.unanswered > 0
    assert sorted(kept) == sorted(tally.crashes.values())
    assert len(tally.crashes) == 2


def test_an_interrupt_ends_a_run_and_its_figures_stand() -> None:
    def run(data: bytes) -> None:
        if len(data) > 100:
            raise KeyboardInterrupt

    target = SimpleNamespace(__name__="tests.fuzz.target_x", SHARE=1, run=run)
    tally = fuzz(target, most=1_000)
    assert tally.interrupted
    assert 0 < tally.inputs < 1_000
    assert "x" in table([tally])
    assert str(tally.inputs) in table([tally])
