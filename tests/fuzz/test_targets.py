"""Each target, for a moment: what was found before, what is kept, and some new inputs."""

import os
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import table
from tests.fuzz.running import LIMIT, Target, corpus, fuzz, limited, name_of, targets

SECONDS = float(os.environ.get("SIDECAR_FUZZ_SECONDS", "0.5"))
"""For each target."""
EXAMPLES = round(30 * SECONDS)
ALONE = [target for target in targets() if not hasattr(target, "close")]
"""Those that are the same at every input: nothing of them lives on in another process."""


@pytest.mark.parametrize("target", targets(), ids=name_of)
def test_nothing_is_found_in_what_is_kept_and_in_new_inputs(target: Target) -> None:
    tally = fuzz(target, seconds=SECONDS, seed=1)
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
